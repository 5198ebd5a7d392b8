// SPDX-License-Identifier: Apache-2.0
/**
 * Where reports go. {@link com.incapsula.sampler.ThreadsSampler#setSamplingOutputer} takes one of these, or your own
 * {@link com.incapsula.sampler.outputer.SamplingOutputer}.
 *
 * <ul>
 * <li>{@link com.incapsula.sampler.outputer.PrintStreamSamplingOutputer}: standard output (the default), a text file or
 * a stream.</li>
 * <li>{@link com.incapsula.sampler.outputer.LoggerSamplingOutputer}: the application's log.</li>
 * <li>{@link com.incapsula.sampler.outputer.FileSamplingOutputer}: a file of its own for each report, in any form, the
 * oldest removed.</li>
 * <li>{@link com.incapsula.sampler.outputer.SamplingOutputer#of SamplingOutputer.of(report -> ...)}: what a program
 * does with each report.</li>
 * <li>{@link com.incapsula.sampler.outputer.SamplingOutputer#and and(other)}: several of them at once.</li>
 * </ul>
 *
 * @since 1.0
 */
@NullMarked
package com.incapsula.sampler.outputer;

import org.jspecify.annotations.NullMarked;

// SPDX-License-Identifier: Apache-2.0
/**
 * The destination of reports. {@link com.incapsula.sampler.ThreadsSampler#setSamplingOutputer} takes one of these, or
 * your own {@link com.incapsula.sampler.outputer.SamplingOutputer}.
 *
 * <ul>
 * <li>{@link com.incapsula.sampler.outputer.PrintStreamSamplingOutputer}: standard output (the default), a text file or
 * a stream.</li>
 * <li>{@link com.incapsula.sampler.outputer.LoggerSamplingOutputer}: the application's log.</li>
 * <li>{@link com.incapsula.sampler.outputer.FileSamplingOutputer}: a file for each report, in any format; the oldest
 * files are removed.</li>
 * <li>{@link com.incapsula.sampler.outputer.SamplingOutputer#of SamplingOutputer.of(report -> ...)}: an action for each
 * report.</li>
 * <li>{@link com.incapsula.sampler.outputer.SamplingOutputer#and and(other)}: several outputers at once.</li>
 * </ul>
 *
 * @since 1.0
 */
@NullMarked
package com.incapsula.sampler.outputer;

import org.jspecify.annotations.NullMarked;

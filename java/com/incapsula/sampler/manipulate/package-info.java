// SPDX-License-Identifier: Apache-2.0
/**
 * How threads are grouped. A manipulator gives each thread a name, and threads with the same name are one group of the
 * report. {@link com.incapsula.sampler.ThreadsSampler#setThreadNameManipulator} takes one of these, or your own
 * {@link com.incapsula.sampler.manipulate.ThreadNameManipulator}.
 *
 * <ul>
 * <li>{@link com.incapsula.sampler.manipulate.RegexThreadNameManipulator}: by the thread's name without numbers and
 * identifiers (the default).</li>
 * <li>{@link com.incapsula.sampler.manipulate.MapBasedThreadNameManipulator}: by the current work of the thread, which
 * the application names.</li> </ul>
 *
 * @since 1.0
 */
@NullMarked
package com.incapsula.sampler.manipulate;

import org.jspecify.annotations.NullMarked;

// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.engine;

/**
 * A line of code, with what its frames have themselves, over all thread groups of a snapshot.
 *
 * @param text the frame as it is printed
 * @param wallNanos nanoseconds
 * @param cpuNanos nanoseconds
 * @param samples how many
 */
public record HotLine(String text, long wallNanos, long cpuNanos, long samples) {}

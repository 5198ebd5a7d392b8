// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.remote;

/**
 * Limits of a pusher.
 *
 * @param queueBytes of all reports that wait
 * @param timeoutMillis of one attempt
 * @param spreadMillis a report waits up to so long before its first attempt
 */
public record PushLimits(long queueBytes, long timeoutMillis, long spreadMillis) {}

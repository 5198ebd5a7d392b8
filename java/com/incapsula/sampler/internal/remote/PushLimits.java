// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.remote;

/**
 * Limits of a pusher.
 *
 * @param queueBytes limit of all waiting reports
 * @param timeoutMillis limit of one attempt
 * @param spreadMillis maximum of the random wait before a report's first attempt
 */
public record PushLimits(long queueBytes, long timeoutMillis, long spreadMillis) {}

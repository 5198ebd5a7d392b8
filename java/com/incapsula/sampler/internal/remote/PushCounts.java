// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.remote;

/**
 * What has become of reports. Each one that was added ends in one of {@code sent}, {@code refused}, {@code dropped} and
 * {@code unsent}, or still waits.
 *
 * @param sent that the peer has taken
 * @param retries attempts that failed, after each of which the report waited to be sent again
 * @param refused that the peer did not want, or not all of it
 * @param dropped the oldest, when those that waited were over the limit of bytes
 * @param unsent that waited when the time of {@code close()} was over
 * @param waiting now
 * @param waitingBytes of these
 */
public record PushCounts(
        long sent, long retries, long refused, long dropped, long unsent, long waiting, long waitingBytes) {}

// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.remote;

/**
 * The counts of a pusher. Each added report is counted once in {@code sent}, {@code refused}, {@code dropped},
 * {@code unsent} or {@code waiting}.
 *
 * @param sent reports that the peer has taken
 * @param retries failed attempts after which the report waited to be sent again
 * @param refused reports that the peer refused as a whole or in part
 * @param dropped the oldest reports, dropped because of the limit of bytes
 * @param unsent reports that still waited when the time of {@code close()} was over
 * @param waiting reports that wait now
 * @param waitingBytes the size of these
 */
public record PushCounts(
        long sent, long retries, long refused, long dropped, long unsent, long waiting, long waitingBytes) {}

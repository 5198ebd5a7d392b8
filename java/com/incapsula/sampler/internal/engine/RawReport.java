// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.engine;

import java.util.List;

/**
 * The figures of a snapshot, in the core's order.
 *
 * @param figures see {@link NativeBridge#snapshotFigures}
 * @param groups names, in descending wall time
 * @param groupFigures see {@link NativeBridge#snapshotGroupFigures}
 * @param accountNames see {@link NativeBridge#accountNames}
 * @param account the values, in the same order
 */
@SuppressWarnings("ArrayRecordComponent") // neither compared nor kept
public record RawReport(
        long[] figures, List<String> groups, long[] groupFigures, List<String> accountNames, long[] account) {}

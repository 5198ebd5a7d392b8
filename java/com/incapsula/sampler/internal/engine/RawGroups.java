// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.engine;

import java.util.Arrays;
import java.util.List;

/**
 * The groups of one kind of a snapshot: sampled groups, groups with counted calls, or holders of locks.
 *
 * @param names in descending wall time
 * @param figures of all groups, see {@link NativeBridge#snapshotGroupFigures}
 */
@SuppressWarnings("ArrayRecordComponent") // neither compared nor kept
public record RawGroups(List<String> names, long[] figures) {

    /** No group. */
    public static final RawGroups NONE = new RawGroups(List.of(), new long[0]);

    /**
     * The figures of one group.
     *
     * @param index the group's index in {@link #names}
     * @return a copy
     */
    public long[] figuresOf(int index) {
        int width = figures.length / names.size();
        return Arrays.copyOfRange(figures, index * width, (index + 1) * width);
    }
}

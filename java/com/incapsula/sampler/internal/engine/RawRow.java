// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.engine;

import org.jspecify.annotations.Nullable;

/**
 * A row of a snapshot's trees: one line of one method, below the rows that called it.
 *
 * @param node its number, for {@link Snapshot#children}
 * @param className dotted; of a frame in brackets the whole text
 * @param methodName null: a frame in brackets
 * @param file null: unknown
 * @param line as {@link StackTraceElement} has it: -1 unknown, -2 a native method
 * @param totals of each measure, see {@link RawReport#measures}: of the row and all below it
 * @param own of each measure: of the row itself
 * @param errors of each measure two figures, between which that of totals lies; both -1: not known
 */
@SuppressWarnings("ArrayRecordComponent") // neither compared nor kept
public record RawRow(
        long node,
        String className,
        @Nullable String methodName,
        @Nullable String file,
        int line,
        long[] totals,
        long[] own,
        long[] errors) {}

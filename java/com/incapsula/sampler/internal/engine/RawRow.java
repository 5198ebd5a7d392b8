// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.engine;

import org.jspecify.annotations.Nullable;

/**
 * A row of a snapshot's trees: one line of one method, below the rows that called it.
 *
 * @param node its number, for {@link Snapshot#children}
 * @param className dotted; for a frame in brackets the whole text
 * @param methodName null for a frame in brackets
 * @param file null if unknown
 * @param line as in {@link StackTraceElement}: -1 unknown, -2 a native method
 * @param totals amounts of the row and all rows below it, by measure, see {@link RawReport#measures}
 * @param own amounts of the row itself, by measure
 * @param errors the ends of the confidence interval of each total, two figures for each measure; -1 if not known
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

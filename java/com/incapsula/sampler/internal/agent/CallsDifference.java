// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.agent;

import com.incapsula.sampler.ReportUnit;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Compares the counted calls of two reports in a table: for each method, class or package its calls, its total time and
 * its time per call, before and after. Rows are like those of the format CALLS (native/src/export/method_table.h): a
 * call inside another call of its row adds no time.
 */
final class CallsDifference {

    private static final String CALLS = "calls";
    private static final double NANOS_PER_MILLI = 1e6;
    private static final double NANOS_PER_MICRO = 1e3;
    private static final String NO_PACKAGE = "[no package]";

    /** The amounts of a row on each side. */
    private static final class Row {

        private final String name;
        private final long[] calls = new long[2];
        private final long[] entries = new long[2]; // calls that are not inside another of the row
        private final long[] nanos = new long[2];

        Row(String name) {
            this.name = name;
        }

        long calls() {
            return Math.abs(calls[1] - calls[0]);
        }

        long nanos() {
            return Math.abs(nanos[1] - nanos[0]);
        }

        boolean hasAny() {
            return calls[0] + calls[1] + nanos[0] + nanos[1] > 0;
        }
    }

    private final StackTree tree;
    private final ReportUnit unit;
    private final @Nullable String focus;
    private final Map<String, Row> rows = new TreeMap<>();

    private CallsDifference(StackTree tree, ReportUnit unit, @Nullable String focus) {
        this.tree = tree;
        this.unit = unit;
        this.focus = focus;
    }

    /**
     * Makes the table.
     *
     * @param tree the counted calls of both sides, frames without lines
     * @param byCalls true: ordered by the change of calls; false: by the change of time
     * @param focus null: all calls; otherwise only those inside a call of this row
     */
    static String of(StackTree tree, ReportUnit unit, boolean byCalls, @Nullable String focus) {
        CallsDifference difference = new CallsDifference(tree, unit, focus);
        difference.addUp();
        return difference.text(byCalls);
    }

    // ---- adding up

    /* Children have higher numbers than their parents. */
    private long[] totals(int side) {
        long[] totals = new long[tree.count()];
        for (int node = totals.length - 1; node >= 0; node--) {
            totals[node] += tree.amount(side, ProfileFile.WALL, node);
            if (tree.parent(node) >= 0) {
                totals[tree.parent(node)] += totals[node];
            }
        }
        return totals;
    }

    private void addUp() {
        String[] names = new String[tree.count()];
        boolean[] isInside = new boolean[names.length];
        List<long[]> totals = List.of(totals(0), totals(1));
        for (int node = 0; node < names.length; node++) {
            int parent = tree.parent(node);
            if (parent < 0) {
                continue; // a thread group
            }
            String name = nameOf(tree.text(node));
            names[node] = name;
            isInside[node] = focus == null || isInside[parent] || name.equals(focus);
            if (isInside[node]) {
                add(node, isOuter(names, isInside, node), totals);
            }
        }
    }

    private void add(int node, boolean isOuter, List<long[]> totals) {
        Row row = rows.computeIfAbsent(nameOf(tree.text(node)), Row::new);
        for (int side = 0; side < 2; side++) {
            long calls = tree.amount(side, CALLS, node);
            row.calls[side] += calls;
            row.entries[side] += isOuter ? calls : 0;
            row.nanos[side] += isOuter ? totals.get(side)[node] : 0;
        }
    }

    private boolean isOuter(String[] names, boolean[] isInside, int node) {
        for (int above = tree.parent(node); tree.parent(above) >= 0; above = tree.parent(above)) {
            if (isInside[above] && names[above].equals(names[node])) {
                return false;
            }
        }
        return true;
    }

    private String nameOf(String frame) {
        if (unit == ReportUnit.METHOD || frame.startsWith("[")) {
            return frame;
        }
        int parameters = frame.indexOf('(');
        String method = parameters < 0 ? frame : frame.substring(0, parameters);
        String owner = method.substring(0, Math.max(method.lastIndexOf('.'), 0));
        if (unit == ReportUnit.CLASS) {
            return owner;
        }
        int dot = owner.lastIndexOf('.');
        return dot < 0 ? NO_PACKAGE : owner.substring(0, dot);
    }

    // ---- the table

    private String text(boolean byCalls) {
        List<Row> sorted = new ArrayList<>(rows.values());
        sorted.removeIf(row -> !row.hasAny());
        Comparator<Row> first = Comparator.comparingLong(byCalls ? Row::calls : Row::nanos);
        Comparator<Row> second = Comparator.comparingLong(byCalls ? Row::nanos : Row::calls);
        sorted.sort(first.thenComparing(second).reversed().thenComparing(row -> row.name));
        StringBuilder text = new StringBuilder();
        text.append(String.format(
                Locale.ROOT,
                "Counted %s before and after: %d, by change of %s\n",
                unit == ReportUnit.METHOD ? "methods" : unit == ReportUnit.CLASS ? "classes" : "packages",
                sorted.size(),
                byCalls ? CALLS : "total time"));
        text.append(String.format(
                Locale.ROOT,
                "%14s %14s %14s %12s %12s %12s %12s  %s\n",
                "calls before",
                "after",
                "change",
                "ms before",
                "after",
                "us/call",
                "after",
                unit.name().toLowerCase(Locale.ROOT)));
        sorted.forEach(row -> text.append(line(row)));
        return text.toString();
    }

    private static String line(Row row) {
        return String.format(
                Locale.ROOT,
                "%14d %14d %+14d %12.3f %12.3f %12s %12s  %s\n",
                row.calls[0],
                row.calls[1],
                row.calls[1] - row.calls[0],
                row.nanos[0] / NANOS_PER_MILLI,
                row.nanos[1] / NANOS_PER_MILLI,
                perCall(row, 0),
                perCall(row, 1),
                row.name);
    }

    private static String perCall(Row row, int side) {
        return row.entries[side] == 0 || row.nanos[side] == 0
                ? ""
                : String.format(Locale.ROOT, "%.3f", row.nanos[side] / NANOS_PER_MICRO / row.entries[side]);
    }
}

// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.bench;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/** A Markdown table. */
public final class Table {

    private final List<List<String>> rows = new ArrayList<>();
    private final String title;
    private final List<String> notes = new ArrayList<>();

    /**
     * Creates a table without rows.
     *
     * @param title printed above it
     * @param columns their headings
     */
    public Table(String title, String... columns) {
        this.title = title;
        rows.add(Arrays.asList(columns));
        rows.add(Arrays.stream(columns).map(column -> "---").toList());
    }

    /**
     * Adds a row.
     *
     * @param cells one per column; numbers with two decimals, null as a dash
     */
    public void row(Object... cells) {
        rows.add(Arrays.stream(cells).map(Table::text).toList());
    }

    /**
     * Adds a line below the table.
     *
     * @param note a sentence
     */
    public void note(String note) {
        notes.add(note);
    }

    /**
     * Formats whether a value is within an upper bar, or by how much it exceeds the bar.
     *
     * @param value measured
     * @param bar the largest allowed value
     * @return a cell
     */
    public static String atMost(double value, double bar) {
        return bar(value <= bar, "≤", bar);
    }

    /**
     * Formats whether a value is within a lower bar.
     *
     * @param value measured
     * @param bar the smallest allowed value
     * @return a cell
     */
    public static String atLeast(double value, double bar) {
        return bar(value >= bar, "≥", bar);
    }

    /**
     * As {@link #atMost}, for a measurement that may be too noisy for a verdict.
     *
     * @param value measured
     * @param bar the largest allowed value
     * @param noise the error of a measurement of nothing
     * @return a cell
     */
    public static String atMost(double value, double bar, double noise) {
        return noise <= bar
                ? atMost(value, bar)
                : String.format(Locale.ROOT, "≤ %s **undecided**: noise %.2f", plain(bar), noise);
    }

    /**
     * As {@link #atMost}, for a value of which only bounds are known.
     *
     * @param least the lower bound
     * @param most the upper bound
     * @param bar the largest allowed value
     * @return a cell
     */
    public static String atMostWithin(double least, double most, double bar) {
        return least <= bar && most > bar ? "≤ " + plain(bar) + " **undecided**" : atMost(least, bar);
    }

    private static String plain(double bar) {
        return bar == Math.rint(bar) ? String.valueOf((long) bar) : number(bar);
    }

    private static String bar(boolean met, String sign, double bar) {
        return sign + " " + plain(bar) + (met ? " met" : " **missed**");
    }

    /** Rows without headings, for tests. */
    List<List<String>> body() {
        return rows.subList(2, rows.size());
    }

    /** Number of columns, for tests. */
    int columns() {
        return rows.get(0).size();
    }

    private static String text(Object cell) {
        if (cell == null || cell instanceof Double number && number.isNaN()) {
            return "–";
        }
        return cell instanceof Double number ? number(number) : cell.toString();
    }

    private static String number(double value) {
        double size = Math.abs(value);
        int decimals = size >= 1000 ? 0 : size >= 0.1 || size == 0 ? 2 : 4;
        return String.format(Locale.ROOT, "%,." + decimals + "f", value);
    }

    @Override
    public String toString() {
        StringBuilder text = new StringBuilder("### ").append(title).append("\n\n");
        rows.forEach(row -> text.append("| ").append(String.join(" | ", row)).append(" |\n"));
        notes.forEach(note -> text.append('\n').append(note).append('\n'));
        return text.append('\n').toString();
    }
}

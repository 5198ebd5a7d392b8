// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import com.incapsula.sampler.internal.engine.Snapshot;
import com.incapsula.sampler.internal.options.Values;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Options for writing a report. Each {@code with} method gives a changed copy.
 *
 * <pre>{@code
 * report.writeTo(ReportFormat.COLLAPSED, ReportOptions.standard().withMeasure(ReportMeasure.CPU), out);
 * }</pre>
 *
 * <p>Threads: immutable.
 *
 * @since 1.0
 */
public final class ReportOptions {

    /* As NativeBridge.writeSnapshot numbers them. */
    private static final int BY_TIME = 1;
    private static final int ZERO_TIME_PACKAGES = 1 << 1;
    private static final int PERCENT = 1 << 3;
    private static final int JAVA_SLASHES = 1 << 5;
    private static final int FRAME_TYPES = 1 << 6;
    private static final int SHORT_ACCOUNT = 1 << 7;
    private static final int FOLD_RECURSION = 1 << 31;
    private static final int CPU_TIME = 1 << (8 + ReportMeasure.CPU.ordinal());

    private static final int STATES = ((1 << 6) - 1) << (8 + ReportMeasure.RUNNING.ordinal());

    private static final int PER_SHIFT = 18;
    private static final int PER_MASK = 3 << PER_SHIFT;
    private static final int MAX_FOCUS_LENGTH = 1000;

    /* Thousandths, in ten bits. */
    private static final int MIN_SHIFT = 20;
    private static final int MIN_MASK = 1023 << MIN_SHIFT;
    private static final int STANDARD_MIN = 5;
    private static final int PER_MILLE = 10; // in a percent
    private static final double ROUNDING = 1e-6; // 12.3 is no double

    private static final ReportOptions STANDARD =
            new ReportOptions(ReportMeasure.WALL, false, (STANDARD_MIN << MIN_SHIFT) | SHORT_ACCOUNT, null, null);

    private final ReportMeasure measure;
    private final boolean measureAlone;
    private final int flags;
    private final @Nullable String focus;
    private final @Nullable Boolean foldRecursion; // null: as people or programs read the format

    private ReportOptions(
            ReportMeasure measure,
            boolean measureAlone,
            int flags,
            @Nullable String focus,
            @Nullable Boolean foldRecursion) {
        this.measure = measure;
        this.measureAlone = measureAlone;
        this.flags = flags;
        this.focus = focus;
        this.foldRecursion = foldRecursion;
    }

    /**
     * {@return the defaults: wall time, rows in order of their names, a summary, no optional column, rows below 0.5 %
     * folded, a short account}
     */
    public static ReportOptions standard() {
        return STANDARD;
    }

    /**
     * The defaults, changed by texts from a command line or a request.
     *
     * @param measure as {@link ReportMeasure#of} reads it; null: wall time
     * @param per as {@link ReportUnit#of} reads it; null: a method
     * @param focus as {@link #withFocus} takes it
     * @return the options
     * @throws IllegalArgumentException if one of them is wrong
     */
    public static ReportOptions of(@Nullable String measure, @Nullable String per, @Nullable String focus) {
        return STANDARD.changedBy(measure, per, focus);
    }

    /**
     * Changes these options by texts from a command line or a request. All others stay.
     *
     * @param measure as {@link ReportMeasure#of} reads it; null: unchanged
     * @param per as {@link ReportUnit#of} reads it; null: unchanged
     * @param focus as {@link #withFocus} takes it; null: unchanged
     * @return the changed options
     * @throws IllegalArgumentException if one of them is wrong
     */
    public ReportOptions changedBy(@Nullable String measure, @Nullable String per, @Nullable String focus) {
        ReportOptions changed = measure == null ? this : withMeasure(ReportMeasure.of(measure));
        changed = per == null ? changed : changed.withPer(ReportUnit.of(per));
        return focus == null ? changed : changed.withFocus(focus);
    }

    /**
     * Sets the measure that {@link ReportFormat#COLLAPSED} and {@link ReportFormat#SPEEDSCOPE} have for each stack, and
     * by which {@link ReportFormat#TOP} and {@link ReportFormat#CALLS} are ordered.
     *
     * @param changed the measure
     * @return a changed copy
     * @throws IllegalArgumentException if it is null
     */
    public ReportOptions withMeasure(ReportMeasure changed) {
        return new ReportOptions(Values.notNull("measure", changed), measureAlone, flags, focus, foldRecursion);
    }

    /**
     * Sets whether {@link ReportFormat#PPROF} has this measure only, for readers that need a profile for each measure.
     * By default it has all measures. The period of a profile of CPU time alone is CPU time.
     *
     * @param alone true for one measure
     * @return a changed copy
     */
    public ReportOptions withMeasureAlone(boolean alone) {
        return new ReportOptions(measure, alone, flags, focus, foldRecursion);
    }

    /**
     * Sets the order of rows in {@link ReportFormat#TEXT}.
     *
     * @param order the order
     * @return a changed copy
     * @throws IllegalArgumentException if it is null
     */
    public ReportOptions withOrder(ReportOrder order) {
        return with(BY_TIME, Values.notNull("order", order) == ReportOrder.BY_TIME);
    }

    /**
     * Sets whether {@link ReportFormat#TEXT} has rows without method time if the package changes.
     *
     * @param shown true to keep them
     * @return a changed copy
     */
    public ReportOptions withZeroTimePackages(boolean shown) {
        return with(ZERO_TIME_PACKAGES, shown);
    }

    /**
     * Sets whether {@link ReportFormat#TEXT} and {@link ReportFormat#TOP} have a column with CPU time.
     *
     * @param shown true for the column
     * @return a changed copy
     */
    public ReportOptions withCpuTime(boolean shown) {
        return with(CPU_TIME, shown);
    }

    /**
     * Sets whether {@link ReportFormat#TEXT} has each row's time by state, for states that are not 0, and
     * {@link ReportFormat#TOP} has a column for idle time. TOP always has columns for the other states.
     *
     * @param shown true for the states
     * @return a changed copy
     */
    public ReportOptions withStates(boolean shown) {
        return with(STATES, shown);
    }

    /**
     * Sets whether {@link ReportFormat#TEXT} has a column with each row's share of its thread group's time.
     *
     * @param shown true for the column
     * @return a changed copy
     */
    public ReportOptions withPercent(boolean shown) {
        return with(PERCENT, shown);
    }

    /**
     * Sets the share of its group's active time below which a row of {@link ReportFormat#TEXT} is folded; see
     * {@link ThreadsSampler#setReportMinPercent}.
     *
     * @param percent 0 to 100, in steps of 0.1; 0: all rows are shown
     * @return a changed copy
     * @throws IllegalArgumentException if it is out of range or between two steps
     */
    public ReportOptions withMinPercent(double percent) {
        int min = (int) perMille("minPercent", "0", percent);
        return new ReportOptions(measure, measureAlone, (flags & ~MIN_MASK) | (min << MIN_SHIFT), focus, foldRecursion);
    }

    /**
     * Sets whether a recursion is one row with its depth; see {@link ThreadsSampler#setFoldRecursion}. By default it is
     * one row in {@link ReportFormat#TEXT} and {@link ReportFormat#HTML} only.
     *
     * @param folded true to fold it in all formats, false in none
     * @return a changed copy
     */
    public ReportOptions withFoldRecursion(boolean folded) {
        return new ReportOptions(measure, measureAlone, flags, focus, folded);
    }

    /**
     * Sets how much of the sampler's own account {@link ReportFormat#TEXT} has.
     *
     * @param account SHORT or FULL
     * @return a changed copy
     * @throws IllegalArgumentException if it is null
     */
    public ReportOptions withAccount(ReportAccount account) {
        return with(SHORT_ACCOUNT, Values.notNull("account", account) == ReportAccount.SHORT);
    }

    /**
     * Sets whether {@link ReportFormat#TEXT}, {@link ReportFormat#TOP}, {@link ReportFormat#JSON} and {@link
     * ReportFormat#HTML} begin with a summary.
     *
     * @param shown false to leave it out
     * @return a changed copy
     */
    public ReportOptions withSummary(boolean shown) {
        return with(Snapshot.WITHOUT_SUMMARY, !shown);
    }

    /**
     * Sets whether {@link ReportFormat#COLLAPSED} writes class names with slashes, {@code java/lang/Thread.run} in
     * place of {@code java.lang.Thread.run}. async-profiler's converter recognises Java frames by the slashes, and so
     * does {@code flamegraph.pl --color=java} if packages begin with {@code java}, {@code com}, {@code org} and a few
     * others. A difference of two reports always has dots.
     *
     * @param shown true for slashes
     * @return a changed copy
     */
    public ReportOptions withJavaSlashes(boolean shown) {
        return with(JAVA_SLASHES, shown);
    }

    /**
     * Sets whether frames of Java methods in {@link ReportFormat#COLLAPSED} end with {@code _[j]}.
     * {@code flamegraph.pl --color=java} and async-profiler's converter colour frames by this suffix and do not show
     * it. Frames in brackets, such as machine code of the JVM, have no type. There are no types for inlined methods and
     * tiers of compilation, because samples do not have that information. A difference of two reports has no types.
     *
     * @param shown true for types
     * @return a changed copy
     */
    public ReportOptions withFrameTypes(boolean shown) {
        return with(FRAME_TYPES, shown);
    }

    /**
     * Sets the unit of a row of {@link ReportFormat#CALLS}. Default: a method.
     *
     * @param unit the unit
     * @return a changed copy
     * @throws IllegalArgumentException if it is null
     */
    public ReportOptions withPer(ReportUnit unit) {
        int per = Values.notNull("unit", unit).ordinal() << PER_SHIFT;
        return new ReportOptions(measure, measureAlone, (flags & ~PER_MASK) | per, focus, foldRecursion);
    }

    /**
     * Limits {@link ReportFormat#CALLS} to a subtree: the calls of one of its rows, with all calls below them.
     *
     * @param row a row's name, such as {@code com.acme.Shop.checkout}, or with {@link ReportUnit#CLASS}
     *     {@code com.acme.Shop}; null or empty: all calls
     * @return a changed copy
     * @throws IllegalArgumentException if it has more than 1,000 characters
     */
    public ReportOptions withFocus(@Nullable String row) {
        if (row != null && row.length() > MAX_FOCUS_LENGTH) {
            throw new IllegalArgumentException("focus must have at most 1,000 characters, got " + row.length());
        }
        return new ReportOptions(
                measure, measureAlone, flags, row == null || row.isEmpty() ? null : row, foldRecursion);
    }

    /**
     * The measure of formats with one number for each stack.
     *
     * @return never null
     * @see #withMeasure
     */
    public ReportMeasure getMeasure() {
        return measure;
    }

    /** {@return whether a file has this measure only, see {@link #withMeasureAlone}} */
    public boolean isMeasureAlone() {
        return measureAlone;
    }

    /**
     * The order of rows.
     *
     * @return never null
     * @see #withOrder
     */
    public ReportOrder getOrder() {
        return has(BY_TIME) ? ReportOrder.BY_TIME : ReportOrder.BY_NAME;
    }

    /** {@return whether there are rows without method time, see {@link #withZeroTimePackages}} */
    public boolean isZeroTimePackages() {
        return has(ZERO_TIME_PACKAGES);
    }

    /** {@return whether there is a column with CPU time, see {@link #withCpuTime}} */
    public boolean isCpuTime() {
        return has(CPU_TIME);
    }

    /** {@return whether rows have their time by state, see {@link #withStates}} */
    public boolean isStates() {
        return has(STATES);
    }

    /** {@return whether there is a column with shares, see {@link #withPercent}} */
    public boolean isPercent() {
        return has(PERCENT);
    }

    /** {@return the share below which a row is folded, 0 to 100, see {@link #withMinPercent}} */
    public double getMinPercent() {
        return (double) ((flags & MIN_MASK) >> MIN_SHIFT) / PER_MILLE;
    }

    /** {@return whether a recursion is one row, see {@link #withFoldRecursion}; null: the default of each format} */
    public @Nullable Boolean getFoldRecursion() {
        return foldRecursion;
    }

    /**
     * How much of the sampler's own account there is.
     *
     * @return never null
     * @see #withAccount
     */
    public ReportAccount getAccount() {
        return has(SHORT_ACCOUNT) ? ReportAccount.SHORT : ReportAccount.FULL;
    }

    /** {@return whether there is a summary, see {@link #withSummary}} */
    public boolean isSummary() {
        return !has(Snapshot.WITHOUT_SUMMARY);
    }

    /** {@return whether class names have slashes, see {@link #withJavaSlashes}} */
    public boolean isJavaSlashes() {
        return has(JAVA_SLASHES);
    }

    /** {@return whether frames have types, see {@link #withFrameTypes}} */
    public boolean isFrameTypes() {
        return has(FRAME_TYPES);
    }

    /** {@return the unit of a row of {@link ReportFormat#CALLS}, never null} */
    public ReportUnit getPer() {
        return ReportUnit.values()[(flags & PER_MASK) >> PER_SHIFT];
    }

    /** {@return the row to whose calls {@link ReportFormat#CALLS} is limited; null: no limit} */
    public @Nullable String getFocus() {
        return focus;
    }

    /* least: the lower limit as text, for the message. */
    static long perMille(String name, String least, double percent) {
        long perMille = Math.round(percent * PER_MILLE);
        if (!(percent >= Double.parseDouble(least) && percent <= 100)
                || Math.abs(percent * PER_MILLE - perMille) > ROUNDING) {
            throw new IllegalArgumentException(
                    name + " must be between " + least + " and 100, in steps of 0.1, got " + percent);
        }
        return perMille;
    }

    /** True for the same options. */
    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof ReportOptions options
                && options.measure == measure
                && options.measureAlone == measureAlone
                && options.flags == flags
                && Objects.equals(options.focus, focus)
                && Objects.equals(options.foldRecursion, foldRecursion);
    }

    @Override
    public int hashCode() {
        return Objects.hash(measure, measureAlone, flags, focus, foldRecursion);
    }

    /** All options by name, for people. */
    @Override
    public String toString() {
        return "ReportOptions[measure=" + measure + ", measureAlone=" + measureAlone + ", order=" + getOrder()
                + ", zeroTimePackages=" + isZeroTimePackages() + ", cpuTime=" + isCpuTime() + ", states=" + isStates()
                + ", percent=" + isPercent() + ", minPercent=" + getMinPercent() + ", foldRecursion=" + foldRecursion
                + ", account=" + getAccount() + ", summary=" + isSummary() + ", javaSlashes=" + isJavaSlashes()
                + ", frameTypes=" + isFrameTypes() + ", per=" + getPer() + ", focus=" + focus + "]";
    }

    /** @return the measure as the core takes it */
    int measureCode() {
        return measure.ordinal() | (measureAlone ? Snapshot.MEASURE_ALONE : 0);
    }

    /** @return these options if folded, else a copy that folds in no format */
    ReportOptions unfoldedUnless(boolean folded) {
        return folded ? this : withFoldRecursion(false);
    }

    /** @return the flags for this format; for HTML, those of the JSON inside the page */
    int flagsOf(ReportFormat format) {
        boolean isRead = format == ReportFormat.TEXT || format == ReportFormat.HTML;
        return (foldRecursion == null ? isRead : foldRecursion) ? flags | FOLD_RECURSION : flags;
    }

    private boolean has(int flag) {
        return (flags & flag) != 0;
    }

    private ReportOptions with(int flag, boolean set) {
        return new ReportOptions(measure, measureAlone, set ? flags | flag : flags & ~flag, focus, foldRecursion);
    }
}

// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.mcp;

import com.incapsula.sampler.SamplingRow;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A row of a tree as it is shown: a chain of calls, each the only one of its caller, on one line. Their times differ by
 * what is the callers' own.
 *
 * <p>Threads: one.
 */
final class TreeRow {

    /* A call goes on the line of its caller if it has so much of the time of the line. */
    private static final double NEARLY_ALL = 0.98;

    /*
     * Frames that only pass time on are counted: what is shown of a longer chain is its begin, the innermost frame of
     * your code, the frame before the last, and the last, which takes the time.
     */
    private static final int FIRST_SHOWN = 1;
    private static final int LAST_SHOWN = 2;
    private static final int FEW_FRAMES = 2; // fewer are not longer than what stands for them
    private static final int MAX_PACKAGES = 3;

    private final Measure by;
    private final YourCode code;
    private final int depth;
    private final long total;
    private final List<SamplingRow> chain = new ArrayList<>();
    private final List<SamplingRow> below;
    private final String frames;
    private final List<TreeRow> shown = new ArrayList<>();

    /**
     * Makes a row, and follows the chain that begins with it.
     *
     * @param depth how many rows are above it
     * @param packageBefore of the last frame of the row above
     */
    TreeRow(Measure by, YourCode code, SamplingRow first, int depth, String packageBefore) {
        this.by = by;
        this.code = code;
        this.depth = depth;
        total = by.total(first);
        chain.add(first);
        List<SamplingRow> called = first.children();
        while (called.size() == 1 && by.total(called.get(0)) >= total * NEARLY_ALL) {
            chain.add(called.get(0));
            called = called.get(0).children();
        }
        below = called;
        frames = frames(packageBefore);
    }

    private String frames(String packageBefore) {
        StringBuilder text = new StringBuilder();
        String before = packageBefore;
        int users = innermostOfCode();
        for (int i = 0; i < chain.size(); i++) {
            int end = endOfMiddle(i, users);
            text.append(i == 0 ? "" : " > ");
            if (end - i > FEW_FRAMES) {
                text.append(middle(chain.subList(i, end)));
                i = end - 1;
                before = "";
            } else {
                text.append(Frames.line(chain.get(i), before));
                before = Frames.packageOf(chain.get(i));
            }
        }
        return text.toString();
    }

    /* Behind the frames from i on that are not shown one by one. */
    private int endOfMiddle(int i, int users) {
        int end = i;
        while (end >= FIRST_SHOWN && end < chain.size() - LAST_SHOWN && end != users) {
            end++;
        }
        return end;
    }

    /* "... 31 frames of org.apache, org.springframework ..." */
    private static String middle(List<SamplingRow> frames) {
        Map<String, Integer> counts = new LinkedHashMap<>();
        frames.forEach(frame -> counts.merge(Frames.rootPackageOf(frame), 1, Integer::sum));
        List<String> names = counts.entrySet().stream()
                .sorted(Map.Entry.comparingByValue(Comparator.reverseOrder()))
                .map(Map.Entry::getKey)
                .limit(MAX_PACKAGES)
                .toList();
        int others = counts.size() - names.size();
        return "... " + frames.size() + " frames of " + String.join(", ", names)
                + (others > 0 ? " and " + others + " more" : "") + " ...";
    }

    /* The last one where there is none: it is shown anyway. */
    private int innermostOfCode() {
        int i = chain.size() - 1;
        while (i >= 0 && !code.has(chain.get(i))) {
            i--;
        }
        return i;
    }

    long total() {
        return total;
    }

    int depth() {
        return depth;
    }

    /** @return the time of the chain's methods themselves */
    long own() {
        return chain.stream().mapToLong(by::own).sum();
    }

    /** @return the rows right below it, shown or not */
    List<SamplingRow> below() {
        return below;
    }

    String lastPackage() {
        return Frames.packageOf(chain.get(chain.size() - 1));
    }

    /** Adds a row below it, with a smaller share than those before. */
    void show(TreeRow row) {
        shown.add(row);
    }

    List<TreeRow> shown() {
        return shown;
    }

    /** @return the line; percentages are of the group */
    String text(long whole) {
        long waits = chain.stream().mapToLong(by::waits).sum();
        return BudgetText.percent(total, whole) + " " + BudgetText.percent(own(), whole) + " "
                + BudgetText.percent(waits, whole) + " " + " ".repeat(depth) + frames;
    }
}

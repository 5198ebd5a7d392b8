// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.mcp;

import com.incapsula.sampler.SamplingRow;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * One line of a shown tree: a chain of calls, each of which has almost all of its caller's time.
 *
 * <p>Threads: one.
 */
final class TreeRow {

    /* A call joins the line of its caller if it has this part of the line's time. */
    private static final double NEARLY_ALL = 0.98;

    /*
     * A long chain shows its first frame, the innermost frame of your code, and its last two frames, the last of which
     * spends the time. The other frames are only counted.
     */
    private static final int FIRST_SHOWN = 1;
    private static final int LAST_SHOWN = 2;
    private static final int FEW_FRAMES = 2; // fewer frames are no longer than their replacement
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
     * Creates a row for the chain that begins here.
     *
     * @param depth the number of rows above
     * @param packageBefore the package of the last frame in the row above
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

    /* Returns the index after the frames from i on that are not shown individually. */
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

    /* Returns the last frame, which is always shown, if there is none. */
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

    /** @return the own time of the chain's methods */
    long own() {
        return chain.stream().mapToLong(by::own).sum();
    }

    /** @return the rows below this one, whether shown or not */
    List<SamplingRow> below() {
        return below;
    }

    String lastPackage() {
        return Frames.packageOf(chain.get(chain.size() - 1));
    }

    /** Adds a row below this one; its share must not be larger than those of earlier ones. */
    void show(TreeRow row) {
        shown.add(row);
    }

    List<TreeRow> shown() {
        return shown;
    }

    /** @return the line, with percentages of the group's time */
    String text(long whole) {
        long waits = chain.stream().mapToLong(by::waits).sum();
        return BudgetText.percent(total, whole) + " " + BudgetText.percent(own(), whole) + " "
                + BudgetText.percent(waits, whole) + " " + " ".repeat(depth) + frames;
    }
}

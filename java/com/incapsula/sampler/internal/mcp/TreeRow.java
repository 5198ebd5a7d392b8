// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.mcp;

import com.incapsula.sampler.SamplingRow;
import java.util.ArrayList;
import java.util.List;

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
     * Of a longer chain the middle is left out: the begin is nearest to the caller's code, the end to what takes time.
     * The innermost frame that is not of the JDK is always shown.
     */
    private static final int FIRST_SHOWN = 2;
    private static final int LAST_SHOWN = 4;

    private final By by;
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
    TreeRow(By by, SamplingRow first, int depth, String packageBefore) {
        this.by = by;
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
        int users = innermostOfUsers();
        int left = 0;
        for (int i = 0; i < chain.size(); i++) {
            if (isInMiddle(i) && i != users) {
                left++;
                continue;
            }
            if (left > 0) {
                text.append(" > (").append(left).append(left == 1 ? " call)" : " calls)");
                left = 0;
            }
            text.append(i == 0 ? "" : " > ").append(Frames.line(chain.get(i), before));
            before = Frames.packageOf(chain.get(i));
        }
        return text.toString();
    }

    private boolean isInMiddle(int i) {
        return chain.size() > FIRST_SHOWN + LAST_SHOWN + 1 && i >= FIRST_SHOWN && i < chain.size() - LAST_SHOWN;
    }

    private int innermostOfUsers() {
        int i = chain.size() - 1;
        while (i >= 0 && !Frames.isOfUsers(chain.get(i))) {
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

// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.agent;

import static org.assertj.core.api.Assertions.assertThat;

import com.incapsula.sampler.ReportUnit;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The table of counted calls before and after. Each test makes its tree itself. */
class CallsDifferenceTest {

    private static final String CALLS = "calls";
    private static final long MILLI = 1_000_000;

    private final StackTree tree = new StackTree(2);
    private final int group = tree.node(StackTree.NONE, "main");

    /** Adds a method with its own amounts on both sides. Times are in milliseconds. */
    private int add(int above, String frame, long callsBefore, long callsAfter, long before, long after) {
        int node = tree.node(above, frame);
        tree.add(0, CALLS, node, callsBefore);
        tree.add(1, CALLS, node, callsAfter);
        tree.add(0, ProfileFile.WALL, node, before * MILLI);
        tree.add(1, ProfileFile.WALL, node, after * MILLI);
        return node;
    }

    /** @return the title and the rows, with single spaces */
    private List<String> table(ReportUnit unit, boolean byCalls, String focus) {
        List<String> lines = CallsDifference.of(tree, unit, byCalls, focus)
                .lines()
                .map(line -> line.strip().replaceAll(" +", " "))
                .toList();
        assertThat(lines.get(1))
                .isEqualTo("calls before after change ms before after us/call after "
                        + unit.name().toLowerCase(java.util.Locale.ROOT));
        return lines.stream().filter(line -> !line.equals(lines.get(1))).toList();
    }

    private void addOrders() {
        int handle = add(group, "shop.web.Orders.handle(Order)", 10, 20, 10, 20);
        int price = add(handle, "shop.web.Prices.of(Item)", 30, 30, 30, 90);
        add(price, "shop.db.Prices.load", 5, 5, 5, 5);
        add(group, "Main.run()", 1, 0, 1, 0);
        add(group, "[native]", 0, 0, 0, 2);
        add(group, "shop.web.Unused.never()", 0, 0, 0, 0);
    }

    @Test
    void rowsAreMethodsWithTheirCalleesTime() {
        addOrders();
        assertThat(table(ReportUnit.METHOD, false, null))
                .containsExactly(
                        "Counted methods before and after: 5, by change of total time",
                        "10 20 +10 45.000 115.000 4500.000 5750.000 shop.web.Orders.handle(Order)",
                        "30 30 +0 35.000 95.000 1166.667 3166.667 shop.web.Prices.of(Item)",
                        "0 0 +0 0.000 2.000 [native]",
                        "1 0 -1 1.000 0.000 1000.000 Main.run()",
                        "5 5 +0 5.000 5.000 1000.000 1000.000 shop.db.Prices.load");
    }

    @Test
    void rowsCanBeOrderedByTheChangeOfCalls() {
        addOrders();
        assertThat(table(ReportUnit.METHOD, true, null))
                .startsWith("Counted methods before and after: 5, by change of calls")
                .extracting(line -> line.substring(line.lastIndexOf(' ') + 1))
                .containsSubsequence(
                        "shop.web.Orders.handle(Order)",
                        "Main.run()",
                        "shop.web.Prices.of(Item)",
                        "[native]",
                        "shop.db.Prices.load");
    }

    @Test
    void methodsOfAClassAreOneRow() {
        addOrders();
        add(group, "shop.web.Orders.cancel()", 1, 2, 3, 4);
        assertThat(table(ReportUnit.CLASS, false, null))
                .containsExactly(
                        "Counted classes before and after: 5, by change of total time",
                        "11 22 +11 48.000 119.000 4363.636 5409.091 shop.web.Orders",
                        "30 30 +0 35.000 95.000 1166.667 3166.667 shop.web.Prices",
                        "0 0 +0 0.000 2.000 [native]",
                        "1 0 -1 1.000 0.000 1000.000 Main",
                        "5 5 +0 5.000 5.000 1000.000 1000.000 shop.db.Prices");
    }

    /** Prices are called by orders of the same package: the time is in that of the orders already. */
    @Test
    void aCallInsideACallOfTheSamePackageAddsNoTime() {
        addOrders();
        assertThat(table(ReportUnit.PACKAGE, false, null))
                .containsExactly(
                        "Counted packages before and after: 4, by change of total time",
                        "40 50 +10 45.000 115.000 4500.000 5750.000 shop.web",
                        "0 0 +0 0.000 2.000 [native]",
                        "1 0 -1 1.000 0.000 1000.000 [no package]",
                        "5 5 +0 5.000 5.000 1000.000 1000.000 shop.db");
    }

    @Test
    void aRecursiveMethodHasItsTimeOnce() {
        int outer = add(group, "a.Tree.walk()", 1, 1, 1, 2);
        int other = add(outer, "a.Tree.visit()", 2, 2, 1, 2);
        add(other, "a.Tree.walk()", 3, 4, 1, 2);
        assertThat(table(ReportUnit.METHOD, false, null))
                .contains("4 5 +1 3.000 6.000 3000.000 6000.000 a.Tree.walk()");
    }

    /** Only calls inside the row of the focus count; an equal caller outside it does not hide their time. */
    @Test
    void aFocusLeavesOutWhatIsNotInside() {
        int outside = add(group, "a.Util.retry()", 7, 7, 7, 7);
        int focus = add(outside, "a.Job.run()", 1, 2, 10, 20);
        add(focus, "a.Util.retry()", 3, 3, 3, 3);
        add(group, "a.Other.run()", 9, 9, 9, 9);
        assertThat(table(ReportUnit.METHOD, false, "a.Job.run()"))
                .containsExactly(
                        "Counted methods before and after: 2, by change of total time",
                        "1 2 +1 13.000 23.000 13000.000 11500.000 a.Job.run()",
                        "3 3 +0 3.000 3.000 1000.000 1000.000 a.Util.retry()");
    }

    /** As in a report that counts calls without their time. */
    @Test
    void callsWithoutTimeHaveNoTimePerCall() {
        add(group, "a.A.a()", 2, 3, 0, 0);
        add(group, "b.B.b()", 2, 2, 0, 1);
        assertThat(table(ReportUnit.METHOD, true, null))
                .containsExactly(
                        "Counted methods before and after: 2, by change of calls",
                        "2 3 +1 0.000 0.000 a.A.a()",
                        "2 2 +0 0.000 1.000 500.000 b.B.b()");
    }

    @Test
    void withoutCallsThereAreNoRows() {
        assertThat(table(ReportUnit.PACKAGE, true, null))
                .containsExactly("Counted packages before and after: 0, by change of calls");
    }
}

// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.mcp;

import com.incapsula.sampler.SamplingGroup;
import com.incapsula.sampler.SamplingReport;
import com.incapsula.sampler.SamplingRow;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** The call tree of a group, limited to the rows with the largest shares. */
final class TreeTool {

    private static final String BEGIN = "begin";
    private static final String CODE = "code";
    private static final int STANDARD_DEPTH = 40;
    private static final int MAX_DEPTH = 1000;

    /* Rows with a smaller part of their group's time are never shown. */
    private static final long LEAST_PART = 5_000;

    static final Tool TOOL = new Tool(
            "tree",
            "Call tree of a thread group",
            "Shows where a thread group spends its time as a call tree, the largest shares first, with the lines of"
                    + " the calls. How to read it: a large own share with waits near 0 computes there. A large waits share"
                    + " in a Java method that is not native is the wait to enter a synchronized method or block, a"
                    + " contended lock. Waits in native methods such as park, wait or socket reads are waits for another"
                    + " thread, a queue, a pool or a peer: the callers tell which. On an overloaded machine threads that"
                    + " compute have waits, too. With from, only the trees below methods whose name contains that text are"
                    + " shown; with begin: code, those below the first line of the program's own code, without the"
                    + " frameworks above it.",
            parameters(),
            TreeTool::answer);

    private TreeTool() {}

    private static List<Parameter> parameters() {
        List<Parameter> all = new ArrayList<>();
        all.add(Parameter.text("group", true, "The thread group, as groups names it, or a part of its name."));
        all.add(Parameter.number(
                "depth",
                1,
                MAX_DEPTH,
                "At most so many rows below each other (default " + STANDARD_DEPTH
                        + "); a chain of calls without a branch is one row."));
        all.add(Parameter.text(
                "from", false, "Begin at methods whose name contains this text, such as OrderService.store."));
        all.add(Parameter.choice(
                BEGIN, List.of("root", CODE), "root (default): with all callers. code: at the program's own code."));
        all.addAll(KeptIntervals.parameters());
        all.add(Measure.parameter());
        all.add(ToolArguments.budget());
        return all;
    }

    private static String answer(ToolArguments arguments, KeptIntervals intervals) throws InterruptedException {
        Interval interval = intervals.choose(arguments, "interval", 0);
        SamplingReport report = interval.report();
        Measure by = Measure.of(arguments, report);
        SamplingGroup group = interval.group(String.valueOf(arguments.text("group")));
        long whole = by.total(group);
        YourCode code = new YourCode(report);
        List<SamplingRow> roots = roots(arguments, report.rows(group), code, by, whole);
        BudgetText text = new BudgetText(arguments.budgetChars(), interval.title());
        text.head("Group " + Frames.quoted(group.getName()) + ", " + group.getThreads() + " threads. In % of its "
                + by.text() + " time: all = with what it calls, own = itself, waits = the part of own without a CPU");
        text.head("  all   own waits method:line > what it calls; a dot at the begin stands for the same package");
        List<TreeRow> shown = choose(roots, code, by, arguments.number("depth", STANDARD_DEPTH), text, whole);
        long leftOut = roots.stream().mapToLong(by::total).sum() - print(shown, text, whole);
        return text.end(leftOut, whole, "the group");
    }

    private static List<SamplingRow> roots(
            ToolArguments arguments, List<SamplingRow> roots, YourCode code, Measure by, long whole) {
        String from = arguments.text("from");
        boolean isOfCode = CODE.equals(arguments.text(BEGIN));
        if (from == null && !isOfCode) {
            return roots;
        }
        if (from != null && isOfCode) {
            throw new ToolRefusal("give either from or begin: code");
        }
        List<SamplingRow> found =
                below(roots, from == null ? code::has : row -> Frames.line(row).contains(from), by, whole);
        if (found.isEmpty()) {
            throw new ToolRefusal(
                    from == null
                            ? "begin: no line of the program's own code was seen in this group; take begin: root"
                            : "from: no method of this group contains " + Frames.quoted(from));
        }
        return found;
    }

    /* The first matching rows on each path from the root. */
    private static List<SamplingRow> below(
            List<SamplingRow> roots, Predicate<SamplingRow> isWanted, Measure by, long whole) {
        List<SamplingRow> found = new ArrayList<>();
        Deque<Iterator<SamplingRow>> way = new ArrayDeque<>();
        way.push(roots.iterator());
        for (int read = 0; !way.isEmpty() && read < MethodSums.MAX_ROWS; read++) {
            if (!way.element().hasNext()) {
                way.pop();
                continue;
            }
            SamplingRow row = way.element().next();
            if (isWanted.test(row)) {
                found.add(row);
            } else if (by.total(row) > whole / LEAST_PART) {
                way.push(row.children().iterator());
            }
        }
        return found;
    }

    /** @return the root rows; below them are as many rows as the budget allows, the largest shares first */
    private static List<TreeRow> choose(
            List<SamplingRow> roots, YourCode code, Measure by, int depth, BudgetText text, long whole) {
        PriorityQueue<Candidate> next =
                new PriorityQueue<>(Comparator.comparingLong(Candidate::total).reversed());
        List<TreeRow> top = new ArrayList<>();
        roots.forEach(row -> next.add(new Candidate(row, null, by.total(row))));
        int room = text.room();
        while (!next.isEmpty() && next.element().total() > whole / LEAST_PART) {
            Candidate candidate = next.remove();
            TreeRow above = candidate.above();
            TreeRow row = new TreeRow(
                    by,
                    code,
                    candidate.row(),
                    above == null ? 0 : above.depth() + 1,
                    above == null ? "" : above.lastPackage());
            room -= row.text(whole).length() + 1;
            if (room < 0) {
                return top;
            }
            if (above == null) {
                top.add(row);
            } else {
                above.show(row);
            }
            if (row.depth() + 1 < depth) {
                row.below().forEach(child -> next.add(new Candidate(child, row, by.total(child))));
            }
        }
        return top;
    }

    /** A candidate row. */
    private record Candidate(SamplingRow row, @Nullable TreeRow above, long total) {}

    /** @return the own time of the rows */
    private static long print(List<TreeRow> top, BudgetText text, long whole) {
        Deque<Iterator<TreeRow>> way = new ArrayDeque<>();
        way.push(top.iterator());
        long own = 0;
        while (!way.isEmpty()) {
            if (way.element().hasNext()) {
                TreeRow row = way.element().next();
                text.row(row.text(whole));
                own += row.own();
                way.push(row.shown().iterator());
            } else {
                way.pop();
            }
        }
        return own;
    }
}

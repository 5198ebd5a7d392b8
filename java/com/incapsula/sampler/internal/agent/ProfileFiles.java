// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.agent;

import com.incapsula.sampler.ReportFormat;
import com.incapsula.sampler.ReportMeasure;
import com.incapsula.sampler.ReportOptions;
import com.incapsula.sampler.internal.json.JsonWriter;
import com.incapsula.sampler.internal.report.HtmlPage;
import com.incapsula.sampler.internal.report.WholeFile;
import com.incapsula.sampler.internal.report.Writable;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Merges report files, or compares two. The result can be written as the page, as JSON, or as COLLAPSED
 * ({@code stack amount} or {@code stack before after} in each line; flamegraph.pl reads both). A difference can also be
 * a table of counted calls.
 *
 * <p>Needs the memory of all stacks.
 */
final class ProfileFiles {

    private static final Map<String, ReportFormat> EXTENSIONS = Map.of(
            ".collapsed", ReportFormat.COLLAPSED,
            ".html", ReportFormat.HTML,
            ".json", ReportFormat.JSON);
    private static final String FORMATS = ".html, .json or .collapsed";
    private static final String CALLS_EXTENSION = "." + ReportFormat.CALLS.getFileExtension();

    private final boolean isDifference;
    private final ReportFormat format;
    private final ReportOptions options;
    private final Stacks stacks;
    private final List<ProfileFile> files = new ArrayList<>();

    private ProfileFiles(boolean isDifference, ReportFormat format, ReportOptions options) {
        this.isDifference = isDifference;
        this.format = format;
        this.options = options;
        this.stacks = Stacks.ofSides(isDifference ? 2 : 1);
    }

    /**
     * Writes the result into the file that the arguments name, or to {@code out}. A message about omitted data goes to
     * {@code out} or {@code err}.
     *
     * @throws Refusal if the arguments are wrong
     * @throws IOException naming the file and the wrong line
     */
    static void execute(Arguments arguments, PrintStream out, PrintStream err) throws IOException {
        boolean isDifference = arguments.action() == Arguments.Action.DIFF;
        List<String> names = arguments.files();
        if (isDifference ? names.size() != 2 : names.size() < 2) {
            throw new Refusal(
                    isDifference
                            ? "diff needs two files, BEFORE and AFTER, got " + names.size()
                            : "merge needs two files or more, got " + names.size());
        }
        String output = arguments.output();
        Map<String, String> settings = arguments.settings();
        ReportFormat format = format(isDifference, settings, output);
        requireOptions(format, settings);
        ProfileFiles all =
                new ProfileFiles(isDifference, format, ReportFiles.changed(ReportOptions.standard(), settings));
        for (String name : names) {
            all.add(Path.of(name));
        }
        Writable content = all.content();
        if (output == null) {
            content.writeTo(out);
            out.flush();
            if (all.leavesCallsOut()) {
                err.println("threads-sampler: the calls that were counted are left out; html and json have them");
            }
        } else {
            WholeFile.write(Path.of(output), content);
            out.println(all.description() + ", in " + Path.of(output).toAbsolutePath());
        }
    }

    private static ReportFormat format(boolean isDifference, Map<String, String> settings, @Nullable String output) {
        String named = settings.get(Keys.FORMAT);
        ReportFormat format = named == null ? formatOf(output) : ReportFiles.format(named);
        if (format == ReportFormat.CALLS && isDifference) {
            return format;
        }
        if (format == null || !EXTENSIONS.containsValue(format)) {
            throw new Refusal("the result can be " + FORMATS + (isDifference ? ", or calls" : "") + ", got "
                    + (named == null ? "-o " + output : named));
        }
        return format;
    }

    private static void requireOptions(ReportFormat format, Map<String, String> settings) {
        for (String key : settings.keySet()) {
            boolean isOfCalls = format == ReportFormat.CALLS && ReportFiles.OPTIONS.contains(key);
            if (!key.equals(Keys.FORMAT) && !isOfCalls) {
                throw new Refusal(key + " has no meaning with "
                        + (ReportFiles.OPTIONS.contains(key) ? "this form of " : "") + "diff and merge");
            }
        }
    }

    private static @Nullable ReportFormat formatOf(@Nullable String output) {
        if (output == null) {
            return ReportFormat.COLLAPSED;
        }
        if (output.endsWith(CALLS_EXTENSION)) {
            return ReportFormat.CALLS;
        }
        String extension = output.substring(Math.max(output.lastIndexOf('.'), 0));
        return output.endsWith(".speedscope.json") ? null : EXTENSIONS.get(extension);
    }

    private void add(Path file) throws IOException {
        UnaryOperator<String> key =
                isDifference && format != ReportFormat.COLLAPSED ? Frames::withoutPlace : text -> text;
        ProfileFile read = ProfileFile.read(file, stacks, isDifference ? files.size() : 0, key);
        if (!files.isEmpty() && !isDifference && !clock(read).equals(clock(files.get(0)))) {
            throw new Refusal("wall-clock times and CPU times cannot be added up: "
                    + files.get(0).file() + " and " + read.file());
        }
        files.add(read);
    }

    private static String clock(ProfileFile file) {
        return Objects.toString(file.head().get("clock"), "WALL");
    }

    private String description() {
        if (format == ReportFormat.CALLS) {
            return "counted calls";
        }
        return stackCount() + " stacks" + (leavesCallsOut() ? " without the calls that were counted" : "");
    }

    /* A line of the form COLLAPSED has one measure. */
    private boolean leavesCallsOut() {
        return format == ReportFormat.COLLAPSED && files.stream().anyMatch(ProfileFile::hasCounted);
    }

    private long stackCount() {
        StackTree tree = stacks.sampled();
        Set<String> measures = tree.measures();
        long count = 0;
        for (int node = 0; node < tree.count(); node++) {
            int at = node;
            if (measures.stream().anyMatch(measure -> amount(0, measure, at) + amount(1, measure, at) > 0)) {
                count++;
            }
        }
        return count;
    }

    private long amount(int side, String measure, int node) {
        return side == 0 || isDifference ? stacks.sampled().amount(side, measure, node) : 0;
    }

    private Writable content() {
        if (format == ReportFormat.COLLAPSED) {
            return this::writeLines;
        }
        if (format == ReportFormat.CALLS) {
            return calls();
        }
        String json = JsonWriter.write(
                isDifference
                        ? ProfileJson.difference(stacks, files.get(0), files.get(1))
                        : ProfileJson.report(stacks, files));
        Writable data = out -> out.write(json.getBytes(StandardCharsets.UTF_8));
        return format == ReportFormat.HTML ? out -> HtmlPage.write(out, data) : data;
    }

    private Writable calls() {
        if (files.stream().noneMatch(ProfileFile::hasCounted)) {
            throw new Refusal("neither file has calls that were counted; html and json files have them");
        }
        String table = CallsDifference.of(
                stacks.counted(), options.getPer(), options.getMeasure() == ReportMeasure.CALLS, options.getFocus());
        return out -> out.write(table.getBytes(StandardCharsets.UTF_8));
    }

    private void writeLines(OutputStream out) throws IOException {
        for (int node = 0; node < stacks.sampled().count(); node++) {
            long first = amount(0, ProfileFile.WALL, node);
            long second = amount(1, ProfileFile.WALL, node);
            if (first != 0 || second != 0) {
                String line = stack(node) + " " + first + (isDifference ? " " + second : "") + "\n";
                out.write(line.getBytes(StandardCharsets.UTF_8));
            }
        }
    }

    private String stack(int node) {
        StackTree tree = stacks.sampled();
        Deque<String> parts = new ArrayDeque<>();
        for (int at = node; at >= 0; at = tree.parent(at)) {
            parts.addFirst(tree.text(at));
        }
        return String.join(";", parts);
    }
}

// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.agent;

import com.incapsula.sampler.internal.report.Content;
import com.incapsula.sampler.internal.report.WholeFile;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Files of the form COLLAPSED ({@code stack weight} a line), made into one: their sum, or the difference of two
 * ({@code stack before after} a line), as flamegraph.pl reads both.
 *
 * <p>Needs the memory of all stacks.
 */
final class CollapsedFiles {

    private CollapsedFiles() {}

    /**
     * Writes the result into the file that the arguments name, or to {@code out}.
     *
     * @throws Refusal if the arguments are wrong
     * @throws IOException with the file, and the line that is wrong
     */
    static void execute(Arguments arguments, PrintStream out) throws IOException {
        boolean isDifference = arguments.action() == Arguments.Action.DIFF;
        List<String> files = arguments.files();
        if (isDifference ? files.size() != 2 : files.size() < 2) {
            throw new Refusal(
                    isDifference
                            ? "diff needs two files, BEFORE and AFTER, got " + files.size()
                            : "merge needs two files or more, got " + files.size());
        }
        String output = arguments.output();
        if (output != null && !output.endsWith(".collapsed")) {
            throw new Refusal("the result has the form collapsed: -o must end in .collapsed, got " + output);
        }
        Map<String, long[]> weights = new LinkedHashMap<>();
        int columns = isDifference ? 2 : 1;
        for (int i = 0; i < files.size(); i++) {
            add(Path.of(files.get(i)), weights, columns, Math.min(i, columns - 1));
        }
        List<String> lines = new ArrayList<>(weights.size());
        weights.forEach((stack, sums) -> lines.add(stack + " " + sums[0] + (isDifference ? " " + sums[1] : "")));
        Content content = stream -> {
            for (String line : lines) {
                stream.write((line + "\n").getBytes(StandardCharsets.UTF_8));
            }
        };
        if (output == null) {
            content.writeTo(out);
            out.flush();
        } else {
            WholeFile.write(Path.of(output), content);
            out.println(lines.size() + " stacks, in " + Path.of(output).toAbsolutePath());
        }
    }

    private static void add(Path file, Map<String, long[]> weights, int columns, int column) throws IOException {
        int number = 0;
        try (BufferedReader lines = Files.newBufferedReader(file)) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                number++;
                addLine(line, weights, columns, column);
            }
        } catch (NumberFormatException | ArithmeticException | CharacterCodingException e) {
            throw new IOException(
                    file.toAbsolutePath() + ", line " + Math.max(number, 1)
                            + ": not the form collapsed, which is STACK WEIGHT",
                    e);
        } catch (NoSuchFileException e) {
            throw new IOException("there is no file " + file.toAbsolutePath(), e);
        }
    }

    private static void addLine(String line, Map<String, long[]> weights, int columns, int column) {
        int at = line.lastIndexOf(' ');
        long weight = Long.parseLong(line.substring(at + 1));
        if (at <= 0 || weight < 0) {
            throw new NumberFormatException();
        }
        long[] sums = weights.computeIfAbsent(line.substring(0, at), stack -> new long[columns]);
        sums[column] = Math.addExact(sums[column], weight);
    }
}

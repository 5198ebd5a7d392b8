// SPDX-License-Identifier: Apache-2.0
package com.example.faults;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/**
 * A deliberate fault of a service, as its {@code faults.txt} describes it.
 *
 * @param name the name for people
 * @param line {@code Stock.java:41}
 * @param states the possible states of its threads
 * @param holding the beginning of the line that holds the lock; null if there is no lock
 * @param holder the beginning of the name of the group that holds the lock; null if there is no lock
 */
public record Fault(String name, String line, List<String> states, String holding, String holder) {

    private static final int COLUMNS = 8;

    /**
     * Reads the faults of the example in the current folder.
     *
     * @param sources the folder of its classes
     */
    public static List<Fault> read(Path sources) throws IOException {
        List<Fault> faults = new ArrayList<>();
        for (String text : Files.readAllLines(Path.of("faults.txt"))) {
            if (!text.startsWith("#")) {
                String[] columns = text.split("\\|", COLUMNS);
                for (int i = 0; i < COLUMNS; i++) {
                    columns[i] = columns[i].strip();
                }
                faults.add(of(columns, sources));
            }
        }
        return faults;
    }

    private static Fault of(String[] columns, Path sources) throws IOException {
        boolean isHeld = !columns[5].isEmpty();
        return new Fault(
                columns[0],
                line(sources, columns[2], columns[3]),
                List.of(columns[4].split(", ")),
                isHeld ? line(sources, columns[5], columns[6]) : null,
                isHeld ? columns[7] : null);
    }

    /*
     * Line numbers change with the source, so the line is found by its code. Without code any line of the file matches.
     */
    private static String line(Path sources, String file, String code) throws IOException {
        if (code.isEmpty()) {
            return file + ":";
        }
        List<String> lines = Files.readAllLines(sources.resolve(file));
        int[] found = IntStream.range(0, lines.size())
                .filter(i -> lines.get(i).contains(code))
                .toArray();
        if (found.length != 1) {
            throw new IllegalArgumentException(file + " has " + found.length + " lines with " + code);
        }
        return file + ":" + (found[0] + 1);
    }

    /** @return true if one of the places has this line and state and, for a lock, the holder */
    public boolean isAmong(List<Spot> spots) {
        return spots.stream()
                .anyMatch(spot -> line.equals(spot.line()) && states.contains(spot.state()) && isHeldAsIn(spot));
    }

    private boolean isHeldAsIn(Spot spot) {
        return holding == null
                || (spot.holdingLine() != null
                        && spot.holder() != null
                        && (code(holding)
                                ? spot.holdingLine().equals(holding)
                                : spot.holdingLine().startsWith(holding))
                        && spot.isHeldBy(holder));
    }

    private static boolean code(String line) {
        return !line.endsWith(":");
    }
}

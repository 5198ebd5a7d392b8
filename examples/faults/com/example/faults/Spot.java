// SPDX-License-Identifier: Apache-2.0
package com.example.faults;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A place with much time, as the sampler names it.
 *
 * @param line {@code Stock.java:41}
 * @param state as a summary names it
 * @param holdingLine the line that holds the lock; null if there is no lock
 * @param holder the group that held the lock, whose name may be cut; null if it is not known
 */
public record Spot(String line, String state, String holdingLine, String holder) {

    private static final String CUT = "…";

    /* " 2. 12.1 s blocked  Stock.take(Stock.java:41)  lock of Stock, held in line 52 by pool-" */
    private static final Pattern SUMMARY_LINE = Pattern.compile(
            "\\s*\\d+\\. .*? s (running|runnable|blocked|I/O|waiting)(?: \\d+ %)? +\\S*?\\(([^():]+):(\\d+)\\)(.*)");
    private static final Pattern SUMMARY_LOCK = Pattern.compile(
            " +(?:lock of .*|\\[unknown lock]), held in (?:line (\\d+)|([^ ]+:\\d+))(?: by (.*?))?(?: +.*)?");

    /* "blocked 12.10 + running 1.20 .Stock.take:41 > Map.get | lock of Stock, held in X.java:52 by "p" | "q"" */
    private static final Pattern HOT_SPOT =
            Pattern.compile("((?:[a-z]+ [\\d.]+(?: \\+ )?)+) \\S*?([^. ]+)\\.[^. ]+:(\\d+)( .*)");
    private static final Pattern HOT_STATE = Pattern.compile("([a-z]+) [\\d.]+");
    private static final Pattern HOT_LOCK =
            Pattern.compile(".* \\| lock of .*, held in (\\S+:\\d+)(?: by \"([^\"]*)\")? \\| .*");

    /** @return true if the name of the group that holds the lock has this beginning */
    boolean isHeldBy(String start) {
        return holder.endsWith(CUT)
                ? start.startsWith(holder.substring(0, holder.length() - 1)) || holder.startsWith(start)
                : holder.startsWith(start);
    }

    /** @return the places in lines of a summary */
    public static List<Spot> ofSummary(List<String> lines) {
        List<Spot> spots = new ArrayList<>();
        for (String text : lines) {
            Matcher line = SUMMARY_LINE.matcher(text);
            if (line.matches()) {
                spots.add(ofSummary(line));
            }
        }
        return spots;
    }

    private static Spot ofSummary(Matcher line) {
        String file = line.group(2);
        Matcher lock = SUMMARY_LOCK.matcher(line.group(4));
        if (!lock.matches()) {
            return new Spot(file + ":" + line.group(3), line.group(1), null, null);
        }
        String holding = lock.group(1) == null ? lock.group(2) : file + ":" + lock.group(1);
        return new Spot(file + ":" + line.group(3), line.group(1), holding, lock.group(3));
    }

    /** @return the places in the answer of the tool {@code hot_spots} */
    static List<Spot> ofHotSpots(List<String> lines) {
        List<Spot> spots = new ArrayList<>();
        for (String text : lines) {
            Matcher line = HOT_SPOT.matcher(text);
            if (line.matches()) {
                addHotSpot(line, spots);
            }
        }
        return spots;
    }

    private static void addHotSpot(Matcher line, List<Spot> spots) {
        Matcher lock = HOT_LOCK.matcher(line.group(4));
        boolean isLocked = lock.matches();
        String file = line.group(2).replaceFirst("\\$.*", "") + ".java";
        Matcher state = HOT_STATE.matcher(line.group(1));
        while (state.find()) {
            boolean isBlocked = isLocked && state.group(1).equals("blocked");
            spots.add(new Spot(
                    file + ":" + line.group(3),
                    state.group(1).replace("io", "I/O"),
                    isBlocked ? lock.group(1) : null,
                    isBlocked ? lock.group(2) : null));
        }
    }
}

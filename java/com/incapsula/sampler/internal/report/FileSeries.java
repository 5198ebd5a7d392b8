// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.report;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Files in one folder whose names have a time, a running number or a process in them, and a limit to how many stay. The
 * number in the name, else the time in it, says which file is newer: not the file system, whose times can be changed.
 * The file system's times decide if the names have neither.
 *
 * <p>Threads: one at a time.
 */
public final class FileSeries {

    private static final DateTimeFormatter TIME =
            DateTimeFormatter.ofPattern("yyyyMMdd-HHmmss'Z'", Locale.ROOT).withZone(ZoneOffset.UTC);
    private static final String TIME_PATTERN = "(?<time>\\d{8}-\\d{6}Z)(?:-(?<again>\\d{1,9}))?";
    private static final String NUMBER_PATTERN = "(?<number>\\d{1,18})";
    private static final String PROCESS_PATTERN = "(?<process>\\d{1,10})";
    private static final int MAX_IN_ONE_SECOND = 10_000;
    private static final FileTime START = FileTime.fromMillis(0);
    private static final Duration LEFTOVER_AGE = Duration.ofDays(1);

    /* More than any file system takes, and the time to compile an expression grows with the square of its length. */
    private static final int MAX_NAME_CHARS = 255;

    private final String pattern;
    private final Path folder;
    private final String name; // the last part of the pattern
    private final boolean timed;
    private final boolean numbered;
    private final boolean perProcess;
    private final Pattern names;

    /* A folder or a link counts too: its name is not free. */
    private record Found(Path name, String process, long number, String time, long again) {}

    /**
     * A series of files, some of which may exist.
     *
     * @param pattern a path with %t, %n, %p, %h and %% in its last part, and with %p and %h in its folders
     * @throws IllegalArgumentException if it is null, blank or wrong
     */
    public FileSeries(String pattern) {
        if (pattern == null || pattern.isBlank()) {
            throw new IllegalArgumentException("file must not be " + (pattern == null ? "null" : "blank"));
        }
        this.pattern = pattern;
        Path path = path(pattern).toAbsolutePath();
        Path parent = path.getParent();
        if (path.getFileName() == null || parent == null || pattern.endsWith("/") || Files.isDirectory(path)) {
            throw new IllegalArgumentException("file must name a file, got " + pattern);
        }
        name = path.getFileName().toString();
        if (name.replace("%%", "%").length() > MAX_NAME_CHARS) {
            throw new IllegalArgumentException(
                    "file must have a name of at most " + MAX_NAME_CHARS + " characters, got " + name.length());
        }
        folder = Path.of(FileNames.expand(folder(parent, pattern).toString()));
        names = Pattern.compile(regex());
        timed = names.pattern().contains(TIME_PATTERN);
        numbered = names.pattern().contains(NUMBER_PATTERN);
        perProcess = names.pattern().contains(PROCESS_PATTERN);
    }

    private static Path path(String pattern) {
        try {
            return Path.of(pattern);
        } catch (InvalidPathException e) {
            throw new IllegalArgumentException("file must be a path, got " + pattern + ": " + e.getReason(), e);
        }
    }

    private static Path folder(Path parent, String pattern) {
        String plain = parent.toString().replace("%%", "");
        if (plain.contains("%t") || plain.contains("%n")) {
            throw new IllegalArgumentException("file must have %t and %n in the file's own name only, got " + pattern);
        }
        return parent;
    }

    @SuppressWarnings("IncrementInForLoopAndHeader") // a percent sign takes the character behind it
    private String regex() {
        StringBuilder regex = new StringBuilder();
        StringBuilder plain = new StringBuilder();
        for (int i = 0; i < name.length(); i++) {
            if (name.charAt(i) != '%') {
                plain.append(name.charAt(i));
                continue;
            }
            i++;
            String part = i == name.length() ? "" : name.substring(i, i + 1);
            String meaning = meaning(part);
            if (!meaning.isEmpty() && regex.indexOf(meaning) >= 0) {
                throw new IllegalArgumentException("file must have %" + part + " once, got " + pattern);
            }
            if (meaning.isEmpty()) {
                plain.append(part.equals("h") ? FileNames.host() : "%");
            } else {
                regex.append(quoteAndClear(plain)).append(meaning);
            }
        }
        return regex.append(quoteAndClear(plain)).toString();
    }

    /** @return empty for the host, and a percent sign itself */
    private String meaning(String part) {
        return switch (part) {
            case "t" -> TIME_PATTERN;
            case "n" -> NUMBER_PATTERN;
            case "p" -> PROCESS_PATTERN;
            case "h", "%" -> "";
            default ->
                throw new IllegalArgumentException(
                        "file may have %t, %n, %p, %h and %%, not %" + part + ", got " + pattern);
        };
    }

    private static String quoteAndClear(StringBuilder plain) {
        String quoted = plain.length() == 0 ? "" : Pattern.quote(plain.toString());
        plain.setLength(0);
        return quoted;
    }

    /**
     * The pattern of the names.
     *
     * @return as it was given
     */
    public String pattern() {
        return pattern;
    }

    /**
     * Writes the next file; makes its folder if that is missing.
     *
     * @param till its time
     * @param content its content
     * @return the file
     * @throws IOException with the file's name and the reason
     */
    public Path write(Instant till, Content content) throws IOException {
        makeFolder();
        if (timed || numbered) {
            return WholeFile.writeNew(folder, taken -> next(till, taken), content);
        }
        Path file = folder.resolve(next(till, Set.of()));
        WholeFile.write(file, content);
        return file;
    }

    /**
     * Makes sure that files could be written: makes the folder, and a file in it, which is removed. Removes what a JVM that
     * was killed while it wrote a file of this series has left.
     *
     * @throws IOException with the reason
     */
    public void check() throws IOException {
        makeFolder();
        Set<String> taken = removeLeftovers();
        WholeFile.check(folder.resolve(next(Instant.now(), taken)));
    }

    /* Old ones only: another process may be writing a new one. @return the names in the folder before */
    private Set<String> removeLeftovers() {
        Instant old = Instant.now().minus(LEFTOVER_AGE);
        try (OpenFolder open = OpenFolder.open(folder)) {
            Set<String> all = open.names();
            for (String name : all) {
                String target = WholeFile.targetOf(name);
                if (target != null && names.matcher(target).matches() && isOlder(open, Path.of(name), old)) {
                    open.delete(Path.of(name));
                }
            }
            return all;
        } catch (IOException later) {
            return Set.of(); // leftovers do no harm until the next start
        }
    }

    private static boolean isOlder(OpenFolder open, Path name, Instant time) throws IOException {
        BasicFileAttributes found = open.attributes(name, LinkOption.NOFOLLOW_LINKS);
        return found != null && found.lastModifiedTime().toInstant().isBefore(time);
    }

    private void makeFolder() throws IOException {
        try {
            Folders.make(folder);
        } catch (IOException e) {
            throw new IOException("cannot make the folder " + folder + ": " + e, e);
        }
    }

    private String next(Instant till, Set<String> taken) throws IOException {
        String time = TIME.format(till);
        String number = numbered ? String.valueOf(highest(taken) + 1) : "";
        String next = nameOf(time, number);
        for (int i = 2; timed && !numbered && taken.contains(next); i++) {
            if (i > MAX_IN_ONE_SECOND) {
                throw new IOException("too many files of one second: " + next);
            }
            next = nameOf(time + "-" + i, number);
        }
        return next;
    }

    private String nameOf(String time, String number) {
        StringBuilder made = new StringBuilder();
        for (int i = 0; i < name.length(); i++) {
            char c = name.charAt(i);
            if (c == '%') {
                i++;
                char part = name.charAt(i);
                made.append(
                        switch (part) {
                            case 't' -> time;
                            case 'n' -> number;
                            case 'p' -> FileNames.ownProcess();
                            case 'h' -> FileNames.host();
                            default -> "%";
                        });
            } else {
                made.append(c);
            }
        }
        return made.toString();
    }

    private long highest(Set<String> taken) {
        return all(taken).stream().mapToLong(Found::number).max().orElse(0);
    }

    /** @return those of this series, in no order */
    private List<Found> all(Set<String> fileNames) {
        List<Found> all = new ArrayList<>();
        for (String each : fileNames) {
            Matcher matcher = names.matcher(each);
            if (matcher.matches()) {
                all.add(found(Path.of(each), matcher));
            }
        }
        return all;
    }

    private Found found(Path fileName, Matcher matcher) {
        String again = timed ? matcher.group("again") : null;
        return new Found(
                fileName,
                perProcess ? matcher.group("process") : "",
                numbered ? Long.parseLong(matcher.group("number")) : 0,
                timed ? matcher.group("time") : "",
                again == null ? 0 : Long.parseLong(again));
    }

    /**
     * Removes the oldest files. Does nothing if the pattern has neither %t nor %n nor %p. Files of processes that have ended
     * count, or restarts would fill the disk; those of others that run are theirs to remove.
     *
     * @param newest the file that was written last. It stays, also where others have a later time in their names: clocks are
     *     set back
     * @param maxFiles how many may stay
     * @param maxTotalBytes how large they may be together
     * @throws IOException what went wrong first; all others were tried
     */
    public void removeOld(Path newest, int maxFiles, long maxTotalBytes) throws IOException {
        if (!timed && !numbered && !perProcess) {
            return;
        }
        try (OpenFolder open = OpenFolder.open(folder)) {
            removeOld(open, newest.getFileName(), maxFiles, maxTotalBytes);
        }
    }

    private void removeOld(OpenFolder open, Path newest, int maxFiles, long maxTotalBytes) throws IOException {
        List<Found> newestFirst = all(open.names());
        newestFirst.removeIf(found -> isOfAnother(found.process()));
        Map<Path, FileTime> changed = timed || numbered ? Map.of() : changed(open, newestFirst);
        Comparator<Found> byName = Comparator.comparingLong(Found::number)
                .thenComparing(Found::time)
                .thenComparingLong(Found::again)
                .thenComparing(found -> changed.getOrDefault(found.name(), START));
        newestFirst.sort(
                Comparator.<Found, Boolean>comparing(found -> found.name().equals(newest))
                        .thenComparing(byName)
                        .reversed());
        long bytesLeft = maxTotalBytes;
        @Nullable IOException first = null;
        boolean full = false;
        int seen = 0;
        for (Found each : newestFirst) {
            BasicFileAttributes found = open.attributes(each.name(), LinkOption.NOFOLLOW_LINKS);
            if (found == null || !found.isRegularFile()) {
                continue;
            }
            full = full || seen >= maxFiles || found.size() > bytesLeft;
            bytesLeft -= found.size();
            if (full && seen > 0) {
                first = delete(open, each.name(), first);
            }
            seen++;
        }
        if (first != null) {
            throw first;
        }
    }

    private static boolean isOfAnother(String process) {
        return !process.isEmpty()
                && !process.equals(FileNames.ownProcess())
                && ProcessHandle.of(Long.parseLong(process)).isPresent();
    }

    private static Map<Path, FileTime> changed(OpenFolder open, List<Found> files) throws IOException {
        Map<Path, FileTime> times = new HashMap<>();
        for (Found each : files) {
            BasicFileAttributes found = open.attributes(each.name(), LinkOption.NOFOLLOW_LINKS);
            if (found != null) {
                times.put(each.name(), found.lastModifiedTime());
            }
        }
        return times;
    }

    private static @Nullable IOException delete(OpenFolder open, Path name, @Nullable IOException first) {
        try {
            open.delete(name);
            return first;
        } catch (IOException e) {
            return first == null ? e : first;
        }
    }
}

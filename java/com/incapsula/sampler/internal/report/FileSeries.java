// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.report;

import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Files in one folder whose names have a time or a running number in them, and a limit to how many stay. The number in
 * the name, else the time in it, says which file is newer: not the file system, whose times can be changed.
 *
 * <p>Threads: one at a time.
 */
public final class FileSeries {

    private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("yyyyMMdd-HHmmss", Locale.ROOT);
    private static final String TIME_PATTERN = "(?<time>\\d{8}-\\d{6})(?:-(?<again>\\d{1,9}))?";
    private static final String NUMBER_PATTERN = "(?<number>\\d{1,18})";
    private static final int MAX_IN_ONE_SECOND = 10_000;
    private static final Duration LEFTOVER_AGE = Duration.ofDays(1);

    private final String pattern;
    private final Path folder;
    private final String name; // the last part of the pattern
    private final boolean timed;
    private final boolean numbered;
    private final Pattern names;

    /* A folder or a link counts too: its name is not free. */
    private record Found(Path file, long number, String time, long again) {}

    /**
     * A series of files, some of which may exist.
     *
     * @param pattern a path with %t, %n and %% in its last part
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
        folder = folder(parent, pattern);
        names = Pattern.compile(regex());
        timed = names.pattern().contains(TIME_PATTERN);
        numbered = names.pattern().contains(NUMBER_PATTERN);
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
                plain.append('%');
            } else {
                regex.append(quoteAndClear(plain)).append(meaning);
            }
        }
        return regex.append(quoteAndClear(plain)).toString();
    }

    /** @return empty for a percent sign itself */
    private String meaning(String part) {
        return switch (part) {
            case "t" -> TIME_PATTERN;
            case "n" -> NUMBER_PATTERN;
            case "%" -> "";
            default ->
                throw new IllegalArgumentException("file may have %t, %n and %%, not %" + part + ", got " + pattern);
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
            return WholeFile.writeNew(() -> next(till), content);
        }
        Path file = next(till);
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
        removeLeftovers();
        WholeFile.check(next(Instant.now()));
    }

    /* Old ones only: another process may be writing a new one. */
    private void removeLeftovers() {
        Instant old = Instant.now().minus(LEFTOVER_AGE);
        try (DirectoryStream<Path> files = Files.newDirectoryStream(folder, ".*.tmp")) {
            for (Path file : files) {
                String target = WholeFile.targetOf(file.getFileName().toString());
                if (target != null
                        && names.matcher(target).matches()
                        && Files.getLastModifiedTime(file, LinkOption.NOFOLLOW_LINKS)
                                .toInstant()
                                .isBefore(old)) {
                    Files.deleteIfExists(file);
                }
            }
        } catch (IOException | DirectoryIteratorException later) {
            // they do no harm until the next start
        }
    }

    private void makeFolder() throws IOException {
        try {
            Folders.make(folder);
        } catch (IOException e) {
            throw new IOException("cannot make the folder " + folder + ": " + e, e);
        }
    }

    private Path next(Instant till) throws IOException {
        String time = TIME.format(till.atZone(ZoneId.systemDefault())); // applications set their zone late
        String number = numbered ? String.valueOf(highest() + 1) : "";
        Path file = folder.resolve(nameOf(time, number));
        for (int i = 2; timed && !numbered && Files.exists(file, LinkOption.NOFOLLOW_LINKS); i++) {
            if (i > MAX_IN_ONE_SECOND) {
                throw new IOException("too many files of one second: " + file);
            }
            file = folder.resolve(nameOf(time + "-" + i, number));
        }
        return file;
    }

    private String nameOf(String time, String number) {
        StringBuilder made = new StringBuilder();
        for (int i = 0; i < name.length(); i++) {
            char c = name.charAt(i);
            if (c == '%') {
                i++;
                char part = name.charAt(i);
                made.append(part == 't' ? time : part == 'n' ? number : "%");
            } else {
                made.append(c);
            }
        }
        return made.toString();
    }

    private long highest() throws IOException {
        return all().stream().mapToLong(Found::number).max().orElse(0);
    }

    /** @return the files of this series, in no order */
    private List<Found> all() throws IOException {
        List<Found> all = new ArrayList<>();
        try (DirectoryStream<Path> files = Files.newDirectoryStream(folder)) {
            for (Path file : files) {
                Matcher matcher = names.matcher(file.getFileName().toString());
                if (matcher.matches()) {
                    all.add(found(file, matcher));
                }
            }
        }
        return all;
    }

    private Found found(Path file, Matcher matcher) {
        String again = timed ? matcher.group("again") : null;
        return new Found(
                file,
                numbered ? Long.parseLong(matcher.group("number")) : 0,
                timed ? matcher.group("time") : "",
                again == null ? 0 : Long.parseLong(again));
    }

    /**
     * Removes the oldest files. Does nothing if the pattern has neither %t nor %n.
     *
     * @param newest the file that was written last. It stays, also where others have a later time in their names: clocks are
     *     set back, at the end of summer time for one
     * @param maxFiles how many may stay
     * @param maxTotalBytes how large they may be together
     * @throws IOException what went wrong first; all others were tried
     */
    public void removeOld(Path newest, int maxFiles, long maxTotalBytes) throws IOException {
        if (!timed && !numbered) {
            return;
        }
        List<Found> newestFirst = all();
        newestFirst.removeIf(found -> !Files.isRegularFile(found.file(), LinkOption.NOFOLLOW_LINKS));
        Comparator<Found> byName = Comparator.comparingLong(Found::number)
                .thenComparing(Found::time)
                .thenComparingLong(Found::again);
        newestFirst.sort(
                Comparator.<Found, Boolean>comparing(found -> found.file().equals(newest))
                        .thenComparing(byName)
                        .reversed());
        long bytesLeft = maxTotalBytes;
        @Nullable IOException first = null;
        boolean full = false;
        for (int i = 0; i < newestFirst.size(); i++) {
            Path file = newestFirst.get(i).file();
            long bytes = file.toFile().length(); // 0 if it was removed meanwhile
            full = full || i >= maxFiles || bytes > bytesLeft;
            bytesLeft -= bytes;
            if (full && i > 0) {
                first = delete(file, first);
            }
        }
        if (first != null) {
            throw first;
        }
    }

    private static @Nullable IOException delete(Path file, @Nullable IOException first) {
        try {
            Files.deleteIfExists(file);
            return first;
        } catch (IOException e) {
            return first == null ? e : first;
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.report;

import com.incapsula.sampler.internal.options.Values;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Files in one folder, whose names contain a time, a running number or a process. The oldest files are removed. The
 * number in the name determines which file is newer, else the time in the name. The file system's times, which can be
 * changed, are used only if the names have neither.
 *
 * <p>Threads: one at a time.
 */
public final class FileSeries {

    private static final int DATE_DIGITS = 8;
    private static final int TIME_DIGITS = 6;
    private static final int MAX_AGAIN_DIGITS = 9;
    private static final int MAX_NUMBER_DIGITS = 18;
    private static final int MAX_PROCESS_DIGITS = 10;
    private static final int MAX_IN_ONE_SECOND = 10_000;
    private static final long LEFTOVER_MILLIS = 24 * 3600 * 1000L;

    private static final int MAX_NAME_CHARS = 255; // the limit of common file systems

    private final String pattern;
    private final Path folder;
    private final String name; // the last part of the pattern, with the host's name instead of %h
    private final boolean timed;
    private final boolean numbered;
    private final boolean perProcess;

    /**
     * A file, a folder or a link whose name matches the pattern. The order is from the newest to the oldest.
     *
     * @param isLast whether it was written last
     * @param changed the time of its last change, if the name has neither time nor number; else 0
     */
    private record Found(Path name, NameParts parts, boolean isLast, long changed) implements Comparable<Found> {

        @Override
        public int compareTo(Found other) {
            if (isLast != other.isLast) {
                return isLast ? -1 : 1;
            }
            int order = parts.compareTo(other.parts);
            return order != 0 ? -order : Long.compare(other.changed, changed);
        }
    }

    /** The data in the name of a file. */
    private static final class NameParts implements Comparable<NameParts> {

        private String process = "";
        private long number;
        private String time = "";
        private long again;

        /** Greater for newer files. */
        @Override
        public int compareTo(NameParts other) {
            int order = Long.compare(number, other.number);
            order = order != 0 ? order : time.compareTo(other.time);
            return order != 0 ? order : Long.compare(again, other.again);
        }
    }

    /**
     * Creates a series; some of its files may exist.
     *
     * @param pattern a path with %t, %n, %p, %h and %% in its last part, and with %p and %h in its folders
     * @throws IllegalArgumentException if it is null, blank or wrong
     */
    public FileSeries(String pattern) {
        this.pattern = Values.notBlank("file", pattern);
        Path path = path(pattern).toAbsolutePath();
        Path parent = path.getParent();
        if (path.getFileName() == null || parent == null || pattern.endsWith("/") || Files.isDirectory(path)) {
            throw new IllegalArgumentException("file must name a file, got " + pattern);
        }
        String last = path.getFileName().toString();
        if (last.replace("%%", "%").length() > MAX_NAME_CHARS) {
            throw new IllegalArgumentException(
                    "file must have a name of at most " + MAX_NAME_CHARS + " characters, got " + last.length());
        }
        folder = Path.of(FileNames.expand(folder(parent, pattern).toString()));
        timed = hasOnce(last, 't');
        numbered = hasOnce(last, 'n');
        perProcess = hasOnce(last, 'p');
        name = withHost(last);
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

    /** @throws IllegalArgumentException if the letter occurs twice, or if there is a letter without a meaning */
    private boolean hasOnce(String last, char letter) {
        int count = 0;
        for (int at = last.indexOf('%'); at >= 0; at = last.indexOf('%', at + 2)) {
            String part = last.substring(at + 1, Math.min(at + 2, last.length()));
            if (part.isEmpty() || "tnph%".indexOf(part) < 0) {
                throw new IllegalArgumentException(
                        "file may have %t, %n, %p, %h and %%, not %" + part + ", got " + pattern);
            }
            count += part.charAt(0) == letter ? 1 : 0;
        }
        if (count > 1) {
            throw new IllegalArgumentException("file must have %" + letter + " once, got " + pattern);
        }
        return count == 1;
    }

    private static String withHost(String last) {
        StringBuilder made = new StringBuilder();
        int from = 0;
        for (int at = last.indexOf('%'); at >= 0; at = last.indexOf('%', from)) {
            boolean isHost = last.charAt(at + 1) == 'h';
            made.append(last, from, isHost ? at : at + 2).append(isHost ? FileNames.host() : "");
            from = at + 2;
        }
        return made.append(last, from, last.length()).toString();
    }

    /** @return the data in the file's name, or null if it does not match the pattern */
    private @Nullable NameParts read(String file) {
        NameParts parts = new NameParts();
        return matches(0, file, 0, parts) ? parts : null;
    }

    /* Whether the rest of a name matches the rest of the pattern. A number takes as many digits as possible. */
    private boolean matches(int at, String file, int from, NameParts into) {
        int percent = name.indexOf('%', at);
        int plain = (percent < 0 ? name.length() : percent) - at;
        if (!file.startsWith(name.substring(at, at + plain), from)) {
            return false;
        }
        int begin = from + plain;
        if (percent < 0) {
            return begin == file.length();
        }
        int next = percent + 2;
        return switch (name.charAt(percent + 1)) {
            case 't' -> matchesTime(next, file, begin, into);
            case 'n' -> matchesNumber(next, file, begin, into);
            case 'p' -> matchesProcess(next, file, begin, into);
            default -> file.startsWith("%", begin) && matches(next, file, begin + 1, into);
        };
    }

    private boolean matchesTime(int next, String file, int begin, NameParts into) {
        int dash = begin + DATE_DIGITS;
        int end = dash + 1 + TIME_DIGITS;
        if (digits(file, begin, DATE_DIGITS) < DATE_DIGITS
                || !file.startsWith("-", dash)
                || digits(file, dash + 1, TIME_DIGITS) < TIME_DIGITS
                || !file.startsWith("Z", end)) {
            return false;
        }
        end++;
        into.time = file.substring(begin, end);
        int most = file.startsWith("-", end) ? digits(file, end + 1, MAX_AGAIN_DIGITS) : 0;
        for (int digits = most; digits > 0; digits--) {
            if (matches(next, file, end + 1 + digits, into)) {
                into.again = Long.parseLong(file.substring(end + 1, end + 1 + digits));
                return true;
            }
        }
        return matches(next, file, end, into);
    }

    private boolean matchesNumber(int next, String file, int begin, NameParts into) {
        for (int digits = digits(file, begin, MAX_NUMBER_DIGITS); digits > 0; digits--) {
            if (matches(next, file, begin + digits, into)) {
                into.number = Long.parseLong(file.substring(begin, begin + digits));
                return true;
            }
        }
        return false;
    }

    private boolean matchesProcess(int next, String file, int begin, NameParts into) {
        for (int digits = digits(file, begin, MAX_PROCESS_DIGITS); digits > 0; digits--) {
            if (matches(next, file, begin + digits, into)) {
                into.process = file.substring(begin, begin + digits);
                return true;
            }
        }
        return false;
    }

    /** @return the number of digits from an index on, up to a limit */
    private static int digits(String text, int from, int most) {
        int count = 0;
        while (count < most && from + count < text.length()) {
            char c = text.charAt(from + count);
            if (c < '0' || c > '9') {
                break;
            }
            count++;
        }
        return count;
    }

    /** {@return the pattern of the names, as it was passed} */
    public String pattern() {
        return pattern;
    }

    /**
     * Writes the next file; creates its folder if it is missing.
     *
     * @param till the time for its name
     * @throws IOException with the file's name and the reason
     */
    public Path write(Instant till, Writable content) throws IOException {
        makeFolder();
        if (timed || numbered) {
            return WholeFile.writeNew(folder, new NextName(till), content);
        }
        Path file = folder.resolve(next(till.getEpochSecond(), Set.of()));
        WholeFile.write(file, content);
        return file;
    }

    /** Chooses the name of the next file. A class instead of a lambda, which an exiting JVM would link. */
    private final class NextName implements WholeFile.Names {

        private final Instant till;

        NextName(Instant till) {
            this.till = till;
        }

        @Override
        public String choose(Set<String> taken) throws IOException {
            return next(till.getEpochSecond(), taken);
        }
    }

    /**
     * Checks that files can be written: creates the folder, and a file in it, which is removed. Also removes temporary
     * files that a killed JVM has left while it wrote a file of this series.
     *
     * @throws IOException with the reason
     */
    public void check() throws IOException {
        makeFolder();
        Set<String> taken = removeLeftovers();
        WholeFile.check(folder.resolve(next(System.currentTimeMillis() / 1000, taken)));
    }

    /* Removes only old ones, because another process may be writing a new one. Returns the names in the folder
     * before. */
    private Set<String> removeLeftovers() {
        long old = System.currentTimeMillis() - LEFTOVER_MILLIS;
        try (OpenFolder open = OpenFolder.open(folder)) {
            Set<String> all = open.names();
            for (String name : all) {
                String target = WholeFile.targetOf(name);
                if (target != null && read(target) != null && isOlder(open, Path.of(name), old)) {
                    open.delete(Path.of(name));
                }
            }
            return all;
        } catch (IOException later) {
            return Set.of(); // leftovers do no harm; the next start removes them
        }
    }

    private static boolean isOlder(OpenFolder open, Path name, long millis) throws IOException {
        BasicFileAttributes found = open.attributes(name, LinkOption.NOFOLLOW_LINKS);
        return found != null && found.lastModifiedTime().toMillis() < millis;
    }

    private void makeFolder() throws IOException {
        try {
            Folders.make(folder);
        } catch (IOException e) {
            throw new IOException("cannot make the folder " + folder + ": " + e, e);
        }
    }

    private String next(long till, Set<String> taken) throws IOException {
        String time = UtcTime.of(till).compact();
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
                            default -> "%";
                        });
            } else {
                made.append(c);
            }
        }
        return made.toString();
    }

    private long highest(Set<String> taken) {
        long highest = 0;
        for (String each : taken) {
            NameParts parts = read(each);
            highest = parts == null ? highest : Math.max(highest, parts.number);
        }
        return highest;
    }

    /**
     * Removes the oldest files. Does nothing if the pattern has neither %t nor %n nor %p. Files of ended processes
     * count, or restarts would fill the disk; running processes remove their own files.
     *
     * @param newest the file that was written last. It is kept even if others have a later time in their names, because
     *     clocks may be set back
     * @param maxFiles the number of files to keep
     * @param maxTotalBytes the limit of their total size
     * @throws IOException the first failure; removal of the other files was tried, too
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
        long bytesLeft = maxTotalBytes;
        @Nullable IOException first = null;
        boolean full = false;
        int seen = 0;
        for (Found each : newestFirst(open, newest)) {
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

    /** @return the files of this series that belong to no other running process */
    private List<Found> newestFirst(OpenFolder open, Path newest) throws IOException {
        List<Found> all = new ArrayList<>();
        String own = FileNames.ownProcess();
        for (String each : open.names()) {
            NameParts parts = read(each);
            if (parts != null && (parts.process.equals(own) || !isOfAnother(parts.process))) {
                Path file = Path.of(each);
                all.add(new Found(file, parts, file.equals(newest), timed || numbered ? 0 : changed(open, file)));
            }
        }
        Collections.sort(all);
        return all;
    }

    private static boolean isOfAnother(String process) {
        return !process.isEmpty() && Files.exists(Path.of("/proc/" + Long.parseLong(process) + "/stat"));
    }

    private static long changed(OpenFolder open, Path file) throws IOException {
        BasicFileAttributes found = open.attributes(file, LinkOption.NOFOLLOW_LINKS);
        return found == null ? 0 : found.lastModifiedTime().to(TimeUnit.NANOSECONDS);
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

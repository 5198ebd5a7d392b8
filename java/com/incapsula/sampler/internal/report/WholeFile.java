// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.report;

import java.io.BufferedOutputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.concurrent.ThreadLocalRandom;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A file that readers see whole or not at all: it is written under another name in the same folder and then renamed. A
 * failure leaves nothing behind, and an older file of that name as it was.
 *
 * <p>It is written through a stream, not a channel: an interrupt of the thread would close a channel.
 */
public final class WholeFile {

    private static final int BUFFER_BYTES = 64 * 1024;
    private static final int MAX_TRIES = 100;
    private static final Pattern TEMPORARY = Pattern.compile("\\.(.+)\\.[0-9a-f]{1,16}\\.tmp");

    private WholeFile() {}

    /**
     * Writes a file, with the permissions any new file has.
     *
     * @param file its name; the folder must be there
     * @param content writes it
     * @throws IOException with the file's name and the reason; also if a device or a pipe has the name
     */
    public static void write(Path file, Content content) throws IOException {
        Path target = file.toAbsolutePath();
        try {
            requireReplaceable(target);
            Path temporary = makeTemporary(target);
            try {
                fill(temporary, content);
                Files.move(temporary, target, StandardCopyOption.ATOMIC_MOVE);
            } finally {
                Files.deleteIfExists(temporary);
            }
        } catch (IOException e) {
            throw new IOException("cannot write " + target + ": " + IoReason.of(e), e);
        }
    }

    /** Names for a new file, one after the other. */
    @FunctionalInterface
    interface Names {

        /** @return the first one that no file has now */
        Path next() throws IOException;
    }

    /**
     * Writes a file that replaces none, with the permissions any new file has. Where another process, or another sampler,
     * takes the name meanwhile, this one gets the next.
     *
     * @param names gives names in one folder, which must be there
     * @param content writes it
     * @return the file
     * @throws IOException with the file's name and the reason
     */
    static Path writeNew(Names names, Content content) throws IOException {
        Path target = names.next().toAbsolutePath();
        try {
            Path temporary = makeTemporary(target);
            try {
                fill(temporary, content);
                for (int i = 1; !place(temporary, target); i++) {
                    if (i == MAX_TRIES) {
                        throw new FileAlreadyExistsException(target.toString());
                    }
                    target = names.next().toAbsolutePath();
                }
                return target;
            } finally {
                Files.deleteIfExists(temporary);
            }
        } catch (IOException e) {
            throw new IOException("cannot write " + target + ": " + IoReason.of(e), e);
        }
    }

    /* A second name, because a rename would replace what has it. @return false: it is taken */
    private static boolean place(Path temporary, Path target) throws IOException {
        try {
            Files.createLink(target, temporary);
            return true;
        } catch (FileAlreadyExistsException taken) {
            return false;
        } catch (IOException | UnsupportedOperationException noSecondNames) { // some file systems have none
            requireReplaceable(target);
            Files.move(temporary, target, StandardCopyOption.ATOMIC_MOVE);
            return true;
        }
    }

    /**
     * Makes sure that {@link #write} of such a file could begin: makes its temporary file, and removes it.
     *
     * @param file its name; the folder must be there
     * @throws IOException the message is the reason
     */
    static void check(Path file) throws IOException {
        Path target = file.toAbsolutePath();
        try {
            requireReplaceable(target);
            Files.deleteIfExists(makeTemporary(target));
        } catch (IOException e) {
            throw new IOException(IoReason.of(e), e);
        }
    }

    private static void requireReplaceable(Path target) throws IOException {
        if (Files.isDirectory(target)) {
            throw new IOException("it is a folder");
        }
        if (Files.exists(target) && !Files.isRegularFile(target)) {
            /* Renaming would replace /dev/stdout or /dev/null for the superuser. */
            throw new IOException("it is not a regular file and cannot be replaced");
        }
    }

    private static Path makeTemporary(Path target) throws IOException {
        for (int i = 1; ; i++) {
            String name = "." + target.getFileName() + "."
                    + Long.toHexString(ThreadLocalRandom.current().nextLong()) + ".tmp";
            try {
                return Files.createFile(target.resolveSibling(name));
            } catch (FileAlreadyExistsException taken) {
                if (i == MAX_TRIES) {
                    throw taken;
                }
            }
        }
    }

    /** @return the name of the file that a temporary one of this name becomes, or null: it is no such name */
    static @Nullable String targetOf(String name) {
        Matcher matcher = TEMPORARY.matcher(name);
        return matcher.matches() ? matcher.group(1) : null;
    }

    private static void fill(Path temporary, Content content) throws IOException {
        try (OutputStream out = new BufferedOutputStream(new FileOutputStream(temporary.toFile()), BUFFER_BYTES)) {
            content.writeTo(out);
        }
    }
}

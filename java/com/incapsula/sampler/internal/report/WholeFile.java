// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.report;

import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.nio.channels.Channels;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileAttribute;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/**
 * A file that readers see as a whole or not at all: it is written under a temporary name in the same folder and then
 * renamed. A failure leaves no file behind, and does not change an older file of that name. The folder may belong to
 * another user, see {@link OpenFolder}.
 *
 * <p>An interrupt of the thread closes the file that is being written; it is then written again.
 */
public final class WholeFile {

    private static final int BUFFER_BYTES = 64 * 1024;
    private static final int MAX_TRIES = 100;
    private static final String RESERVED = "0"; // in place of a random number
    private static final String END = ".tmp";
    private static final int MAX_DIGITS = 16;

    private WholeFile() {}

    /**
     * Writes a file with default permissions.
     *
     * @param file its path; the folder must exist
     * @param content writes it; called again after an interrupt
     * @throws IOException with the file's name and the reason; also if a device or a pipe has the name
     */
    public static void write(Path file, Writable content) throws IOException {
        Path target = file.toAbsolutePath();
        try (OpenFolder folder = openFolderOf(target)) {
            replace(folder, nameOf(target), content);
        } catch (IOException e) {
            throw failure(target, e);
        }
    }

    /**
     * Writes a file into an open folder.
     *
     * @param name of the file; an existing file is replaced
     * @param content writes it; called again after an interrupt
     * @param attributes of the file
     * @throws IOException also if a device or a pipe has the name
     */
    public static void replace(OpenFolder folder, Path name, Writable content, FileAttribute<?>... attributes)
            throws IOException {
        requireReplaceable(folder, name);
        Path temporary = temporary(name, random());
        for (int i = 1; !fill(folder, temporary, content, attributes); i++) {
            requireTry(i, temporary);
            temporary = temporary(name, random());
        }
        try {
            folder.rename(temporary, name);
        } finally {
            folder.delete(temporary);
        }
    }

    /** Chooses names for a new file. */
    @FunctionalInterface
    interface Names {

        /** Chooses a name. Taken are names in the folder, and final names of files that are being written. */
        String choose(Set<String> taken) throws IOException;
    }

    /**
     * Writes a file with default permissions, without replacing another one. While it is written, its temporary name
     * reserves the final name against other processes and samplers.
     *
     * @param path the folder, which must exist
     * @param names chooses the file's name
     * @param content writes it; called again after an interrupt
     * @throws IOException with the file's name and the reason
     */
    static Path writeNew(Path path, Names names, Writable content) throws IOException {
        Path target = path;
        try (OpenFolder folder = OpenFolder.open(path)) {
            for (int i = 1; ; i++) {
                Path name = Path.of(names.choose(taken(folder)));
                target = path.resolve(name);
                if (placeNew(folder, name, content)) {
                    return target;
                }
                requireTry(i, target);
            }
        } catch (IOException e) {
            throw failure(target, e);
        }
    }

    private static Set<String> taken(OpenFolder folder) throws IOException {
        Set<String> taken = folder.names();
        for (String name : List.copyOf(taken)) {
            String target = targetOf(name);
            if (target != null) {
                taken.add(target);
            }
        }
        return taken;
    }

    /* Returns false if another file has taken the name meanwhile. */
    private static boolean placeNew(OpenFolder folder, Path name, Writable content) throws IOException {
        Path temporary = temporary(name, RESERVED);
        if (!fill(folder, temporary, content)) {
            return false;
        }
        try {
            boolean isFree = folder.attributes(name, LinkOption.NOFOLLOW_LINKS) == null;
            if (isFree) {
                folder.rename(temporary, name);
            }
            return isFree;
        } finally {
            folder.delete(temporary);
        }
    }

    /**
     * Checks that {@link #write} of this file could begin: creates its temporary file and removes it.
     *
     * @param file its path; the folder must exist
     * @throws IOException the message is the reason
     */
    static void check(Path file) throws IOException {
        try (OpenFolder folder = openFolderOf(file)) {
            requireReplaceable(folder, nameOf(file));
            Path temporary = temporary(nameOf(file), random());
            folder.create(temporary).close();
            folder.delete(temporary);
        } catch (IOException e) {
            throw new IOException(IoReason.of(e), e);
        }
    }

    private static IOException failure(Path target, IOException cause) {
        return new IOException("cannot write " + target + ": " + IoReason.of(cause), cause);
    }

    private static OpenFolder openFolderOf(Path file) throws IOException {
        Path parent = file.getParent();
        if (parent == null) {
            throw new IOException("it is a folder");
        }
        return OpenFolder.open(parent);
    }

    private static Path nameOf(Path file) {
        return Objects.requireNonNull(file.getFileName());
    }

    private static void requireReplaceable(OpenFolder folder, Path name) throws IOException {
        BasicFileAttributes found = folder.attributes(name);
        if (found != null && found.isDirectory()) {
            throw new IOException("it is a folder");
        }
        if (found != null && !found.isRegularFile()) {
            /* As the superuser, renaming would replace /dev/stdout or /dev/null. */
            throw new IOException("it is not a regular file and cannot be replaced");
        }
    }

    private static void requireTry(int tries, Path taken) throws IOException {
        if (tries == MAX_TRIES) {
            throw new FileAlreadyExistsException(taken.toString());
        }
    }

    private static String random() {
        return Long.toHexString(ThreadLocalRandom.current().nextLong());
    }

    private static Path temporary(Path name, String number) {
        return Path.of("." + name + "." + number + END);
    }

    /** @return the final name for a temporary name, or null if the name is not temporary */
    static @Nullable String targetOf(String name) {
        int end = name.length() - END.length();
        int dot = name.endsWith(END) ? name.lastIndexOf('.', end - 1) : 0;
        boolean isNumber = end - dot > 1 && end - dot <= MAX_DIGITS + 1;
        for (int i = dot + 1; i < end; i++) {
            isNumber = isNumber && Character.digit(name.charAt(i), 16) >= 0;
        }
        return name.startsWith(".") && dot > 1 && isNumber ? name.substring(1, dot) : null;
    }

    /* Returns false if another file has the name. */
    private static boolean fill(OpenFolder folder, Path temporary, Writable content, FileAttribute<?>... attributes)
            throws IOException {
        boolean wasInterrupted = Thread.interrupted();
        try {
            for (int i = 1; i <= MAX_TRIES; i++) {
                SeekableByteChannel file = create(folder, temporary, attributes);
                if (file == null || fillOrDelete(folder, temporary, file, content)) {
                    return file != null;
                }
                wasInterrupted = Thread.interrupted() || wasInterrupted;
            }
            throw new InterruptedIOException("the thread is interrupted again and again");
        } finally {
            if (wasInterrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private static @Nullable SeekableByteChannel create(
            OpenFolder folder, Path temporary, FileAttribute<?>... attributes) throws IOException {
        try {
            return folder.create(temporary, attributes);
        } catch (FileAlreadyExistsException taken) {
            return null;
        }
    }

    /* Returns false if an interrupt has closed the file. */
    private static boolean fillOrDelete(OpenFolder folder, Path temporary, SeekableByteChannel file, Writable content)
            throws IOException {
        boolean isWhole = false;
        try {
            boolean isFilled = fill(file, content);
            file.close(); // may fail, too
            isWhole = isFilled;
        } finally {
            file.close();
            if (!isWhole) {
                folder.delete(temporary);
            }
        }
        return isWhole;
    }

    private static boolean fill(SeekableByteChannel file, Writable content) throws IOException {
        OutputStream out = new BufferedOutputStream(Channels.newOutputStream(file), BUFFER_BYTES);
        try {
            content.writeTo(out);
            out.flush();
            return true;
        } catch (IOException e) {
            if (file.isOpen()) {
                throw e;
            }
            return false;
        }
    }
}

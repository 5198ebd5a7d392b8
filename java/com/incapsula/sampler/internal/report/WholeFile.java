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
 * A file that readers see whole or not at all: it is written under another name in the same folder and then renamed. A
 * failure leaves nothing behind, and an older file of that name as it was. The folder may belong to another user, see
 * {@link OpenFolder}.
 *
 * <p>An interrupt of the thread closes the file that is being written; it is then written once more.
 */
public final class WholeFile {

    private static final int BUFFER_BYTES = 64 * 1024;
    private static final int MAX_TRIES = 100;
    private static final String RESERVED = "0"; // no random number
    private static final String END = ".tmp";
    private static final int MAX_DIGITS = 16;

    private WholeFile() {}

    /**
     * Writes a file, with the permissions any new file has.
     *
     * @param file its name; the folder must be there
     * @param content writes it; called again after an interrupt
     * @throws IOException with the file's name and the reason; also if a device or a pipe has the name
     */
    public static void write(Path file, Content content) throws IOException {
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
     * @param folder where it goes
     * @param name of the file; one that has it is replaced
     * @param content writes it; called again after an interrupt
     * @param attributes of the file
     * @throws IOException also if a device or a pipe has the name
     */
    public static void replace(OpenFolder folder, Path name, Content content, FileAttribute<?>... attributes)
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

    /** Names for a new file. */
    @FunctionalInterface
    interface Names {

        /**
         * Chooses a name.
         *
         * @param taken names in the folder, and those that files which are being written will have
         */
        String choose(Set<String> taken) throws IOException;
    }

    /**
     * Writes a file that replaces none, with the permissions any new file has. Its temporary name keeps its name from
     * other processes and samplers while it is written.
     *
     * @param path the folder, which must be there
     * @param names chooses the file's name
     * @param content writes it; called again after an interrupt
     * @return the file
     * @throws IOException with the file's name and the reason
     */
    static Path writeNew(Path path, Names names, Content content) throws IOException {
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

    /* False: another one has taken the name meanwhile. */
    private static boolean placeNew(OpenFolder folder, Path name, Content content) throws IOException {
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
     * Makes sure that {@link #write} of such a file could begin: makes its temporary file, and removes it.
     *
     * @param file its name; the folder must be there
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
            /* Renaming would replace /dev/stdout or /dev/null for the superuser. */
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

    /** @return the name of the file that a temporary one of this name becomes, or null: it is no such name */
    static @Nullable String targetOf(String name) {
        int end = name.length() - END.length();
        int dot = name.endsWith(END) ? name.lastIndexOf('.', end - 1) : 0;
        boolean isNumber = end - dot > 1 && end - dot <= MAX_DIGITS + 1;
        for (int i = dot + 1; i < end; i++) {
            isNumber = isNumber && Character.digit(name.charAt(i), 16) >= 0;
        }
        return name.startsWith(".") && dot > 1 && isNumber ? name.substring(1, dot) : null;
    }

    /* False: another file has the name. */
    private static boolean fill(OpenFolder folder, Path temporary, Content content, FileAttribute<?>... attributes)
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

    /* False: an interrupt has closed it. */
    private static boolean fillOrDelete(OpenFolder folder, Path temporary, SeekableByteChannel file, Content content)
            throws IOException {
        boolean isWhole = false;
        try {
            boolean isFilled = fill(file, content);
            file.close(); // it may fail, as all else
            isWhole = isFilled;
        } finally {
            file.close();
            if (!isWhole) {
                folder.delete(temporary);
            }
        }
        return isWhole;
    }

    private static boolean fill(SeekableByteChannel file, Content content) throws IOException {
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

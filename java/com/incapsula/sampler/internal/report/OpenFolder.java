// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.report;

import java.io.Closeable;
import java.io.IOException;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.SecureDirectoryStream;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributeView;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileAttribute;
import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A folder that is held open. The names of its files lead into this folder even if its path leads to another one
 * meanwhile: the user that a part of the path belongs to can exchange that at any moment, for a link as well. A file is
 * always made anew, never opened, so it is no link to a file elsewhere.
 *
 * <p>The path is used where the folder cannot be held: it cannot be read, or the C library lacks the calls.
 *
 * <p>Threads: one at a time.
 */
public final class OpenFolder implements Closeable {

    private static final Set<OpenOption> NEW =
            Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS);

    private final Path path;
    private final @Nullable SecureDirectoryStream<Path> handle;

    private OpenFolder(Path path, @Nullable SecureDirectoryStream<Path> handle) {
        this.path = path;
        this.handle = handle;
    }

    /**
     * Opens a folder.
     *
     * @param path where it is; links are followed
     * @return the folder, which the caller closes
     * @throws IOException if it is not there, or is none
     */
    @SuppressWarnings("StreamResourceLeak") // the folder that is returned closes it
    public static OpenFolder open(Path path) throws IOException {
        try {
            DirectoryStream<Path> opened = Files.newDirectoryStream(path);
            if (opened instanceof SecureDirectoryStream<Path> secure) {
                return new OpenFolder(path, secure);
            }
            opened.close();
        } catch (AccessDeniedException cannotBeRead) {
            // files can be made in it all the same
        }
        return new OpenFolder(path, null);
    }

    /**
     * Makes a file.
     *
     * @param name its name
     * @param attributes of the file
     * @return the file, to be written; an interrupt of the thread closes it
     * @throws java.nio.file.FileAlreadyExistsException if something has the name, a link too
     */
    SeekableByteChannel create(Path name, FileAttribute<?>... attributes) throws IOException {
        return handle != null
                ? handle.newByteChannel(name, NEW, attributes)
                : Files.newByteChannel(path.resolve(name), NEW, attributes);
    }

    /** Renames a file; the new name may be that of another one, which is replaced. */
    void rename(Path from, Path to) throws IOException {
        if (handle != null) {
            handle.move(from, handle, to);
        } else {
            Files.move(path.resolve(from), path.resolve(to), StandardCopyOption.ATOMIC_MOVE);
        }
    }

    /** Removes a file, if there is one. */
    void delete(Path name) throws IOException {
        if (handle == null) {
            Files.deleteIfExists(path.resolve(name));
            return;
        }
        try {
            handle.deleteFile(name);
        } catch (NoSuchFileException gone) {
            // as wanted
        }
    }

    /** @return what the name stands for, or null: nothing has it */
    @Nullable
    BasicFileAttributes attributes(Path name, LinkOption... options) throws IOException {
        try {
            return handle != null
                    ? handle.getFileAttributeView(name, BasicFileAttributeView.class, options)
                            .readAttributes()
                    : Files.readAttributes(path.resolve(name), BasicFileAttributes.class, options);
        } catch (NoSuchFileException none) {
            return null;
        }
    }

    /** @return the names in it, of folders and links too */
    Set<String> names() throws IOException {
        Set<String> names = new HashSet<>();
        try (DirectoryStream<Path> entries = entries()) {
            for (Path entry : entries) {
                names.add(entry.getFileName().toString());
            }
        } catch (DirectoryIteratorException e) {
            throw e.getCause();
        }
        return names;
    }

    /* A stream can be read once only. */
    @SuppressWarnings("StreamResourceLeak") // the caller closes it
    private DirectoryStream<Path> entries() throws IOException {
        return handle != null ? handle.newDirectoryStream(Path.of(".")) : Files.newDirectoryStream(path);
    }

    @Override
    public void close() throws IOException {
        if (handle != null) {
            handle.close();
        }
    }
}

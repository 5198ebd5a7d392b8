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
 * A folder that is held open. The names of its files refer to this folder even if its path changes meanwhile: a user
 * who owns a part of the path can replace that part at any moment, also by a link. A file is always created, never
 * opened, so it cannot be a link to a file elsewhere.
 *
 * <p>If the folder cannot be held open, because it cannot be read or the C library lacks the calls, its path is used.
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
     * @param path the folder; links are followed
     * @return the folder, which the caller closes
     * @throws IOException if it does not exist or is not a folder
     */
    @SuppressWarnings("StreamResourceLeak") // the returned folder closes it
    public static OpenFolder open(Path path) throws IOException {
        try {
            DirectoryStream<Path> opened = Files.newDirectoryStream(path);
            if (opened instanceof SecureDirectoryStream<Path> secure) {
                return new OpenFolder(path, secure);
            }
            opened.close();
        } catch (AccessDeniedException cannotBeRead) {
            // files can be created in it nevertheless
        }
        return byPath(path);
    }

    /** @return the folder, which is not held open */
    static OpenFolder byPath(Path path) {
        return new OpenFolder(path, null);
    }

    /**
     * Creates a file.
     *
     * @param attributes of the file
     * @return the file, open for writing; an interrupt of the thread closes it
     * @throws java.nio.file.FileAlreadyExistsException if the name is taken, also by a link
     */
    SeekableByteChannel create(Path name, FileAttribute<?>... attributes) throws IOException {
        return handle != null
                ? handle.newByteChannel(name, NEW, attributes)
                : Files.newByteChannel(path.resolve(name), NEW, attributes);
    }

    /** Renames a file; replaces a file that has the new name. */
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
            // it is gone already
        }
    }

    /** @return the attributes of the file with this name, or null if there is none */
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

    /** @return all names in the folder, including folders and links */
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

    /* A stream can be read only once. */
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

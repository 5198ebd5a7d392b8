// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.report;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.URISyntaxException;
import java.net.URL;
import java.security.CodeSource;
import java.util.jar.JarFile;
import java.util.zip.CRC32;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import org.jspecify.annotations.Nullable;

/**
 * A file in the library's jar. It is read from the jar's own file: {@link Class#getResourceAsStream} would use a URL,
 * for which a new JVM loads twenty classes, and does not return the checksum that the jar has for the file. If there is
 * no such jar, as for a folder of classes, a runtime image or a jar inside another jar, or if the jar that a class
 * loader names does not have the file, it is read by its URL.
 *
 * <p>Threads: immutable.
 */
public final class Resource implements Writable {

    private final long size;
    private final long crc;
    private final @Nullable File jar; // null: the content is in bytes
    private final String entry;
    private final byte[] bytes;

    private Resource(long size, long crc, @Nullable File jar, String entry, byte... bytes) {
        this.size = size;
        this.crc = crc;
        this.jar = jar;
        this.entry = entry;
        this.bytes = bytes;
    }

    /**
     * Finds a file.
     *
     * @param name its path in the jar, with a slash in front
     * @return the file, or null if there is none
     * @throws IOException if it cannot be read
     */
    public static @Nullable Resource find(String name) throws IOException {
        File jar = ownJar();
        if (jar != null) {
            String entry = name.substring(1);
            try (ZipFile opened = new ZipFile(jar)) {
                ZipEntry found = opened.getEntry(entry);
                if (found != null) {
                    return new Resource(found.getSize(), found.getCrc(), jar, entry);
                }
            }
        }
        try (InputStream in = Resource.class.getResourceAsStream(name)) {
            return in == null ? null : of(in.readAllBytes());
        }
    }

    /**
     * Makes a file of bytes.
     *
     * @param bytes the content; must not be changed afterwards
     * @return a file with this content
     */
    public static Resource of(byte... bytes) {
        CRC32 sum = new CRC32();
        sum.update(bytes, 0, bytes.length);
        return new Resource(bytes.length, sum.getValue(), null, "", bytes);
    }

    private static @Nullable File ownJar() {
        try {
            CodeSource source = Resource.class.getProtectionDomain().getCodeSource();
            URL place = source == null ? null : source.getLocation();
            if (place == null || !place.getProtocol().equals("file")) {
                return null;
            }
            File jar = new File(place.toURI());
            return jar.isFile() ? jar : null;
        } catch (SecurityException | URISyntaxException | IllegalArgumentException unknown) {
            return null; // a security manager, or a class loader with its own kind of URLs
        }
    }

    /** {@return the length of the content, in bytes} */
    public long size() {
        return size;
    }

    /** {@return the CRC-32 of the content} */
    public long crc() {
        return crc;
    }

    /**
     * The content.
     *
     * @return a new array, or the one of {@link #of}
     * @throws IOException if it cannot be read, or was replaced
     */
    public byte[] read() throws IOException {
        if (jar == null) {
            return bytes;
        }
        try (JarFile opened = new JarFile(jar)) { // verifies a signed jar
            ZipEntry found = opened.getEntry(entry);
            if (found == null || found.getCrc() != crc || found.getSize() != size) {
                throw new IOException(jar + " has changed");
            }
            try (InputStream in = opened.getInputStream(found)) {
                byte[] content = in.readAllBytes();
                if (of(content).crc != crc) {
                    throw new IOException(jar + " is damaged: " + entry + " does not have the sum that the jar names");
                }
                return content;
            }
        }
    }

    @Override
    public void writeTo(OutputStream out) throws IOException {
        out.write(read());
    }
}

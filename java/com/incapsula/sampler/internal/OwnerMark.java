// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal;

import java.io.BufferedReader;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Properties;

/**
 * A system property that says which library file this JVM has loaded, for all class loaders to see: two copies of the
 * sampler in one JVM would each have their threads, their handlers and their JVMTI environment.
 *
 * <p>The library takes the mark away when it is unloaded (native/src/jni/onload.c): its file may stay mapped, because of
 * a signal handler. A mark whose file is not mapped is left over all the same, and may be replaced.
 */
final class OwnerMark {

    static final String PROPERTY = "com.incapsula.sampler.owner";

    /** Stands in the mark where the JVM loaded the library itself. */
    static final String AGENT = "-agentpath";

    private final Properties properties;
    private final String memoryMap;

    /**
     * Marks in these properties.
     *
     * @param properties the system properties
     * @param memoryMap the file that lists what is mapped, {@code /proc/self/maps}
     */
    OwnerMark(Properties properties, String memoryMap) {
        this.properties = properties;
        this.memoryMap = memoryMap;
    }

    /**
     * Sets the mark.
     *
     * @param library the library's path, or {@link #AGENT}
     * @throws UnsupportedOperationException if another copy is there
     */
    void claim(String library) {
        String other = properties.getProperty(PROPERTY);
        if (other != null && isLoaded(other)) {
            throw new UnsupportedOperationException("another copy of threads-sampler is loaded in this JVM, by another"
                    + " class loader, from " + other + ": keep one copy, in a class loader that all its users share");
        }
        properties.setProperty(PROPERTY, library);
    }

    /** Takes the mark away after a load that failed. */
    void release() {
        properties.remove(PROPERTY);
    }

    private boolean isLoaded(String library) {
        if (library.equals(AGENT)) {
            return true;
        }
        try (BufferedReader lines = new BufferedReader(
                new InputStreamReader(new FileInputStream(memoryMap), StandardCharsets.UTF_8))) {
            return lines.lines().anyMatch(line -> line.contains(library));
        } catch (IOException unknown) {
            return true;
        }
    }
}

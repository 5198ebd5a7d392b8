// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.testing;

import java.io.File;
import java.lang.ref.WeakReference;
import java.lang.reflect.Field;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Loads the library's classes in one class loader, then in another one, while the first one still exists ({@code both})
 * or after it was collected ({@code first gone}, which needs {@link #OPENED}).
 */
public final class TwoLoadersProgram {

    /** The option that lets the program see when the JDK has unloaded a library. */
    public static final String OPENED = "--add-opens=java.base/jdk.internal.loader=ALL-UNNAMED";

    private TwoLoadersProgram() {}

    /** Runs the program. */
    public static void main(String[] arguments) throws Exception {
        URLClassLoader first = loader();
        run(first);
        if (arguments[0].equals("first gone")) {
            WeakReference<ClassLoader> gone = new WeakReference<>(first);
            first.close();
            first = null;
            boolean isGone = PlainWait.untilCollected(gone) && PlainWait.until(TwoLoadersProgram::isUnloaded);
            System.out.println("first loader gone: " + isGone);
        }
        run(loader());
        System.out.println("first loader: " + (first == null ? "gone" : "there"));
    }

    /*
     * Does no class loader have a library of the temporary folder any more? The JDK unloads the libraries of a class
     * loader some time after that was collected, on a thread of its own, and tells nobody.
     */
    private static boolean isUnloaded() throws Exception {
        Field names = Class.forName("jdk.internal.loader.NativeLibraries").getDeclaredField("loadedLibraryNames");
        names.setAccessible(true);
        Set<?> loaded = (Set<?>) names.get(null);
        try (Stream<Path> files =
                Files.walk(Path.of(System.getProperty("java.io.tmpdir")).toRealPath())) {
            return files.map(Path::toString).noneMatch(loaded::contains);
        }
    }

    private static URLClassLoader loader() throws Exception {
        List<URL> places = new ArrayList<>();
        for (String place : System.getProperty("java.class.path").split(File.pathSeparator)) {
            places.add(Path.of(place).toUri().toURL());
        }
        return new URLClassLoader(places.toArray(URL[]::new), ClassLoader.getPlatformClassLoader());
    }

    private static void run(ClassLoader loader) throws Exception {
        loader.loadClass(AvailabilityProgram.class.getName())
                .getMethod("main", String[].class)
                .invoke(null, (Object) new String[0]);
    }
}

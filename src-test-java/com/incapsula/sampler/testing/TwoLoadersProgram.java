// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.testing;

import java.io.File;
import java.lang.ref.WeakReference;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Loads the library's classes in a class loader of their own, then in another; the second time with the first one
 * still there ({@code both}) or gone ({@code first gone}).
 */
public final class TwoLoadersProgram {

    private TwoLoadersProgram() {}

    /** Runs it. */
    public static void main(String[] arguments) throws Exception {
        URLClassLoader first = loader();
        run(first);
        if (arguments[0].equals("first gone")) {
            WeakReference<ClassLoader> gone = new WeakReference<>(first);
            first.close();
            first = null;
            System.out.println("first loader gone: " + PlainWait.untilCollected(gone));
        }
        run(loader());
        System.out.println("first loader: " + (first == null ? "gone" : "there"));
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

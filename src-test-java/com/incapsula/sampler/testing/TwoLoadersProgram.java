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
 * Loads the library's classes in one class loader, then in another one, while the first one still exists ({@code both})
 * or after it was collected ({@code first gone}).
 */
public final class TwoLoadersProgram {

    private TwoLoadersProgram() {}

    /** Runs the program. */
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

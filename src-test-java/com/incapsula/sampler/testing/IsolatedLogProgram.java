// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.testing;

import java.io.File;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * {@link UnawareProgram} in an application whose log is in a separate class loader, with the jars of the system
 * property {@code libraries}. That class loader is the context class loader of the application's threads.
 */
public final class IsolatedLogProgram {

    private IsolatedLogProgram() {}

    /** Runs the program. */
    public static void main(String[] arguments) throws Exception {
        List<URL> places = new ArrayList<>();
        for (String place : System.getProperty("libraries").split(File.pathSeparator)) {
            places.add(Path.of(place).toUri().toURL());
        }
        Thread.currentThread().setContextClassLoader(new URLClassLoader(places.toArray(URL[]::new)));
        UnawareProgram.main(arguments);
    }
}

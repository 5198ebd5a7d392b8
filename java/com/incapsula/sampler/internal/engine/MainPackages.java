// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.engine;

import java.io.File;
import java.io.IOException;
import java.util.jar.Attributes;
import java.util.jar.JarFile;
import java.util.jar.Manifest;

/**
 * The packages of the program's main class: they are the application's, whatever frameworks have the same prefix. Of a
 * jar these are those of {@code Start-Class}, which Spring Boot's launcher starts, else of {@code Main-Class}.
 *
 * <p>Threads: any; found once, by reading the manifest of the jar that was started.
 */
final class MainPackages {

    private static final String FOUND = findOrNone();

    private MainPackages() {}

    /** @return prefixes, comma-separated; "" where nothing says them */
    static String get() {
        return FOUND;
    }

    /* A security manager may refuse the property, or the jar. */
    static String findOrNone() {
        try {
            return find(System.getProperty("sun.java.command", ""));
        } catch (RuntimeException e) {
            return "";
        }
    }

    /** @param command the main class, {@code module/class} or a jar, and arguments behind a space */
    static String find(String command) {
        String started = jarOf(command);
        if (started.isEmpty()) {
            int end = command.indexOf(' ');
            String main = end < 0 ? command : command.substring(0, end);
            return packageOf(main.substring(main.indexOf('/') + 1));
        }
        try (JarFile jar = new JarFile(started, false)) {
            Manifest manifest = jar.getManifest();
            return manifest == null ? "" : packageOf(classOf(manifest.getMainAttributes()));
        } catch (IOException e) {
            return ""; // no jar that can be read says nothing
        }
    }

    /* The path may have spaces: up to a ".jar" that a file is named by. */
    private static String jarOf(String command) {
        int end = command.indexOf(".jar");
        while (end >= 0) {
            String path = command.substring(0, end + 4);
            if (new File(path).isFile()) {
                return path;
            }
            end = command.indexOf(".jar", end + 1);
        }
        return "";
    }

    private static String classOf(Attributes attributes) {
        String start = attributes.getValue("Start-Class");
        String main = start != null ? start : attributes.getValue(Attributes.Name.MAIN_CLASS);
        return main == null ? "" : main.strip();
    }

    private static String packageOf(String className) {
        int end = className.lastIndexOf('.');
        String name = end < 0 ? "" : className.substring(0, end);
        for (int i = 0; i < name.length(); i++) {
            if (name.charAt(i) != '.' && !Character.isJavaIdentifierPart(name.charAt(i))) {
                return "";
            }
        }
        return name;
    }
}

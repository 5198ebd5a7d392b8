// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.engine;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.util.jar.Attributes;
import java.util.jar.JarFile;
import java.util.jar.Manifest;

/**
 * The package of the program's main class. It belongs to the application, even if a framework has the same prefix. For
 * a jar or war, this is the package of {@code Start-Class}, which Spring Boot's launcher starts, else of
 * {@code Main-Class}.
 *
 * <p>Threads: any; found once, by reading the manifest of the program.
 */
final class MainPackages {

    private static final String LAUNCHERS = "org.springframework.boot.loader";

    private static final int LONGEST_PATH = 4096; // PATH_MAX

    private static final String FOUND = findOrNone();

    private MainPackages() {}

    /** @return a prefix, or "" if it is not known */
    static String get() {
        return FOUND;
    }

    /* A security manager may refuse access to the property or the jar. */
    static String findOrNone() {
        try {
            return find(System.getProperty("sun.java.command", ""));
        } catch (RuntimeException e) {
            return "";
        }
    }

    /** @param command the main class, {@code module/class} or an archive, followed by a space and arguments */
    static String find(String command) {
        String archive = archiveOf(command);
        if (!archive.isEmpty()) {
            return packageStartedBy(archive);
        }
        int end = command.indexOf(' ');
        String main = end < 0 ? command : command.substring(0, end);
        String name = packageOf(main.substring(main.indexOf('/') + 1));
        return name.startsWith(LAUNCHERS) ? packageStartedFrom(ClassLoader.getSystemClassLoader()) : name;
    }

    /* Finds a jar or war. Its path may have spaces, so each prefix that ends at a space is tried. Arguments may have
     * megabytes, so a prefix longer than any path is not tried. */
    private static String archiveOf(String command) {
        int end = 0;
        while (end < command.length()) {
            int space = command.indexOf(' ', end + 1);
            end = space < 0 ? command.length() : space;
            if (end > LONGEST_PATH) {
                return "";
            }
            String path = command.substring(0, end);
            if (new File(path).isFile()) {
                return path;
            }
        }
        return "";
    }

    private static String packageStartedBy(String archive) {
        try (JarFile jar = new JarFile(archive, false)) {
            Manifest manifest = jar.getManifest();
            return manifest == null ? "" : packageOf(classOf(manifest.getMainAttributes()));
        } catch (IOException e) {
            return ""; // an unreadable archive names no class
        }
    }

    /* For an unpacked archive, as in container images: its launcher is the main class. */
    static String packageStartedFrom(ClassLoader loader) {
        try (InputStream manifest = loader.getResourceAsStream(JarFile.MANIFEST_NAME)) {
            return manifest == null ? "" : packageOf(classOf(new Manifest(manifest).getMainAttributes()));
        } catch (IOException e) {
            return "";
        }
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

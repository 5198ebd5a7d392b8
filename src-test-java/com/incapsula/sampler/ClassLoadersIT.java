// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.ref.WeakReference;
import java.net.URISyntaxException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The library in class loaders of its own, as an application server has them; each case in a fresh JVM. */
@Timeout(120)
class ClassLoadersIT {

    /** Arguments: where the library's classes are, and what to do. */
    static final class Program {

        private static final int MAX_COLLECTIONS = 200;

        private Program() {
        }

        public static void main(String[] arguments) throws Exception {
            URL classes = Path.of(arguments[0]).toUri().toURL();
            switch (arguments[1]) {
                case "both" -> {
                    try (URLClassLoader first = loader(classes); URLClassLoader second = loader(classes)) {
                        run(first);
                        run(second);
                    }
                }
                case "redeploy" -> {
                    for (int deployment = 0; deployment < 3; deployment++) {
                        System.out.println(isCollected(deployAndUndeploy(classes)) ? "gone" : "held");
                    }
                }
                case "upgrade" -> {
                    for (int version = 0; version < 2; version++) {
                        Path workdir = Files.createTempDirectory("threads-sampler-it");
                        System.setProperty("com.incapsula.sampler.workdir", workdir.toString());
                        System.out.println(isCollected(deployAndUndeploy(classes)) ? "gone" : "held");
                    }
                }
                default -> throw new AssertionError(arguments[1]);
            }
        }

        private static URLClassLoader loader(URL classes) {
            return new URLClassLoader(new URL[] {classes}, ClassLoader.getPlatformClassLoader());
        }

        private static WeakReference<ClassLoader> deployAndUndeploy(URL classes) throws Exception {
            try (URLClassLoader loader = loader(classes)) {
                run(loader);
                return new WeakReference<>(loader);
            }
        }

        private static void run(ClassLoader loader) throws Exception {
            Class<?> type = loader.loadClass("com.incapsula.sampler.ThreadsSampler");
            Object cause = type.getMethod("unavailabilityCause").invoke(null);
            System.out.println(cause == null ? "available" : cause.toString());
            if (cause != null) {
                return;
            }
            Object sampler = type.getConstructor().newInstance();
            type.getMethod("init").invoke(sampler);
            type.getMethod("setSamplingFrequencyMillis", long.class).invoke(sampler, 10L);
            Thread.sleep(50);
            type.getMethod("close").invoke(sampler);
        }

        private static boolean isCollected(WeakReference<ClassLoader> loader) throws InterruptedException {
            for (int i = 0; i < MAX_COLLECTIONS && loader.get() != null; i++) {
                System.gc();
                Thread.sleep(10);
            }
            return loader.get() == null;
        }
    }

    private static List<String> run(String what) throws Exception {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xcheck:jni", "-cp", folderOf(Program.class)));
        String library = System.getProperty("com.incapsula.sampler.library");
        if (library != null) {
            command.add("-Dcom.incapsula.sampler.library=" + library);
        }
        command.addAll(List.of(Program.class.getName(), folderOf(ThreadsSampler.class), what));
        Process process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
        String output = new String(process.getInputStream().readAllBytes());
        assertThat(process.waitFor()).as(output).isZero();
        return output.lines().filter(line -> line.matches("available|gone|held|.*Exception: .*")).toList();
    }

    private static String folderOf(Class<?> type) throws URISyntaxException {
        return Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI()).toString();
    }

    @Test
    void secondClassLoaderIsRefusedWithAClearMessage() throws Exception {
        List<String> lines = run("both");
        assertThat(lines).hasSize(2).first().isEqualTo("available");
        assertThat(lines.get(1))
                .startsWith("java.lang.UnsupportedOperationException: another copy of threads-sampler is loaded in this"
                        + " JVM, by another class loader, from /")
                .endsWith(".so: keep one copy, in a class loader that all its users share");
    }

    @Test
    void undeployedApplicationLeavesNothingBehindAndTheNextOneStarts() throws Exception {
        assertThat(run("redeploy")).containsExactly("available", "gone", "available", "gone", "available", "gone");
    }

    /** The next one's library is another file, which the JVM does not compare with the one before. */
    @Test
    void undeployedApplicationMayBeFollowedByAnotherVersion() throws Exception {
        assertThat(run("upgrade")).containsExactly("available", "gone", "available", "gone");
    }
}

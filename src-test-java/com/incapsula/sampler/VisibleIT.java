// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import static org.assertj.core.api.Assertions.assertThat;

import com.incapsula.sampler.outputer.FileSamplingOutputer;
import com.incapsula.sampler.remote.RemoteSamplingOutputer;
import com.incapsula.sampler.testing.PlainWait;
import com.incapsula.sampler.testing.Samplers;
import java.lang.ref.WeakReference;
import java.net.URISyntaxException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** JMX, JFR, the server and files in unusual environments, each in a fresh JVM. */
@Timeout(Samplers.HANG_SECONDS)
class VisibleIT {

    @TempDir
    private Path folder;

    /** Runs without any module but java.base. Arguments: a folder to write to. */
    static final class Bare {

        private Bare() {}

        public static void main(String[] arguments) throws Exception {
            ThreadsSampler sampler = new ThreadsSampler();
            sampler.setSamplingFrequencyMillis(5);
            sampler.setReportFrequencySeconds(0);
            sampler.setJmxName("bare");
            sampler.setJfrEvents(true);
            sampler.setSamplingOutputer(
                    new FileSamplingOutputer(Path.of(arguments[0], "bare.html").toString()));
            sampler.init();
            ThreadsSamplerServer server = new ThreadsSamplerServer();
            server.setSampler(sampler);
            server.init();
            System.out.println("server: " + (server.getUrl() != null));
            server.close();
            try {
                new RemoteSamplingOutputer("http://h").starting();
            } catch (UnsupportedOperationException e) {
                System.out.println(e.getMessage());
            }
            awaitPolls(sampler);
            try (SamplingReport report = sampler.snapshot()) {
                System.out.println("groups: " + !report.getGroups().isEmpty());
            }
            sampler.close();
            System.out.println("closed");
        }
    }

    /** Makes one report without a recording. The arguments do not matter. */
    static final class Unrecorded {

        private Unrecorded() {}

        public static void main(String[] arguments) throws Exception {
            try (ThreadsSampler sampler = new ThreadsSampler()) {
                sampler.setSamplingFrequencyMillis(5);
                sampler.setReportFrequencySeconds(0);
                sampler.init();
                awaitPolls(sampler);
            }
        }
    }

    /*
     * Without Awaitility, because the child has only the JDK's classes. The parent ends the child if this takes for
     * ever.
     */
    private static void awaitPolls(ThreadsSampler sampler) throws InterruptedException {
        long enough = sampler.getStatistics().getPolls() + 10;
        while (sampler.getStatistics().getPolls() < enough) {
            Thread.sleep(2);
        }
    }

    /**
     * An application that uses JMX, JFR and the server, and is undeployed. Arguments: the place of the library's
     * classes.
     */
    static final class Redeployed {

        private Redeployed() {}

        public static void main(String[] arguments) throws Exception {
            URL classes = Path.of(arguments[0]).toUri().toURL();
            try (jdk.jfr.Recording recording = new jdk.jfr.Recording()) {
                recording.start();
                for (int deployment = 0; deployment < 2; deployment++) {
                    System.out.println(PlainWait.untilCollected(deployAndUndeploy(classes)) ? "gone" : "held");
                }
            }
        }

        private static WeakReference<ClassLoader> deployAndUndeploy(URL classes) throws Exception {
            try (URLClassLoader loader =
                    new URLClassLoader(new URL[] {classes}, ClassLoader.getPlatformClassLoader())) {
                run(loader);
                return new WeakReference<>(loader);
            }
        }

        private static void run(ClassLoader loader) throws Exception {
            Class<?> type = loader.loadClass("com.incapsula.sampler.ThreadsSampler");
            Object sampler = type.getConstructor().newInstance();
            type.getMethod("setSamplingFrequencyMillis", long.class).invoke(sampler, 5L);
            type.getMethod("setJmxName", String.class).invoke(sampler, "redeployed");
            type.getMethod("setJfrEvents", boolean.class).invoke(sampler, true);
            type.getMethod("init").invoke(sampler);
            Class<?> serverType = loader.loadClass("com.incapsula.sampler.ThreadsSamplerServer");
            Object server = serverType.getConstructor().newInstance();
            serverType.getMethod("setSampler", type).invoke(server, sampler);
            serverType.getMethod("init").invoke(server);
            java.net.URI url = (java.net.URI) serverType.getMethod("getUrl").invoke(server);
            System.out.println("page " + (new String(url.toURL().openStream().readAllBytes()).length() > 1000));
            type.getMethod("snapshot").invoke(sampler); // the reports are not closed
            serverType.getMethod("close").invoke(server);
            type.getMethod("close").invoke(sampler);
        }
    }

    private static List<String> run(Class<?> program, List<String> options, String classPath, String argument)
            throws Exception {
        List<String> command = new ArrayList<>(
                List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-Xcheck:jni"));
        String library = System.getProperty("com.incapsula.sampler.library");
        if (library != null) {
            command.add("-Dcom.incapsula.sampler.library=" + library);
        }
        command.addAll(options);
        command.addAll(List.of("-cp", classPath, program.getName(), argument));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes());
        assertThat(process.waitFor()).as(output).isZero();
        return output.lines().toList();
    }

    private static String folderOf(Class<?> type) throws URISyntaxException {
        return Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI())
                .toString();
    }

    @Test
    void samplerNeedsNoOptionalModule() throws Exception {
        List<String> lines = run(
                Bare.class,
                List.of("--limit-modules", "java.base"),
                folderOf(Bare.class) + ":" + folderOf(ThreadsSampler.class),
                folder.toString());
        assertThat(lines)
                .contains(
                        "groups: true",
                        "closed",
                        "server: true",
                        "RemoteSamplingOutputer needs the module java.net.http, which this JVM runs without: start it with"
                                + " --add-modules java.net.http");
        assertThat(lines)
                .anyMatch(line -> line.contains(
                        "the sampler is not visible in JMX: this JVM runs without the module java.management"));
        assertThat(lines)
                .anyMatch(line -> line.contains(
                        "the sampler's events are not in flight recordings: this JVM runs without the module jdk.jfr"));
        assertThat(folder.resolve("bare.html")).content().contains("threads-sampler/1");
    }

    @Test
    void reportsDoNotBringUpTheFlightRecorder() throws Exception {
        List<String> lines = run(
                Unrecorded.class,
                List.of("-Xlog:class+load"),
                folderOf(Unrecorded.class) + ":" + folderOf(ThreadsSampler.class),
                "");
        assertThat(lines).contains("Sampler account.");
        assertThat(lines)
                .filteredOn(line -> line.contains(" jdk.jfr.internal."))
                .isEmpty();
    }

    @Test
    void undeployedApplicationThatShowedEverythingLeavesNothingBehind() throws Exception {
        List<String> lines =
                run(Redeployed.class, List.of(), folderOf(Redeployed.class), folderOf(ThreadsSampler.class));
        assertThat(lines)
                .filteredOn(line -> line.matches("page .*|gone|held"))
                .containsExactly("page true", "gone", "page true", "gone");
    }
}

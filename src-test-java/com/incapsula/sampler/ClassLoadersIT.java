// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import static org.assertj.core.api.Assertions.assertThat;

import com.incapsula.sampler.testing.PlainWait;
import com.incapsula.sampler.testing.Samplers;
import java.io.File;
import java.io.IOException;
import java.lang.ref.WeakReference;
import java.lang.reflect.InvocationTargetException;
import java.net.URISyntaxException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The library in several class loaders, as in an application server. Each case runs in a fresh JVM. */
@Timeout(Samplers.HANG_SECONDS)
class ClassLoadersIT {

    /** Arguments: the place of the library's classes, and the case. */
    static final class Program {

        private static final String LONG_PROPERTY = "sampler.test.long";
        private static final boolean LONG = Boolean.getBoolean(LONG_PROPERTY);
        static final int DEPLOYMENTS = LONG ? 50 : 25;
        static final int BUSY_DEPLOYMENTS = LONG ? 20 : 10;
        static final int AT_ONCE = 8;
        private static final int WARM_UP = 9;
        private static volatile long sink;

        private Program() {}

        public static void main(String[] arguments) throws Exception {
            URL classes = Path.of(arguments[0]).toUri().toURL();
            switch (arguments[1]) {
                case "together" -> {
                    try (URLClassLoader first = loader(classes);
                            URLClassLoader second = loader(classes);
                            URLClassLoader third = loader(classes)) {
                        sampleTogether(List.of(first, second, third));
                    }
                }
                case "started at once" -> startAtOnce(classes);
                case "first gone" -> unloadTheFirst(classes);
                case "two builds" -> sampleInTwoBuilds(classes, Path.of(arguments[2]));
                case "at once" -> {
                    int before = 0;
                    for (int deployment = 0; deployment < DEPLOYMENTS; deployment++) {
                        deployAndUndeploy(classes);
                        before = deployment == WARM_UP ? threadsAndDescriptors() : before;
                    }
                    /* The kernel lists a thread for a moment after it was joined. */
                    int most = before;
                    PlainWait.until(() -> threadsAndDescriptors() <= most);
                    int more = threadsAndDescriptors() - before;
                    System.out.println(more <= 0 ? "nothing left" : "too few: " + -more + " threads and descriptors");
                    System.out.println("files: " + mappedFiles());
                }
                case "some collected" -> {
                    for (int deployment = 0; deployment < DEPLOYMENTS; deployment++) {
                        WeakReference<ClassLoader> loader = deployAndUndeploy(classes);
                        if (deployment % 5 == 4 && !PlainWait.untilCollected(loader)) {
                            System.out.println("held");
                        }
                    }
                    System.out.println("files: " + mappedFiles());
                }
                case "busy" -> redeployWhileOthersWork(classes);
                case "redeploy" -> {
                    for (int deployment = 0; deployment < 3; deployment++) {
                        System.out.println(PlainWait.untilCollected(deployAndUndeploy(classes)) ? "gone" : "held");
                    }
                }
                case "upgrade" -> {
                    for (int version = 0; version < 2; version++) {
                        Path workdir = Files.createTempDirectory("threads-sampler-it");
                        System.setProperty("com.incapsula.sampler.workdir", workdir.toString());
                        System.out.println(PlainWait.untilCollected(deployAndUndeploy(classes)) ? "gone" : "held");
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

        private static void sampleTogether(List<ClassLoader> loaders) throws Exception {
            List<Object> samplers = new ArrayList<>();
            for (ClassLoader loader : loaders) {
                samplers.add(start(loader));
            }
            for (Object sampler : samplers) {
                awaitMorePolls(sampler);
            }
            while (!samplers.isEmpty()) {
                stop(samplers.remove(0));
                for (Object other : samplers) {
                    awaitMorePolls(other);
                }
                System.out.println("sampled");
            }
        }

        private static void startAtOnce(URL classes) throws Exception {
            CyclicBarrier barrier = new CyclicBarrier(AT_ONCE);
            List<Thread> threads = new ArrayList<>();
            for (int i = 0; i < AT_ONCE; i++) {
                Thread thread = new Thread(() -> {
                    try (URLClassLoader loader = loader(classes)) {
                        barrier.await();
                        run(loader);
                    } catch (Exception e) {
                        System.out.println("too few: " + e);
                    }
                });
                thread.start();
                threads.add(thread);
            }
            for (Thread thread : threads) {
                thread.join();
            }
        }

        /* Unloads the copy whose file is the core, while another copy samples with that core. */
        private static void unloadTheFirst(URL classes) throws Exception {
            URLClassLoader first = loader(classes);
            WeakReference<ClassLoader> gone = new WeakReference<>(first);
            run(first);
            try (URLClassLoader second = loader(classes)) {
                Object sampler = start(second);
                first.close();
                first = null;
                System.out.println(PlainWait.untilCollected(gone) ? "gone" : "held");
                awaitMorePolls(sampler);
                try (URLClassLoader third = loader(classes)) {
                    run(third);
                }
                awaitMorePolls(sampler);
                stop(sampler);
                System.out.println("sampled");
            }
        }

        /* The second copy loads another file. */
        private static void sampleInTwoBuilds(URL classes, Path other) throws Exception {
            try (URLClassLoader first = loader(classes);
                    URLClassLoader second = loader(classes)) {
                Object sampler = start(first);
                System.setProperty("com.incapsula.sampler.library", other.toString());
                try {
                    start(second);
                } catch (InvocationTargetException e) {
                    System.out.println(e.getCause());
                }
                awaitMorePolls(sampler);
                stop(sampler);
                run(second);
                run(first);
            }
        }

        private static void awaitMorePolls(Object sampler) throws Exception {
            long before = polls(sampler);
            while (polls(sampler) <= before) {
                Thread.sleep(5);
            }
        }

        /* Each copy in turn signals busy threads; late signals reach the handler of the next copy. */
        private static void redeployWhileOthersWork(URL classes) throws Exception {
            AtomicBoolean ends = new AtomicBoolean();
            List<Thread> busy = new ArrayList<>();
            for (int i = 0; i < 2 * Runtime.getRuntime().availableProcessors() + 2; i++) {
                Thread thread = new Thread(
                        () -> {
                            for (long x = 0; !ends.get(); x++) {
                                sink = x * 31;
                            }
                        },
                        "busy-" + i);
                thread.start();
                busy.add(thread);
            }
            long polls = 0;
            for (int deployment = 0; deployment < BUSY_DEPLOYMENTS; deployment++) {
                try (URLClassLoader loader = loader(classes)) {
                    Object sampler = start(loader);
                    awaitPolls(sampler);
                    stop(sampler);
                    polls += polls(sampler);
                }
            }
            ends.set(true);
            for (Thread thread : busy) {
                thread.join();
            }
            System.out.println(polls > BUSY_DEPLOYMENTS ? "sampled" : "too few: " + polls);
        }

        private static int threadsAndDescriptors() {
            return new File("/proc/self/task").list().length + new File("/proc/self/fd").list().length;
        }

        /* Mapped files of the library. A file stays mapped once it is the core. */
        private static long mappedFiles() throws IOException {
            return Files.readAllLines(Path.of("/proc/self/maps")).stream()
                    .filter(line -> line.contains("libthreads-sampler"))
                    .map(line -> line.substring(line.indexOf('/')))
                    .distinct()
                    .count();
        }

        private static void run(ClassLoader loader) throws Exception {
            Object sampler = start(loader);
            if (sampler != null) {
                awaitPolls(sampler);
                stop(sampler);
                System.out.println(polls(sampler) > 0 ? "sampled" : "nothing sampled");
            }
        }

        private static Object start(ClassLoader loader) throws Exception {
            Class<?> type = loader.loadClass("com.incapsula.sampler.ThreadsSampler");
            Object cause = type.getMethod("unavailabilityCause").invoke(null);
            System.out.println(cause == null ? "available" : cause.toString());
            if (cause != null) {
                return null;
            }
            Object sampler = type.getConstructor().newInstance();
            type.getMethod("setRequired", boolean.class).invoke(sampler, true);
            type.getMethod("setSamplingFrequencyMillis", long.class).invoke(sampler, 5L);
            type.getMethod("setReportFrequencySeconds", long.class).invoke(sampler, 0L);
            type.getMethod("init").invoke(sampler);
            return sampler;
        }

        private static void stop(Object sampler) throws Exception {
            sampler.getClass().getMethod("close").invoke(sampler);
        }

        /* Waits for two polls, because polls of busy threads need CPUs. */
        private static void awaitPolls(Object sampler) throws Exception {
            while (polls(sampler) < 2) {
                Thread.sleep(5);
            }
        }

        private static long polls(Object sampler) throws Exception {
            Object statistics = sampler.getClass().getMethod("getStatistics").invoke(sampler);
            Object engine = statistics.getClass().getMethod("getEngine").invoke(statistics);
            if (!engine.equals("HYBRID")) {
                System.out.println("too few: engine " + engine);
            }
            return (Long) statistics.getClass().getMethod("getPolls").invoke(statistics);
        }
    }

    private static List<String> run(String... arguments) throws Exception {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xcheck:jni",
                "-XX:+UseSerialGC",
                "-XX:-UseDynamicNumberOfCompilerThreads",
                "-D" + Program.LONG_PROPERTY + "=" + Program.LONG,
                "-cp",
                folderOf(Program.class)));
        String library = System.getProperty("com.incapsula.sampler.library");
        if (library != null) {
            command.add("-Dcom.incapsula.sampler.library=" + library);
        }
        command.addAll(List.of(Program.class.getName(), folderOf(ThreadsSampler.class)));
        command.addAll(List.of(arguments));
        Process process = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        String output = new String(process.getInputStream().readAllBytes());
        assertThat(process.waitFor()).as(output).isZero();
        return output.lines()
                .filter(
                        line -> line.matches(
                                "available|gone|held|sampled|nothing sampled|nothing left|too few: .*|files: .*|.*Exception: .*"))
                .toList();
    }

    private static String folderOf(Class<?> type) throws URISyntaxException {
        return Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI())
                .toString();
    }

    @Test
    void classLoadersSampleTogetherAndEndOneByOne() throws Exception {
        assertThat(run("together"))
                .containsExactly("available", "available", "available", "sampled", "sampled", "sampled");
    }

    @Test
    void copiesMayBeLoadedAtOnce() throws Exception {
        List<String> lines = run("started at once");
        assertThat(lines).hasSize(2 * Program.AT_ONCE);
        assertThat(lines).filteredOn("available"::equals).hasSize(Program.AT_ONCE);
        assertThat(lines).filteredOn("sampled"::equals).hasSize(Program.AT_ONCE);
    }

    @Test
    void theOthersGoOnWhenTheFirstIsUnloaded() throws Exception {
        assertThat(run("first gone"))
                .containsExactly("available", "sampled", "available", "gone", "available", "sampled", "sampled");
    }

    /** The two copies have different cores, so only one of them can sample at a time. */
    @Test
    void anotherBuildIsRefusedWhileTheFirstOneSamples(@TempDir Path folder) throws Exception {
        Path other = folder.resolve("libthreads-sampler-other.so");
        Files.write(other, withAnotherOption(Files.readAllBytes(builtLibrary())));
        List<String> lines = run("two builds", other.toString());
        assertThat(lines)
                .hasSize(7)
                .startsWith("available", "available")
                .endsWith("available", "sampled", "available", "sampled");
        assertThat(lines.get(2))
                .startsWith("java.lang.UnsupportedOperationException: another build of threads-sampler samples this"
                        + " JVM, from /")
                .endsWith(".so: close its samplers first, or keep one version");
    }

    private static Path builtLibrary() throws URISyntaxException {
        String explicit = System.getProperty("com.incapsula.sampler.library");
        return explicit != null
                ? Path.of(explicit)
                : Path.of(
                        folderOf(ThreadsSampler.class),
                        "META-INF/native/linux-" + System.getProperty("os.arch").replace("amd64", "x86_64"),
                        "libthreads-sampler.so");
    }

    /* Changes the table of options, on which Java and the core must agree. Java does not look this name up. */
    private static byte[] withAnotherOption(byte[] library) {
        String bytes = new String(library, StandardCharsets.ISO_8859_1);
        String changed = bytes.replace("idleLookbackMillis", "idleLookbackMinute");
        assertThat(changed).isNotEqualTo(bytes);
        return changed.getBytes(StandardCharsets.ISO_8859_1);
    }

    /** The next copy starts before the collector has freed the previous one, as in an application server. */
    @Test
    void redeployedApplicationsStartAtOnce() throws Exception {
        List<String> lines = new ArrayList<>(run("at once"));
        assertThat(lines.remove("nothing left"))
                .as("no thread and no descriptor is left: " + lines)
                .isTrue();
        assertSampledEach(lines, Program.DEPLOYMENTS);
    }

    /** At most five class loaders wait to be collected at a time; their files are reused. */
    @Test
    void filesOfCollectedClassLoadersAreUsedAgain() throws Exception {
        assertSampledEach(run("some collected"), 5 + 1);
    }

    private static void assertSampledEach(List<String> lines, long maxFiles) {
        assertThat(lines).filteredOn("available"::equals).hasSize(Program.DEPLOYMENTS);
        assertThat(lines).filteredOn("sampled"::equals).hasSize(Program.DEPLOYMENTS);
        assertThat(lines).hasSize(2 * Program.DEPLOYMENTS + 1);
        assertThat(Long.parseLong(lines.get(lines.size() - 1).replace("files: ", "")))
                .isBetween(1L, maxFiles);
    }

    @Test
    void signalsOfOneCopyMeanNothingToTheNext() throws Exception {
        List<String> lines = run("busy");
        assertThat(lines).hasSize(Program.BUSY_DEPLOYMENTS + 1).endsWith("sampled");
        assertThat(lines.subList(0, Program.BUSY_DEPLOYMENTS)).containsOnly("available");
    }

    @Test
    void undeployedApplicationLeavesNothingBehindAndTheNextOneStarts() throws Exception {
        assertThat(run("redeploy"))
                .containsExactly(
                        "available", "sampled", "gone", "available", "sampled", "gone", "available", "sampled", "gone");
    }

    /** The next copy has a library of another content, so its file has another name. */
    @Test
    void undeployedApplicationMayBeFollowedByAnotherVersion() throws Exception {
        assertThat(run("upgrade")).containsExactly("available", "sampled", "gone", "available", "sampled", "gone");
    }
}

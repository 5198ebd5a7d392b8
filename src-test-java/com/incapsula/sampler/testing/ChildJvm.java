// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.incapsula.sampler.ThreadsSampler;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.assertj.core.api.Assertions;
import org.awaitility.Awaitility;
import org.hamcrest.Matcher;
import org.junit.jupiter.api.extension.Extension;

/**
 * Another JVM of the same JDK, under {@code -Xcheck:jni}, with only the library and the tests on its class path. Checks
 * the JVM's messages about the use of JNI; if the build collects them for this JVM, it collects them for the child,
 * too.
 */
public final class ChildJvm {

    private static final Pattern COMPLAINT = Pattern.compile(
            "(WARNING|FATAL ERROR|ASSERTION) (in|on) native|WARNING: JNI |JNI local refs|in native method");
    private static final Duration PATIENCE = Duration.ofMinutes(4);

    /** An option for attaching JVMs: they give up after ten seconds, which may be too short on a busy machine. */
    public static final String PATIENT_ATTACHING = "-Dsun.tools.attach.attachTimeout=" + Samplers.LONG.toMillis();

    private static final String SHENANDOAH = "Shenandoah";

    private final List<String> before = new ArrayList<>();
    private final List<String> options = new ArrayList<>();
    private final List<String> classPath = new ArrayList<>();
    private final String main;
    private final ProcessBuilder builder = new ProcessBuilder();
    private Duration patience = PATIENCE;
    private Path home = Path.of(System.getProperty("java.home"));

    private ChildJvm(String main) {
        this.main = main;
    }

    /** @return a JVM that will run this program */
    public static ChildJvm of(Class<?> main) {
        return new ChildJvm(main.getName()).with(ThreadsSampler.class, ChildJvm.class);
    }

    /** @return a JVM with an empty class path that will run {@code -m} or a class with this name */
    public static ChildJvm bare(String main) {
        return new ChildJvm(main);
    }

    /** @return this, with the folder or jar of each class on the class path */
    public ChildJvm with(Class<?>... types) {
        for (Class<?> type : types) {
            String place = placeOf(type).toString();
            if (!classPath.contains(place)) {
                classPath.add(place);
            }
        }
        return this;
    }

    /** @return this, with everything that {@link Samplers} and {@link NothingLeft} need on the class path */
    public ChildJvm withTestLibraries() {
        return with(Assertions.class, Awaitility.class, Matcher.class, Extension.class);
    }

    /** @return this, with further options of the JVM */
    public ChildJvm option(String... more) {
        options.addAll(Arrays.asList(more));
        return this;
    }

    /** @return this, configured like a server: with all compilers, and with the collector that the JVM chooses */
    public ChildJvm likeAServer() {
        return option("-XX:TieredStopAtLevel=4", "-XX:-UseSerialGC");
    }

    /**
     * Selects a collector. Skips the test if this JVM was built without Shenandoah.
     *
     * @param name as in the JVM's option, such as "G1"
     * @return this
     */
    public ChildJvm collector(String name) throws IOException, InterruptedException {
        String option = "-XX:+Use" + name + "GC";
        if (name.equals(SHENANDOAH)) {
            Result result =
                    bare("-version").in(home).option("-XX:-UseSerialGC", option).run();
            assumeTrue(result.exit() == 0, () -> "built without Shenandoah: " + result.output());
        }
        return option("-XX:-UseSerialGC", option);
    }

    /** @return this, with a time limit that is longer by this much */
    public ChildJvm longer(Duration more) {
        patience = PATIENCE.plus(more);
        return this;
    }

    /** @return this, run by another runtime image */
    public ChildJvm in(Path image) {
        home = image;
        return this;
    }

    /** @return this, started by another program, whose command line ends with that of the JVM */
    public ChildJvm by(String... command) {
        before.addAll(Arrays.asList(command));
        return this;
    }

    /** @return this, with a variable in its environment */
    public ChildJvm environment(String name, String value) {
        builder.environment().put(name, value);
        return this;
    }

    /** @return the folder or jar that a class comes from */
    public static Path placeOf(Class<?> type) {
        try {
            return Path.of(
                    type.getProtectionDomain().getCodeSource().getLocation().toURI());
        } catch (URISyntaxException e) {
            throw new AssertionError(e);
        }
    }

    /** Starts the JVM. */
    public Running start(String... arguments) throws IOException {
        List<String> command = new ArrayList<>(before);
        command.add(home.resolve("bin/java").toString());
        command.addAll(
                List.of("-Xcheck:jni", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx256m", PATIENT_ATTACHING));
        command.addAll(logOfThisJvm());
        command.addAll(Arrays.asList(ChosenEngine.option()));
        if (options.stream().noneMatch(option -> option.contains("native-access"))) {
            command.add("--enable-native-access=ALL-UNNAMED");
        }
        command.addAll(options);
        if (!classPath.isEmpty()) {
            command.addAll(List.of("-cp", String.join(File.pathSeparator, classPath)));
        }
        command.addAll(Arrays.asList(main.split(" ")));
        command.addAll(Arrays.asList(arguments));
        return new Running(builder.command(command).redirectErrorStream(true).start(), patience);
    }

    /** Runs the JVM to its end. */
    public Result run(String... arguments) throws IOException, InterruptedException {
        return start(arguments).await();
    }

    /* If the build collects the JVM's own messages, the child's messages go to the same place. */
    private static List<String> logOfThisJvm() {
        List<String> found = new ArrayList<>();
        for (String option : ManagementFactory.getRuntimeMXBean().getInputArguments()) {
            if (option.startsWith("-XX:LogFile=") || option.startsWith("-XX:ErrorFile=")) {
                found.add(option);
            }
        }
        if (found.stream().anyMatch(option -> option.startsWith("-XX:LogFile="))) {
            found.addAll(0, List.of("-XX:+UnlockDiagnosticVMOptions", "-XX:+LogVMOutput"));
        }
        return found;
    }

    /** The result of a JVM. */
    public record Result(int exit, String output, long millis) {

        /** @return this; fails unless the exit code is 0 */
        public Result assertFine() {
            assertThat(exit).as(output).isZero();
            return this;
        }

        /** @return the output, which is also printed here; fails unless its last line is "fine" */
        public String assertSaysFine() {
            System.out.println(assertFine().output());
            assertThat(output).endsWith("fine\n");
            return output;
        }
    }

    /** A running JVM. */
    public static final class Running {

        private final Process process;
        private final Duration patience;
        private final StringBuffer output = new StringBuffer();
        private final long start = System.nanoTime();
        private final Thread reader = new Thread(this::read, "child-output");

        Running(Process process, Duration patience) {
            this.process = process;
            this.patience = patience;
            reader.setDaemon(true);
            reader.start();
        }

        private void read() {
            try (BufferedReader lines =
                    new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
                char[] some = new char[8192];
                for (int count = lines.read(some); count >= 0; count = lines.read(some)) {
                    output.append(some, 0, count);
                }
            } catch (IOException e) {
                output.append(e);
            }
        }

        /** @return the process */
        public Process process() {
            return process;
        }

        /** @return the output so far */
        public String output() {
            return output.toString();
        }

        /** Waits until the text was printed. The last output may be read only after the end of the process. */
        public Running awaitOutput(String text) {
            Samplers.patiently().until(() -> output.indexOf(text) >= 0 || !reader.isAlive());
            assertThat(output).contains(text);
            return this;
        }

        /** Waits for the end of the JVM. Ends the JVM if it exceeds its time limit. */
        public Result await() throws InterruptedException {
            boolean ended = process.waitFor(patience.toMillis(), TimeUnit.MILLISECONDS);
            if (!ended) {
                process.destroyForcibly().waitFor();
            }
            long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
            reader.join();
            assertThat(ended).as("ended in time; it printed: " + output).isTrue();
            assertThat(COMPLAINT.matcher(output).find())
                    .as("complaint of -Xcheck:jni in " + output)
                    .isFalse();
            return new Result(process.exitValue(), output.toString(), millis);
        }
    }
}

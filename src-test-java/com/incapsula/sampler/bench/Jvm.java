// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.bench;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A fresh JVM with this JVM's class path. It prints its results as lines that start with "@ ". */
public final class Jvm {

    /** The system property with one more flag for every measured JVM. */
    static final String FLAG_PROPERTY = "sampler.bench.flag";

    private static final String MARK = "@ ";
    private static final long TIMEOUT_SECONDS = 20 * 60;

    private final List<String> command = new ArrayList<>();
    private long seconds = TIMEOUT_SECONDS;
    private boolean mayBeCut;

    private Jvm() {}

    /**
     * Prepares a JVM.
     *
     * @param jdk its home
     * @param flags of the JVM
     * @return not yet started
     */
    public static Jvm of(Path jdk, List<String> flags) {
        Jvm jvm = new Jvm();
        jvm.command.add(executable(jdk));
        jvm.command.addAll(commonFlags());
        jvm.command.addAll(flags);
        return jvm;
    }

    /**
     * Restricts the JVM and all processes that it starts to one processor.
     *
     * @param cpu its number
     * @return this
     */
    public Jvm on(int cpu) {
        command.addAll(0, List.of("taskset", "--cpu-list", String.valueOf(cpu)));
        return this;
    }

    /**
     * Limits the run time: if the JVM has not ended by then, it is ended, and the results so far count.
     *
     * @param limit in seconds
     * @return this
     */
    public Jvm cutAfter(long limit) {
        seconds = limit;
        mayBeCut = true;
        return this;
    }

    /**
     * The launcher.
     *
     * @param jdk a JDK's home
     * @return its path
     */
    public static String executable(Path jdk) {
        return jdk.resolve("bin").resolve("java").toString();
    }

    /**
     * Returns the flags for every measured JVM, with which other profilers work best and the JVM itself prints nothing.
     *
     * @return flags
     */
    public static List<String> commonFlags() {
        List<String> flags = new ArrayList<>(List.of(
                "--enable-native-access=ALL-UNNAMED",
                "-XX:+UseSerialGC",
                "-Xmx1g",
                "-XX:FlightRecorderOptions=stackdepth=2048",
                "-Xlog:jfr*=error",
                "-XX:-UsePerfData",
                "-XX:+UnlockExperimentalVMOptions"));
        String more = System.getProperty(FLAG_PROPERTY);
        if (more != null) {
            flags.add(more);
        }
        return flags;
    }

    /**
     * Reads the version of a JDK.
     *
     * @param jdk its home
     * @return as its release file says
     */
    public static String version(Path jdk) {
        try {
            List<String> release = Files.readAllLines(jdk.resolve("release"));
            return value(release, "JAVA_RUNTIME_VERSION", value(release, "JAVA_VERSION", "?"));
        } catch (IOException e) {
            return jdk + " (" + e.getMessage() + ")";
        }
    }

    private static String value(List<String> lines, String key, String otherwise) {
        return lines.stream()
                .filter(line -> line.startsWith(key + "="))
                .map(line -> line.substring(key.length() + 1).replace("\"", ""))
                .findFirst()
                .orElse(otherwise);
    }

    /**
     * Runs a program to its end.
     *
     * @param main its class
     * @param arguments of the program
     * @return the lines it marked, each split at tabs
     * @throws IllegalStateException if it failed; the message holds its output
     */
    public List<String[]> run(Class<?> main, Object... arguments) throws IOException, InterruptedException {
        List<String> line = new ArrayList<>(command);
        line.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
        for (Object argument : arguments) {
            line.add(argument.toString());
        }
        File output = File.createTempFile("bench", ".out");
        try {
            Process process = new ProcessBuilder(line)
                    .redirectErrorStream(true)
                    .redirectOutput(output)
                    .start();
            boolean ended = process.waitFor(seconds, TimeUnit.SECONDS);
            if (!ended) {
                process.destroyForcibly().waitFor();
            }
            List<String> lines = Files.readAllLines(output.toPath(), StandardCharsets.UTF_8);
            if (ended ? process.exitValue() != 0 : !mayBeCut) {
                throw new IllegalStateException(String.join(" ", line) + "\n" + String.join("\n", lines));
            }
            return lines.stream()
                    .filter(text -> text.startsWith(MARK))
                    .map(text -> text.substring(MARK.length()).split("\t", -1))
                    .toList();
        } finally {
            Files.delete(output.toPath());
        }
    }

    /**
     * Prints a line for the JVM that started this one.
     *
     * @param cells without tabs
     */
    public static void tell(Object... cells) {
        List<String> texts = new ArrayList<>();
        for (Object cell : cells) {
            texts.add(String.valueOf(cell).replace('\t', ' ').replace('\n', ' '));
        }
        synchronized (System.out) {
            System.out.println(MARK + String.join("\t", texts));
        }
    }
}

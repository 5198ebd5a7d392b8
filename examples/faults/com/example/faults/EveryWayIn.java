// SPDX-License-Identifier: Apache-2.0
package com.example.faults;

import static org.assertj.core.api.Assertions.assertThat;

import com.incapsula.sampler.ThreadsSampler;
import java.io.File;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Each way to use the sampler shows all faults of a service in the first lines of its report: with their lines, their
 * states, and the holders of locks. All options have their defaults.
 */
public abstract class EveryWayIn {

    private static final long FEW_SECONDS = 4;
    private static final long HANG_SECONDS = 60;
    private static final long SECONDS_BEFORE_THE_LOG = 5; // an agent that starts with the JVM uses no log before that
    private static final String HOUR = "3600";
    private static final long POLL_MILLIS = 50;
    private static final Pattern SERVER = Pattern.compile("page at (http://\\S+)");

    private final List<Fault> faults;
    private final Class<? extends Service> service;
    private final Pattern started;

    @TempDir
    protected Path folder;

    /** A run of some seconds, and what its reader sees. */
    @FunctionalInterface
    protected interface Run {
        Shown read(long seconds) throws Exception;
    }

    /**
     * Creates the tests of one service.
     *
     * @param sources the folder of its classes
     * @param service a public class with a public constructor without parameters
     * @param started a regular expression for the text that the service prints when it has started
     */
    protected EveryWayIn(Path sources, Class<? extends Service> service, String started) throws IOException {
        this.started = Pattern.compile(started);
        this.faults = Fault.read(sources);
        this.service = service;
    }

    /*
     * On a busy machine a short run is mostly the start of the service, so longer runs follow until one shows all
     * faults.
     */
    protected final Shown assertAllFound(Run run) throws Exception {
        Shown shown = run.read(FEW_SECONDS);
        for (long seconds = 2 * FEW_SECONDS;
                seconds < HANG_SECONDS && !missing(shown).isEmpty();
                seconds *= 2) {
            shown = run.read(seconds);
        }
        assertThat(missing(shown)).as(shown.text()).isEmpty();
        return shown;
    }

    private List<Fault> missing(Shown shown) {
        return faults.stream().filter(fault -> !fault.isAmong(shown.spots())).toList();
    }

    @Test
    public void aBeanPrintsThem() throws Exception {
        assertAllFound(seconds -> Shown.in(readProgram(service, seconds, ServiceProgram.WITH_BEAN)));
    }

    @Test
    public void aLanguageModelReadsThemInTwoAnswers() throws Exception {
        Shown shown = assertAllFound(seconds -> {
            Process running =
                    start("models", command(List.of("-javaagent:" + jar() + "=http=0,mcp=true"), service, HOUR));
            try {
                URI server = URI.create(await("models", SERVER).group(1));
                running.waitFor(seconds, TimeUnit.SECONDS);
                return ModelClient.read(server);
            } finally {
                running.destroyForcibly().waitFor();
            }
        });
        assertThat(shown.text().strip()).hasSizeLessThanOrEqualTo(ModelClient.MOST_CHARACTERS);
    }

    private Matcher await(String name, Pattern output) throws Exception {
        long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(HANG_SECONDS);
        while (System.nanoTime() < until) {
            Matcher found = output.matcher(Files.readString(folder.resolve(name + ".txt")));
            if (found.find()) {
                return found;
            }
            Thread.sleep(POLL_MILLIS);
        }
        throw new AssertionError("no " + output + " in " + lines(name));
    }

    @Test
    public void theCommandLinePrintsThemAndThePageShowsThemOnItsFirstScreen() throws Exception {
        Path page = folder.resolve("report.html");
        assertAllFound(seconds -> Shown.in(readAttached(seconds, page)));
        try (FirstScreen screen = FirstScreen.open()) {
            Shown shown = screen.read(page);
            assertThat(missing(shown)).as(shown.text()).isEmpty();
        }
    }

    /** Samples the service from outside. @return the lines on the terminal */
    protected final List<String> readAttached(long seconds, Path page) throws Exception {
        Process running = start("running", command(List.of(), service, HOUR));
        try {
            await("running", started);
            String pid = Long.toString(running.pid());
            Process attached =
                    start("attached", List.of(java(), "-jar", jar(), pid, "-d", seconds + "s", "-o", page.toString()));
            assertThat(end("attached", attached)).isZero();
            return lines("attached");
        } finally {
            running.destroyForcibly().waitFor();
        }
    }

    /* Excludes the report at the end, because Spring Boot stops the log before the JVM ends. */
    @Test
    public void anAgentLogsThem() throws Exception {
        assertAllFound(seconds -> {
            long every = SECONDS_BEFORE_THE_LOG + seconds;
            Process running = start(
                    "agent",
                    command(
                            List.of("-javaagent:" + jar() + "=to=log,every=" + every + "s"),
                            service,
                            Long.toString(2 * every)));
            assertThat(end("agent", running)).isZero();
            return Shown.in(lines("agent"));
        });
    }

    /** @return the lines that a service has printed and logged in a JVM of its own */
    protected final List<String> readProgram(Class<? extends Service> program, long seconds, String... more)
            throws Exception {
        List<String> command = command(List.of(), program, Long.toString(seconds));
        command.addAll(List.of(more));
        assertThat(end("program", start("program", command))).isZero();
        return lines("program");
    }

    private static List<String> command(List<String> options, Class<? extends Service> program, String seconds)
            throws Exception {
        List<String> command = new ArrayList<>(List.of(java()));
        command.addAll(options);
        command.addAll(List.of("-cp", classPath(), ServiceProgram.class.getName(), program.getName(), seconds));
        return command;
    }

    /* SLF4J without a provider drops everything; without SLF4J the log goes to standard error. */
    private static String classPath() {
        return Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
                .filter(part -> !part.contains("slf4j-nop"))
                .collect(Collectors.joining(File.pathSeparator));
    }

    private static String java() {
        return Path.of(System.getProperty("java.home"), "bin", "java").toString();
    }

    private static String jar() throws Exception {
        return Path.of(ThreadsSampler.class
                        .getProtectionDomain()
                        .getCodeSource()
                        .getLocation()
                        .toURI())
                .toString();
    }

    private Process start(String name, List<String> command) throws IOException {
        return new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(folder.resolve(name + ".txt").toFile())
                .start();
    }

    private int end(String name, Process process) throws Exception {
        try {
            assertThat(process.waitFor(2 * HANG_SECONDS, TimeUnit.SECONDS))
                    .as(name)
                    .isTrue();
            return process.exitValue();
        } finally {
            process.destroyForcibly();
        }
    }

    private List<String> lines(String name) throws IOException {
        return Files.readAllLines(folder.resolve(name + ".txt"));
    }
}

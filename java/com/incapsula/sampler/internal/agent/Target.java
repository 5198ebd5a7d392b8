// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.agent;

import com.incapsula.sampler.internal.agent.AnswerSlot.Answer;
import com.incapsula.sampler.internal.agent.AnswerSlot.State;
import com.sun.tools.attach.AgentInitializationException;
import com.sun.tools.attach.AgentLoadException;
import com.sun.tools.attach.AttachNotSupportedException;
import com.sun.tools.attach.VirtualMachine;
import com.sun.tools.attach.VirtualMachineDescriptor;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/**
 * Another JVM on this machine, through the attach API. No other class uses that API; this class is loaded only if the
 * module {@code jdk.attach} is present.
 *
 * <p>Threads: one at a time.
 */
final class Target implements AutoCloseable {

    private static final long POLL_MILLIS = 200;
    private static final int OLDEST_JAVA = 17;
    private static final int TRIES = 5;

    /** A visible JVM. */
    record Listed(String pid, String name) {}

    /** The JVM cannot be attached to. */
    static final class Unreachable extends Exception {

        private static final long serialVersionUID = 1L;

        Unreachable(String message, @Nullable Throwable cause) {
            super(message, cause);
        }
    }

    private final VirtualMachine machine;
    private final TargetFiles files;
    private @Nullable String asked; // the id of the last command

    private Target(VirtualMachine machine, TargetFiles files) {
        this.machine = machine;
        this.files = files;
    }

    /** @return the JVMs of this user, or of all users for the superuser; without this JVM */
    static List<Listed> list() {
        String own = String.valueOf(ProcessHandle.current().pid());
        List<Listed> found = new ArrayList<>();
        for (VirtualMachineDescriptor each : VirtualMachine.list()) {
            if (!each.id().equals(own)) {
                found.add(new Listed(each.id(), each.displayName()));
            }
        }
        return found;
    }

    /** Attaches. @throws Unreachable with the reason and a remedy */
    static Target attach(String pid) throws Unreachable {
        if (!TargetFiles.catchesQuit(pid) || TargetFiles.isNoJvm(pid)) {
            throw new Unreachable(
                    pid
                            + " is no JVM, or one that runs with -Xrs: it would not survive the signal that attaching begins"
                            + " with",
                    null);
        }
        try {
            return new Target(VirtualMachine.attach(pid), new TargetFiles(pid));
        } catch (AttachNotSupportedException | IOException e) {
            throw new Unreachable("cannot attach to " + pid + ": " + e.getMessage() + adviceOn(e), e);
        }
    }

    private static String adviceOn(Exception e) {
        String text = String.valueOf(e.getMessage());
        if (text.contains("does not support the attach mechanism")) {
            return "; it runs with -XX:+DisableAttachMechanism, so start it with -javaagent:threads-sampler.jar";
        }
        if (text.contains("not secure") || text.contains("Permission denied") || text.contains("not permitted")) {
            return "; be the user that it runs as, or root";
        }
        if (text.contains("Dynamic agent loading is not enabled")) {
            return "; or start it with -javaagent:threads-sampler.jar";
        }
        if (text.contains("instrument")) {
            return "; the Java that it runs on may be without the module java.instrument";
        }
        return "";
    }

    /**
     * Lets the agent carry out a command.
     *
     * @param options as {@link AgentCommand} reads them, without an id
     * @return its id, for {@link #answer}
     * @throws Unreachable if the agent cannot be loaded
     */
    String send(String options) throws Unreachable {
        String id = Long.toHexString(ThreadLocalRandom.current().nextLong());
        String request = options + part(AgentCommand.ANSWER, id);
        asked = id;
        try {
            Properties properties = properties();
            requireVersion(properties.getProperty("java.specification.version", ""));
            if (!isServed(properties, request)) {
                loadAgent(properties, request);
            }
            return id;
        } catch (IOException e) {
            throw unreachable(e, "");
        }
    }

    private static Unreachable unreachable(Exception e, String more) {
        return new Unreachable("the agent cannot be loaded: " + e.getMessage() + adviceOn(e) + more, e);
    }

    /* The property may come from a parent process, together with its other system properties. */
    private boolean isServed(Properties properties, String request) throws IOException {
        String library = properties.getProperty(AgentCalls.LIBRARY_PROPERTY);
        if (library == null) {
            return false;
        }
        try {
            machine.loadAgentPath(library, request);
            return true;
        } catch (AgentLoadException | AgentInitializationException e) {
            return false;
        }
    }

    /* Loads the agent as a library, which needs no module in the target and leaves no trace for later commands. If the
     * library is on a file system without execution, loads it as a Java agent. */
    private void loadAgent(Properties properties, String request) throws Unreachable, IOException {
        String jar = files.placeJar(properties);
        Exception asLibrary;
        try {
            String library = files.placeLibrary(properties);
            machine.loadAgentPath(
                    library, request + part(AgentCommand.JAR, jar) + part(AgentCommand.LIBRARY, library) + copies());
            return;
        } catch (AgentLoadException | AgentInitializationException | IOException | UnsupportedOperationException e) {
            asLibrary = e;
        }
        try {
            files.removeLibrary();
            machine.loadAgent(jar, request + copies());
        } catch (AgentLoadException | AgentInitializationException | IOException e) {
            e.addSuppressed(asLibrary);
            files.removeCopies();
            throw unreachable(e, "; and as a library: " + asLibrary.getMessage());
        }
    }

    private String copies() {
        StringBuilder text = new StringBuilder();
        for (String copy : files.copies()) {
            text.append(part(AgentCommand.COPY, copy));
        }
        return text.toString();
    }

    private static String part(String key, String value) {
        return "," + key + "=" + AgentCommand.escape(value);
    }

    /* In an older JVM the agent's classes would fail, with a stack trace on the application's standard error. */
    static void requireVersion(String version) throws Unreachable {
        try {
            if (Double.parseDouble(version) < OLDEST_JAVA) {
                throw new Unreachable("it runs on Java " + version + ", the agent needs " + OLDEST_JAVA, null);
            }
        } catch (NumberFormatException unknown) {
            // loading the agent reports the error
        }
    }

    /**
     * Waits for the end of a long command. Later commands may replace its first answer meanwhile.
     *
     * @param millis the longest wait
     * @throws IOException if the target has ended, or does not answer
     */
    Answer await(String id, long millis) throws IOException, InterruptedException {
        long end = System.nanoTime() + millis * 1_000_000;
        Answer answer = AnswerSlot.read(properties(), id);
        while ((answer == null || answer.state() == State.GOES_ON) && System.nanoTime() < end) {
            Thread.sleep(POLL_MILLIS);
            answer = AnswerSlot.read(properties(), id);
        }
        return answer == null ? answer(id) : answer;
    }

    private Properties properties() throws IOException {
        try {
            return oneOf(TRIES, machine::getSystemProperties);
        } catch (IOException e) {
            throw new IOException("the JVM has ended meanwhile, or does not answer: " + e.getMessage(), e);
        }
    }

    /** A request to the target. */
    interface Question {

        Properties ask() throws IOException;
    }

    /**
     * Repeats a request that fails: a JVM throws a NullPointerException if one of its properties is removed while it
     * lists them.
     */
    static Properties oneOf(int tries, Question question) throws IOException {
        try {
            return question.ask();
        } catch (IOException e) {
            if (tries <= 1) {
                throw e;
            }
            return oneOf(tries - 1, question);
        }
    }

    /** @throws IOException if the target has ended or does not answer */
    Answer answer(String id) throws IOException {
        Properties properties = properties();
        Answer answer = AnswerSlot.read(properties, id);
        if (answer == null) {
            throw new IOException(
                    AnswerSlot.isInUse(properties)
                            ? "another command has taken the place of this one"
                            : "no answer: the application has another version of threads-sampler on its class path");
        }
        return answer;
    }

    /** @return the files of the target, as this process sees them */
    TargetFiles files() {
        return files;
    }

    /** Lets the target remove its answer, if the target has its library loaded. */
    @Override
    public void close() throws IOException {
        try {
            if (asked != null) {
                isServed(properties(), AgentCommand.FORGET + "=" + asked);
            }
        } catch (IOException ended) {
            // the answer is gone, too
        } finally {
            machine.detach();
        }
    }
}

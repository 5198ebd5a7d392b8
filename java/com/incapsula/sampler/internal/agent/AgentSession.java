// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.agent;

import com.incapsula.sampler.ReportFormat;
import com.incapsula.sampler.ReportOptions;
import com.incapsula.sampler.SamplingCursor;
import com.incapsula.sampler.SamplingReport;
import com.incapsula.sampler.internal.agent.AgentCommand.Verb;
import com.incapsula.sampler.internal.engine.InternalThreads;
import com.incapsula.sampler.internal.options.BeanProperties;
import com.incapsula.sampler.internal.report.IoReason;
import java.io.File;
import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The commands of the agent in this JVM. The agent has at most one sampler, beside those of the application.
 *
 * <p>Threads: any; one command at a time. {@code run} returns at once, and an internal thread ends the run.
 */
final class AgentSession {

    static final String JAR_PROPERTY = "com.incapsula.sampler.agent.jar";

    private static final String STANDARD_FILE = "threads-sampler-%p-%t.html";
    private static final long MAX_RUN_MILLIS = TimeUnit.DAYS.toMillis(1);
    private static final long FETCH_SECONDS = 60;
    private static final Set<String> OF_A_FILE =
            Set.of(Keys.FILE, Keys.FORMAT, Keys.KEEP, Keys.MEASURE, Keys.PER, Keys.FOCUS);

    private static final Set<String> OF_A_REPORT =
            Set.of(Keys.FILE, Keys.FORMAT, Keys.CONTENT, Keys.MEASURE, Keys.PER, Keys.FOCUS);

    private @Nullable AgentSampler running; // guarded by this
    private final Deque<Path> fetchable = new ConcurrentLinkedDeque<>(); // report files for command lines

    /**
     * Carries out a command and answers it.
     *
     * @param atStart whether the JVM is starting; then no command line waits for a report
     * @throws Refusal if the command is not carried out
     */
    synchronized void execute(AgentCommand command, boolean atStart, AnswerSlot slot) throws IOException {
        removeForgotten();
        for (String copy : command.copies()) {
            keepCopy(copy);
        }
        switch (command.verb()) {
            case START -> slot.done(start(command, atStart), null);
            case RUN -> run(command, slot);
            case DUMP -> dump(command, slot);
            case STATUS -> {
                requireOnly(command, Set.of());
                slot.done(running == null ? "not running" : running.status(), null);
            }
            case SET -> slot.done(set(command), null);
            case STOP -> stop(command, slot);
            case MCP -> serveModels(command, slot);
        }
    }

    /* Removes reports that no command line has fetched within a minute, because it was ended. */
    private void removeForgotten() {
        if (fetchable.isEmpty()) {
            return;
        }
        FileTime old = FileTime.fromMillis(System.currentTimeMillis() - TimeUnit.SECONDS.toMillis(FETCH_SECONDS));
        fetchable.removeIf(file -> {
            try {
                if (Files.exists(file) && Files.getLastModifiedTime(file).compareTo(old) > 0) {
                    return false;
                }
                Files.deleteIfExists(file);
            } catch (IOException gone) {
                // it is being fetched
            }
            return true;
        });
    }

    /* Deletes, at the exit, files that the command line has copied for this JVM; a later command may need the jar. */
    private static void keepCopy(String file) {
        if (file.endsWith(".jar")) {
            System.setProperty(JAR_PROPERTY, file);
        }
        new File(file).deleteOnExit();
    }

    // ---- start ----

    private String start(AgentCommand command, boolean atStart) {
        if (running != null) {
            throw new Refusal("it " + running.description() + "; stop comes first");
        }
        refuse(command, Keys.DURATION, Keys.CONTENT);
        List<String> ignored = new ArrayList<>();
        Map<String, String> settings = merged(command.settings(), System.getenv(), ignored);
        AgentSampler started = begin(prepared(settings, atStart));
        return started.description() + (ignored.isEmpty() ? "" : "\nignored, as no options: " + ignored);
    }

    /**
     * Creates the sampler for {@code start}.
     *
     * @param settings by canonical key, from options, environment and file
     * @throws Refusal if they are wrong or contradict each other
     */
    static AgentSampler prepared(Map<String, String> settings, boolean atStart) {
        String to = destination(settings, atStart);
        requirePlace(settings, to);
        if (to.equals("file")) {
            settings.putIfAbsent(Keys.FILE, STANDARD_FILE);
        }
        return AgentSampler.prepare(settings, to);
    }

    /* An explicit to=none has no output. */
    private static void requirePlace(Map<String, String> settings, String to) {
        String every = settings.getOrDefault(Keys.EVERY, "0");
        boolean isPeriodic = Refusal.unlessSeconds(Keys.EVERY, every) > 0;
        boolean hasPlace = !to.equals("none")
                || settings.containsKey(Keys.TO)
                || settings.containsKey(Keys.PUSH)
                || settings.getOrDefault(Keys.RECORDED, "false").equalsIgnoreCase("true");
        if (isPeriodic && !hasPlace) {
            throw new Refusal("every has no place for its reports: name a file, or push=URL, to=log, to=stdout,"
                    + " jfrEvents=true or, for reports on demand, to=none");
        }
    }

    private AgentSampler begin(AgentSampler prepared) {
        prepared.init();
        running = prepared;
        return prepared;
    }

    /* Options take precedence over the environment, and the environment over the file. */
    static Map<String, String> merged(
            Map<String, String> options, Map<String, String> environment, List<String> ignored) {
        Map<String, String> near = over(Keys.ofEnvironment(environment, ignored), options);
        String file = near.remove(Keys.CONFIG);
        return file == null ? near : over(ofFile(Path.of(file)), near);
    }

    /* Values of the first map take precedence, also if the second names another output under another key. */
    private static Map<String, String> over(Map<String, String> far, Map<String, String> near) {
        if (!near.getOrDefault(Keys.TO, "file").equals("file")) {
            far.keySet().removeAll(OF_A_FILE);
        } else if (near.containsKey(Keys.FILE)) {
            far.remove(Keys.TO);
        }
        far.putAll(near);
        return far;
    }

    private static Map<String, String> ofFile(Path file) {
        Properties lines = new Properties();
        try (Reader in = Files.newBufferedReader(file)) {
            lines.load(in);
        } catch (IOException | IllegalArgumentException e) {
            throw new Refusal("config " + file.toAbsolutePath() + " cannot be read: " + e, e);
        }
        Map<String, List<String>> settings = new LinkedHashMap<>();
        for (String key : lines.stringPropertyNames()) {
            try {
                Keys.add(settings, key, lines.getProperty(key).strip());
            } catch (Refusal e) {
                throw new Refusal("config " + file.toAbsolutePath() + ": " + e.getMessage(), e);
            }
        }
        if (settings.containsKey(Keys.CONFIG)) {
            throw new Refusal("config " + file.toAbsolutePath() + " must not name another one");
        }
        return Keys.joined(settings);
    }

    private static String destination(Map<String, String> settings, boolean atStart) {
        boolean needsFile = atStart && !settings.containsKey(Keys.PUSH);
        String standard = settings.containsKey(Keys.FILE) || needsFile ? "file" : "none";
        String chosen = settings.getOrDefault(Keys.TO, standard);
        if (!Keys.DESTINATIONS.contains(chosen)) {
            throw new Refusal("to must be one of " + String.join(", ", Keys.DESTINATIONS) + ", got \"" + chosen + "\"");
        }
        for (String key : OF_A_FILE) {
            if (!chosen.equals("file") && settings.containsKey(key)) {
                throw new Refusal(key + " needs to=file, got to=" + chosen);
            }
        }
        return chosen;
    }

    // ---- run ----

    private void run(AgentCommand command, AnswerSlot slot) {
        Map<String, String> settings = command.settings();
        String duration = settings.getOrDefault(Keys.DURATION, "10s");
        long millis = Refusal.unlessMillis(Keys.DURATION, duration);
        if (millis < 1 || millis > MAX_RUN_MILLIS) {
            throw new Refusal("duration must be between 1ms and 1d, got \"" + duration + "\"");
        }
        refuse(command, Keys.TO, Keys.HTTP, Keys.MCP, Keys.PUSH, Keys.PUSH_HEADERS, Keys.CONFIG, Keys.KEEP, Keys.EVERY);
        Destination to = new Destination(command);
        boolean own = isOwn();
        startRun(new Run(joined(command), own, millis, to, slot));
    }

    /** @return true if a new run has to end the sampler as its last user */
    private boolean isOwn() {
        return running == null || running.hasRuns();
    }

    /* Returns the running sampler, or a new one. */
    private AgentSampler joined(AgentCommand command) {
        AgentSampler used = running;
        if (used == null) {
            Map<String, String> ofSampler = new LinkedHashMap<>(command.settings());
            ofSampler.keySet().removeIf(key -> !Keys.isOfSampler(key));
            used = begin(AgentSampler.prepare(ofSampler, "none"));
        } else if (command.settings().keySet().stream().anyMatch(Keys::isOfSampler)) {
            throw new Refusal("it " + used.description() + "; without options of the sampler, "
                    + command.verb().text() + " reports what that one sees from now on");
        }
        return used;
    }

    private void startRun(Run run) {
        boolean started = false;
        SamplingCursor cursor = null;
        try {
            cursor = run.used().sampler().openCursor();
            SamplingCursor opened = cursor;
            Thread thread = InternalThreads.daemon(
                    InternalThreads.hidden(), () -> awaitAndReport(run, opened), "threads-sampler-run");
            run.slot().goesOn("running");
            thread.start();
            started = true;
            if (run.own()) {
                run.used().addRun(thread); // before it can end, which needs the lock held here
            } else {
                run.used().addHelper(thread);
            }
        } finally {
            if (!started && cursor != null) {
                cursor.close();
            }
            if (!started && run.own() && !run.used().hasRuns()) {
                endQuietly(run.used());
            }
        }
    }

    /* The last run of a shared sampler ends it. */
    private synchronized void leave(AgentSampler used, boolean own) {
        if (!own) {
            used.removeHelper(Thread.currentThread());
        } else if (used.removeRun(Thread.currentThread())) {
            endQuietly(used);
        }
    }

    /** A run for some time, on a sampler of runs, or on the one that {@code start} has started. */
    private record Run(AgentSampler used, boolean own, long millis, Destination to, AnswerSlot slot) {}

    private void awaitAndReport(Run run, SamplingCursor cursor) {
        try (cursor) {
            TimeUnit.MILLISECONDS.sleep(run.millis());
            String text;
            Path content;
            try (SamplingReport report = cursor.next()) {
                content = noted(run.to().write(report));
                text = summary(run, report) + run.to().description(report);
            }
            leave(run.used(), run.own());
            run.slot().done(text, content);
        } catch (InterruptedException | IOException | RuntimeException | Error e) {
            leave(run.used(), run.own());
            run.slot()
                    .refuse(
                            e instanceof InterruptedException || e instanceof IllegalStateException
                                    ? "it was stopped before its time"
                                    : "no report could be written: " + IoReason.of(e));
        }
    }

    /* A command line shows the summary; other answers are printed on the application's standard error. */
    private static String summary(Run run, SamplingReport report) {
        boolean isShown = !run.slot().wantsSummary() && !report.getGroups().isEmpty(); // else the report has no summary
        if (isShown || !run.slot().isAwaited() || !run.used().sampler().isReportSummary()) {
            return "";
        }
        try {
            return report.getSummary() + "\n";
        } catch (OutOfMemoryError | IllegalStateException e) {
            return "Summary not made: " + e.getMessage() + "\n";
        }
    }

    private @Nullable Path noted(@Nullable Path content) {
        if (content != null) {
            fetchable.add(content);
        }
        return content;
    }

    private synchronized void endQuietly(AgentSampler sampler) {
        if (running == sampler) {
            running = null;
        }
        sampler.end();
    }

    // ---- a session of the Model Context Protocol ----

    private void serveModels(AgentCommand command, AnswerSlot slot) {
        if (!slot.isAwaited()) {
            throw new Refusal("mcp is for the command line; the agent's own way is http=PORT,mcp=true");
        }
        for (String key : command.settings().keySet()) {
            if (!Keys.isOfSampler(key) || key.equals("reportFrequencySeconds")) {
                refuse(command, key);
            }
        }
        boolean own = isOwn();
        AgentSampler used = joined(command);
        McpSocket socket = null;
        boolean started = false;
        try {
            McpSocket opened = McpSocket.open();
            socket = opened;
            Thread thread = InternalThreads.daemon(
                    InternalThreads.hidden(), () -> serve(used, own, opened, slot), "threads-sampler-mcp");
            slot.done(used.description(), opened.path());
            thread.start();
            started = true;
            if (own) {
                used.addRun(thread); // before it can end, which needs the lock held here
            } else {
                used.addHelper(thread);
            }
        } finally {
            if (!started) {
                close(socket);
                if (own && !used.hasRuns()) {
                    endQuietly(used);
                }
            }
        }
    }

    private static void close(@Nullable McpSocket socket) {
        if (socket != null) {
            socket.close();
        }
    }

    private void serve(AgentSampler used, boolean own, McpSocket socket, AnswerSlot slot) {
        try (socket) {
            socket.serve(used.sampler(), slot.greeting());
        } catch (IOException | InterruptedException | RuntimeException | Error ended) {
            // the client sees the end of the connection; no other message is possible
        } finally {
            leave(used, own);
        }
    }

    // ---- while it runs ----

    private void dump(AgentCommand command, AnswerSlot slot) throws IOException {
        AgentSampler used = required();
        requireOnly(command, OF_A_REPORT);
        Destination to = new Destination(command);
        if (to.isNowhere()) {
            slot.done(used.printReport(), null);
            return;
        }
        try (SamplingReport report = used.sampler().snapshot()) {
            Path content = noted(to.write(report));
            slot.done(to.description(report), content);
        }
    }

    private String set(AgentCommand command) {
        AgentSampler used = required();
        if (command.settings().size() != 1) {
            throw new Refusal(
                    "set takes one KEY=VALUE, got " + command.settings().size());
        }
        Map.Entry<String, String> setting =
                command.settings().entrySet().iterator().next();
        if (!BeanProperties.has(setting.getKey())) {
            throw new Refusal(setting.getKey() + " cannot be changed while the sampler runs");
        }
        return used.set(setting.getKey(), setting.getValue());
    }

    /* Stops the sampler even if the report fails. */
    private void stop(AgentCommand command, AnswerSlot slot) {
        AgentSampler ending = required();
        requireOnly(command, OF_A_REPORT);
        Path content = null;
        List<String> lines = new ArrayList<>();
        try {
            Destination to = new Destination(command);
            if (!to.isNowhere()) {
                try (SamplingReport report = ending.sampler().snapshot()) {
                    content = noted(to.write(report));
                    lines.add(to.description(report));
                }
            }
        } catch (IOException | RuntimeException | Error e) {
            lines.add("no report could be written: " + IoReason.of(e));
        } finally {
            running = null;
            lines.add(0, ending.end());
        }
        slot.done(String.join("\n", lines), content);
    }

    private AgentSampler required() {
        AgentSampler used = running;
        if (used == null) {
            throw new Refusal("not running");
        }
        return used;
    }

    private static void requireOnly(AgentCommand command, Set<String> keys) {
        for (String key : command.settings().keySet()) {
            if (!keys.contains(key)) {
                throw new Refusal(key + " has no meaning with " + command.verb().text());
            }
        }
    }

    private static void refuse(AgentCommand command, String... keys) {
        for (String key : keys) {
            if (command.settings().containsKey(key)) {
                throw new Refusal(key + " has no meaning with " + command.verb().text());
            }
        }
    }

    /** The place for the report of a single command: a file of the user, or one that the command line fetches. */
    private static final class Destination {

        private final Verb verb;
        private final @Nullable ReportFiles files;
        private final @Nullable ReportFormat fetched;
        private final Map<String, String> settings;

        Destination(AgentCommand command) {
            settings = command.settings();
            verb = command.verb();
            files = settings.containsKey(Keys.FILE) ? new ReportFiles(settings) : null;
            String content = settings.get(Keys.CONTENT);
            fetched = content == null ? null : ReportFiles.format(content);
            ReportFiles.changed(ReportOptions.standard(), settings); // finds a wrong value before the sampler starts
            if (files == null && settings.containsKey(Keys.FORMAT)) {
                throw new Refusal("format needs a file");
            }
            if (files == null && fetched == null && verb == Verb.RUN) {
                throw new Refusal("run needs a file");
            }
            if (files != null) {
                files.starting();
            }
        }

        boolean isNowhere() {
            return files == null && fetched == null;
        }

        /** @return the file to fetch, or null */
        @Nullable
        Path write(SamplingReport report) throws IOException {
            if (files != null) {
                files.report(report);
            }
            return fetched == null
                    ? null
                    : ReportFiles.writeTemporary(report, fetched, ReportFiles.changed(report.getOptions(), settings));
        }

        String description(SamplingReport report) {
            return report.getSamples() + " samples in " + report.getElapsed().toMillis() + " ms"
                    + (files == null ? "" : ", in " + files.description());
        }
    }
}

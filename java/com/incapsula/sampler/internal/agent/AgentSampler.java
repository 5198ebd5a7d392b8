// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.agent;

import com.incapsula.sampler.SamplerStatistics;
import com.incapsula.sampler.SamplingReport;
import com.incapsula.sampler.ThreadsSampler;
import com.incapsula.sampler.ThreadsSamplerServer;
import com.incapsula.sampler.internal.options.BeanProperties;
import com.incapsula.sampler.internal.report.UtcTime;
import com.incapsula.sampler.manipulate.RegexThreadNameManipulator;
import com.incapsula.sampler.outputer.LoggerSamplingOutputer;
import com.incapsula.sampler.outputer.PrintStreamSamplingOutputer;
import com.incapsula.sampler.outputer.ReportAction;
import com.incapsula.sampler.outputer.SamplingOutputer;
import com.incapsula.sampler.remote.RemoteSamplingOutputer;
import java.io.IOException;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;
import org.jspecify.annotations.Nullable;

/**
 * A sampler with the settings of a command, and its server.
 *
 * <p>Threads: one at a time, except {@link #sampler}.
 */
final class AgentSampler {

    private static final int MAX_PORT = 65_535;
    private static final long PUSH_SECONDS = 60;

    /* Compiling a regular expression takes time that grows with the square of its length. */
    private static final int MAX_EXPRESSION_CHARS = 4096;

    private final ThreadsSampler sampler;
    private final SamplingOutputer outputer;
    private final @Nullable RemoteSamplingOutputer push;
    private final String output;
    private final Map<String, String> options; // properties that were set, for messages
    private final String since = UtcTime.now().toString();
    private final @Nullable ThreadsSamplerServer server;
    private final Set<Thread> runs = new HashSet<>(); // threads of commands that share this sampler
    private final Set<Thread> helpers = new HashSet<>(); // those, and other threads that use it while it runs

    private AgentSampler(
            ThreadsSampler sampler,
            SamplingOutputer outputer,
            @Nullable RemoteSamplingOutputer push,
            @Nullable ThreadsSamplerServer server,
            String output,
            Map<String, String> options) {
        this.sampler = sampler;
        this.outputer = outputer;
        this.push = push;
        this.server = server;
        this.output = output;
        this.options = options;
    }

    /**
     * Creates a sampler for {@link #init}, and checks the settings as far as possible without starting it. By default
     * there is one report at the end, or one each minute if reports are pushed.
     *
     * @param settings by canonical key
     * @param output file, log, stdout or none
     * @throws Refusal with the reason
     */
    static AgentSampler prepare(Map<String, String> settings, String output) {
        ThreadsSampler sampler = new ThreadsSampler();
        sampler.setReportFrequencySeconds(settings.containsKey(Keys.PUSH) ? PUSH_SECONDS : 0);
        sampler.setRequired(true); // a refusal is printed, so an inert sampler has no use
        Map<String, String> options = new TreeMap<>();
        for (Map.Entry<String, String> setting : settings.entrySet()) {
            String key = setting.getKey();
            if (!Keys.isOwn(key)) {
                setProperty(sampler, key, setting.getValue());
                options.put(key, setting.getValue());
            }
        }
        String threads = settings.get(Keys.THREADS);
        if (threads != null) {
            chooseThreads(sampler, threads);
            options.put(Keys.THREADS, threads);
        }
        SamplingOutputer outputer = outputer(settings, output);
        RemoteSamplingOutputer push = push(settings);
        sampler.setSamplingOutputer(push == null ? outputer : outputer.and(push));
        ThreadsSamplerServer server = server(sampler, settings.get(Keys.HTTP), settings.get(Keys.MCP));
        return new AgentSampler(sampler, outputer, push, server, output, options);
    }

    private static void setProperty(ThreadsSampler sampler, String name, String value) {
        try {
            BeanProperties.set(sampler, name, value);
        } catch (IllegalArgumentException | IllegalStateException e) {
            throw new Refusal(String.valueOf(e.getMessage()), e);
        }
    }

    private static void chooseThreads(ThreadsSampler sampler, String expression) {
        if (expression.length() > MAX_EXPRESSION_CHARS) {
            throw new Refusal(
                    "threads must have at most " + MAX_EXPRESSION_CHARS + " characters, got " + expression.length());
        }
        try {
            Pattern names = Pattern.compile(expression);
            RegexThreadNameManipulator groups = new RegexThreadNameManipulator();
            sampler.setThreadNameManipulator(
                    thread -> names.matcher(thread.getName()).find() ? groups.getManipulatedThreadName(thread) : null);
        } catch (PatternSyntaxException e) {
            throw new Refusal(
                    "threads must be a regular expression, got \"" + expression + "\": " + e.getDescription(), e);
        }
    }

    /** Drops periodic reports, for commands that fetch reports. A class, as a starting JVM would link a lambda. */
    private static final class Dropped implements ReportAction {

        @Override
        public void accept(SamplingReport report) {}
    }

    private static SamplingOutputer silent() {
        return SamplingOutputer.of(new Dropped());
    }

    private static SamplingOutputer outputer(Map<String, String> settings, String output) {
        return switch (output) {
            case "file" -> new ReportFiles(settings);
            case "log" -> new ApplicationLog();
            case "stdout" -> new PrintStreamSamplingOutputer();
            default -> silent();
        };
    }

    private static @Nullable RemoteSamplingOutputer push(Map<String, String> settings) {
        String url = settings.get(Keys.PUSH);
        String headers = settings.get(Keys.PUSH_HEADERS);
        if (url == null && headers != null) {
            throw new Refusal("pushHeaders needs push");
        }
        if (url == null) {
            return null;
        }
        try {
            RemoteSamplingOutputer push = new RemoteSamplingOutputer(url);
            push.setHeaders(headers == null ? "" : headers);
            return push;
        } catch (IllegalArgumentException e) {
            throw new Refusal("push: " + e.getMessage(), e);
        }
    }

    /** Starts the sampler. @throws Refusal with the reason; nothing has been started */
    void init() {
        try {
            sampler.init();
        } catch (RuntimeException | Error e) {
            throw new Refusal(String.valueOf(e.getMessage() == null ? e : e.getMessage()), e);
        }
        if (server == null) {
            return;
        }
        try {
            server.init();
        } catch (RuntimeException | Error e) {
            sampler.setSamplingOutputer(silent()); // a refused start must not replace an older report
            sampler.shutdown();
            throw new Refusal("http: " + e.getMessage(), e);
        }
    }

    private static void allowModels(@Nullable ThreadsSamplerServer server, String flag) {
        if (!flag.equals("true") && !flag.equals("false")) {
            throw new Refusal("mcp must be true or false, got \"" + flag + "\"");
        }
        if (server == null) {
            throw new Refusal("mcp needs http=PORT: it is a path of the server");
        }
        server.setMcp(flag.equals("true"));
    }

    private static @Nullable ThreadsSamplerServer server(
            ThreadsSampler sampler, @Nullable String port, @Nullable String mcp) {
        ThreadsSamplerServer made = port == null ? null : server(sampler, port);
        if (mcp != null) {
            allowModels(made, mcp);
        }
        return made;
    }

    private static ThreadsSamplerServer server(ThreadsSampler sampler, String port) {
        ThreadsSamplerServer made = new ThreadsSamplerServer();
        made.setSampler(sampler);
        try {
            int number = Integer.parseInt(port);
            if (number < 0 || number > MAX_PORT) {
                throw new NumberFormatException();
            }
            made.setPort(number);
        } catch (NumberFormatException e) {
            throw new Refusal("http must be a port between 0 and " + MAX_PORT + ", got \"" + port + "\"", e);
        }
        return made;
    }

    ThreadsSampler sampler() {
        return sampler;
    }

    /**
     * Writes a report to the place of the periodic ones.
     *
     * @return a sentence for the user
     * @throws Refusal if reports are not written anywhere
     */
    String printReport() {
        if (isNowhere()) {
            throw new Refusal("dump needs a file, as the sampler was started without one");
        }
        sampler.printReport();
        return "the report up to now went to " + place();
    }

    /** Sets a property. @return a sentence for the user */
    String set(String name, String value) {
        setProperty(sampler, name, value);
        options.put(name, value);
        return name + " is " + value + " from the next tick on";
    }

    /** Adds a thread that waits for something while the sampler runs; {@link #end} interrupts it. */
    void addHelper(Thread helper) {
        helpers.add(helper);
    }

    /** Removes a thread that no longer waits. */
    void removeHelper(Thread helper) {
        helpers.remove(helper);
    }

    /** Adds the thread of a run that shares this sampler; {@link #end} interrupts it. */
    void addRun(Thread thread) {
        runs.add(thread);
        helpers.add(thread);
    }

    /** @return true if no other run shares this sampler */
    boolean removeRun(Thread thread) {
        helpers.remove(thread);
        runs.remove(thread);
        return runs.isEmpty();
    }

    /** @return true if the sampler ends with the last of its runs */
    boolean hasRuns() {
        return !runs.isEmpty();
    }

    /** Stops the sampler. @return sentences for the user, with failures */
    String end() {
        for (Thread helper : helpers) {
            if (helper != Thread.currentThread()) {
                helper.interrupt();
            }
        }
        String failed = null;
        try {
            if (server != null) {
                server.close();
            }
        } catch (RuntimeException | Error e) {
            failed = "its server could not be closed: " + e;
        }
        try {
            sampler.close();
        } catch (IOException | RuntimeException | Error e) {
            failed = String.valueOf(e.getMessage());
        }
        if (failed == null && outputer instanceof ReportFiles files && files.failure() != null) {
            failed = "a report could not be written: " + files.failure().getMessage();
        }
        long lost = sampler.getStatistics().getCounters().getOrDefault("FAILED_REPORTS", 0L);
        if (failed == null && lost > 0) {
            failed = lost + (lost == 1 ? " report was" : " reports were") + " not written";
        }
        String where = isNowhere() ? "" : ", reports are in " + place();
        return "stopped" + (failed == null ? where : "; " + failed);
    }

    private boolean isNowhere() {
        return output.equals("none") && push == null;
    }

    private String place() {
        String written = switch (output) {
            case "file" -> ((ReportFiles) outputer).description();
            case "log" -> "the log " + ((LoggerSamplingOutputer) outputer).getLoggerName();
            case "stdout" -> "standard output";
            default -> "";
        };
        String pushed = push == null ? "" : "a server (" + push + ")";
        return written + (written.isEmpty() || pushed.isEmpty() ? "" : " and ") + pushed;
    }

    /** @return one line with the start time and the settings */
    String description() {
        long seconds = sampler.getReportFrequencySeconds();
        String when = seconds == 0 ? " at the end" : " every " + seconds + " s";
        StringBuilder how = new StringBuilder();
        for (Map.Entry<String, String> option : options.entrySet()) {
            how.append(how.length() == 0 ? ", with " : ", ")
                    .append(option.getKey())
                    .append('=')
                    .append(option.getValue());
        }
        return "runs since " + since + how
                + (isNowhere() ? ", reports on demand" : ", reports to " + place() + when)
                + (server == null ? "" : ", page at " + server.getUrl());
    }

    /** @return lines with the sampler's figures */
    String status() {
        SamplerStatistics figures = sampler.getStatistics();
        return String.join(
                "\n",
                description(),
                "engine: " + figures.getEngine(),
                "elapsed: " + TimeUnit.NANOSECONDS.toMillis(figures.getElapsedNanos()) + " ms",
                "threads: " + figures.getThreads(),
                "polls: " + figures.getPolls(),
                "reports: " + figures.getReportsWritten(),
                "memory used: " + figures.getMemoryUsedBytes() + " of " + figures.getMemoryLimitBytes() + " bytes",
                "sampler's own CPU: " + TimeUnit.NANOSECONDS.toMillis(figures.getOwnCpuNanos()) + " ms");
    }
}

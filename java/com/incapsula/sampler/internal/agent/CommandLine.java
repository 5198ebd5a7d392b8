// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.agent;

import com.incapsula.sampler.internal.agent.AgentCommand.Verb;
import com.incapsula.sampler.internal.agent.AnswerSlot.Answer;
import com.incapsula.sampler.internal.agent.AnswerSlot.State;
import com.incapsula.sampler.internal.report.FileNames;
import com.incapsula.sampler.internal.report.FileSeries;
import com.incapsula.sampler.internal.report.IoReason;
import com.incapsula.sampler.internal.report.PlainText;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The program {@code java -jar threads-sampler.jar}. Samples another JVM, or merges or compares report files.
 *
 * <p>Exit codes: 0 success; 1 the target refused the command, there is no report, or standard output cannot be written;
 * 2 usage; 3 the target cannot be attached to.
 *
 * <p>Threads: one.
 */
public final class CommandLine {

    private static final int DONE = 0;
    private static final int REFUSED = 1;
    private static final int USAGE = 2;
    private static final int NO_ATTACH = 3;

    private static final long ANSWER_MILLIS = 60_000; // after the end of a run, on a busy machine
    private static final long SHOW_MILLIS = 1000;

    private final PrintStream out;
    private final PrintStream err;

    CommandLine(PrintStream out, PrintStream err) {
        this.out = out;
        this.err = err;
    }

    /** Runs one command, as {@code --help} explains them, and exits. */
    public static void main(String[] arguments) {
        System.exit(new CommandLine(System.out, System.err).run(arguments));
    }

    /** @return the exit code */
    int run(String... arguments) {
        try {
            int exit = execute(Arguments.parse(arguments));
            return exit == DONE && out.checkError() ? fail(REFUSED, "standard output cannot be written to") : exit;
        } catch (Refusal | InvalidPathException e) { // InvalidPathException: this locale cannot express the name
            return fail(USAGE, e.getMessage() + "\n--help explains the options");
        } catch (IOException e) {
            return fail(REFUSED, IoReason.of(e));
        } catch (OutOfMemoryError e) { // the files are too large
            return fail(REFUSED, "not enough memory: " + e.getMessage() + "; more is java -Xmx8g -jar ...");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return fail(REFUSED, "interrupted");
        }
    }

    private int fail(int exit, @Nullable String reason) {
        out.flush();
        err.println("threads-sampler: " + PlainText.of(String.valueOf(reason)));
        return exit;
    }

    private int execute(Arguments arguments) throws IOException, InterruptedException {
        switch (arguments.action()) {
            case HELP -> {
                out.print(Usage.TEXT);
                return DONE;
            }
            case VERSION -> {
                out.println("threads-sampler " + Usage.version());
                return DONE;
            }
            case DIFF, MERGE -> {
                ProfileFiles.execute(arguments, out, err);
                return DONE;
            }
            default -> {
                return attached(arguments);
            }
        }
    }

    // ---- other JVMs ----

    private int attached(Arguments arguments) throws IOException, InterruptedException {
        if (ModuleLayer.boot().findModule("jdk.attach").isEmpty()) {
            return fail(
                    NO_ATTACH,
                    "this Java runs without the module jdk.attach: take a JDK, or start the application with"
                            + " -javaagent:threads-sampler.jar");
        }
        List<Target.Listed> all = Target.list();
        if (arguments.action() == Arguments.Action.LIST) {
            return list(all, out);
        }
        String wanted = arguments.target();
        List<Target.Listed> found = JvmNames.find(all, wanted);
        if (found.size() != 1) {
            String which = found.isEmpty() ? "no JVM of this user is called " : "more than one JVM is called ";
            int exit = fail(found.isEmpty() ? NO_ATTACH : USAGE, which + wanted);
            list(found.isEmpty() ? all : found, err);
            return exit;
        }
        try (Target target = Target.attach(found.get(0).pid())) {
            return command(target, found.get(0), arguments);
        } catch (Target.Unreachable e) {
            return fail(NO_ATTACH, e.getMessage());
        }
    }

    private static int list(List<Target.Listed> all, PrintStream to) {
        for (Target.Listed each : all) {
            to.printf(Locale.ROOT, "%7s %s%n", each.pid(), JvmNames.shown(each.name()));
        }
        return DONE;
    }

    private int command(Target target, Target.Listed named, Arguments arguments)
            throws Target.Unreachable, IOException, InterruptedException {
        FileSeries files = files(arguments, named.pid());
        if (files != null) {
            files.check(); // before sampling
        }
        String id = target.send(arguments.forAgent());
        Answer answer = target.answer(id);
        if (answer.state() == State.GOES_ON) {
            showProgress(named, arguments.durationMillis());
            answer = target.await(id, ANSWER_MILLIS);
        }
        if (answer.state() == State.GOES_ON) {
            return fail(REFUSED, "the target has not answered in time");
        }
        if (answer.state() == State.REFUSED) {
            return fail(REFUSED, answer.text());
        }
        if (arguments.verb() == Verb.MCP && answer.content() != null) {
            return relay(target.files().socket(answer.content()), id, answer.text());
        }
        return finish(target, answer, files, arguments);
    }

    private static @Nullable FileSeries files(Arguments arguments, String process) {
        String output = arguments.output();
        try {
            return output == null ? null : new FileSeries(FileNames.expand(output, process));
        } catch (IllegalArgumentException e) {
            throw new Refusal("-o: " + e.getMessage(), e);
        }
    }

    private int finish(Target target, Answer answer, @Nullable FileSeries files, Arguments arguments)
            throws IOException {
        String path = answer.content();
        if (path == null) {
            out.println(PlainText.of(answer.text()));
            return DONE;
        }
        byte[] content = target.files().take(path);
        if (files == null) {
            out.write(shown(content, arguments));
            out.flush();
            err.println(PlainText.of(answer.text()));
        } else {
            Path file = files.write(Instant.now(), stream -> stream.write(content));
            out.println(PlainText.of(answer.text()) + ", in " + file);
        }
        return DONE;
    }

    private int relay(Path socket, String id, String text) throws IOException {
        err.println("threads-sampler: " + PlainText.of(text));
        return new McpRelay().run(socket, id, System.in, out)
                ? DONE
                : fail(REFUSED, "the target has ended the session");
    }

    /* Texts may be shown on a terminal; profiles are binary. */
    private static byte[] shown(byte[] content, Arguments arguments) {
        String format = arguments.settings().get(Keys.FORMAT);
        boolean isBinary = "pprof".equalsIgnoreCase(format) || "otlp".equalsIgnoreCase(format);
        return isBinary
                ? content
                : PlainText.of(new String(content, StandardCharsets.UTF_8)).getBytes(StandardCharsets.UTF_8);
    }

    private void showProgress(Target.Listed named, long millis) throws InterruptedException {
        String what = "sampling " + named.pid() + " (" + PlainText.of(JvmNames.main(named.name())) + ") for " + millis
                + " ms";
        if (!isTerminal()) {
            err.println(what);
            Thread.sleep(millis);
            return;
        }
        long end = System.nanoTime() + millis * 1_000_000;
        for (long left = millis; left > 0; left = (end - System.nanoTime()) / 1_000_000) {
            err.print("\r" + what + ": " + (left + SHOW_MILLIS - 1) / SHOW_MILLIS + " s left  ");
            err.flush();
            Thread.sleep(Math.min(left, SHOW_MILLIS));
        }
        err.println();
    }

    /* System.console() changed its meaning in JDK 22. */
    private static boolean isTerminal() {
        try {
            String name = Files.readSymbolicLink(Path.of("/proc/self/fd/2")).toString();
            return name.startsWith("/dev/pts/") || name.startsWith("/dev/tty");
        } catch (IOException | RuntimeException unknown) {
            return false;
        }
    }
}

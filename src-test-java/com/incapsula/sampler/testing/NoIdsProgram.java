// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.testing;

import com.incapsula.sampler.ReportFormat;
import com.incapsula.sampler.SamplingReport;
import com.incapsula.sampler.ThreadsSampler;
import com.incapsula.sampler.outputer.PrintStreamSamplingOutputer;
import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;
import javax.tools.ToolProvider;

/**
 * Threads in methods that the JVM has made no ids for: running and waiting in methods that became obsolete, in a method
 * that the JVM itself has made, in a hidden class. Virtual threads are in use, where there are some: then no handshake
 * makes the ids, either.
 */
public final class NoIdsProgram {

    private static final int INTERVAL_MILLIS = 5;
    private static final int DEEP = 300;

    private static final CountDownLatch GO_HOME = new CountDownLatch(1);

    private static volatile int defaultLine;

    private NoIdsProgram() {}

    static void setDefaultLine(int line) {
        defaultLine = line;
    }

    /** What has no place in a {@code Runnable}. */
    private interface Work {
        void run() throws Exception;
    }

    /**
     * Runs.
     *
     * @param arguments the file of the collapsed stacks, polls that must be in it, a folder for classes
     */
    public static void main(String... arguments) throws Exception {
        long polls = Long.parseLong(arguments[1]);
        List<Thread> threads = new ArrayList<>();
        useVirtualThreads();
        Runnable throwing = conflicting(Path.of(arguments[2]));
        WithDefault hidden = hidden();
        try (ThreadsSampler sampler = new ThreadsSampler()) {
            sampler.setSamplingFrequencyMillis(INTERVAL_MILLIS);
            sampler.setReportFrequencySeconds(0);
            sampler.setOverheadLimitPercent(100); // what is skipped depends on the machine
            sampler.setSamplingOutputer(new PrintStreamSamplingOutputer(arguments[0] + ".report"));
            ChosenEngine.set(sampler);
            sampler.init();
            threads.add(start("spinner", () -> RedefinedWork.spin(GO_HOME)));
            threads.add(start("waiter", () -> RedefinedWork.waitHere(GO_HOME)));
            while (RedefinedWork.spinLine() == 0 || RedefinedWork.waitLine() == 0) {
                Thread.onSpinWait();
            }
            RedefiningAgent.redefine();
            threads.add(start("conflict", () -> throwDeep(throwing, DEEP)));
            threads.add(start("hidden", () -> hidden.workByDefault(GO_HOME)));
            long before = sampler.getStatistics().getPolls();
            do {
                Thread.sleep(INTERVAL_MILLIS);
                try (SamplingReport report = sampler.snapshot()) {
                    report.writeTo(ReportFormat.COLLAPSED, Path.of(arguments[0]));
                }
            } while (sampler.getStatistics().getPolls() < before + polls || !showsAll(Path.of(arguments[0])));
            GO_HOME.countDown();
            for (Thread thread : threads) {
                thread.join();
            }
        }
        System.out.println("version " + RedefinedWork.version());
        System.out.println("spin line " + RedefinedWork.spinLine());
        System.out.println("wait line " + RedefinedWork.waitLine());
        System.out.println("default line " + defaultLine);
    }

    /* On a busy machine a thread may not have run yet. */
    private static boolean showsAll(Path stacks) throws IOException {
        String text = Files.readString(stacks);
        return Stream.of(
                        "RedefinedWork.spin(RedefinedWork.java:" + RedefinedWork.spinLine(),
                        "RedefinedWork.waitHere(RedefinedWork.java:" + RedefinedWork.waitLine(),
                        "WithDefault.workByDefault(WithDefault.java:" + defaultLine,
                        "HiddenWork.work(",
                        "Conflict.run(")
                .allMatch(text::contains);
    }

    private static Thread start(String name, Work work) {
        Thread thread = new Thread(
                () -> {
                    try {
                        work.run();
                    } catch (Exception e) {
                        throw new AssertionError(e);
                    }
                },
                name);
        thread.start();
        return thread;
    }

    /* There are none before JDK 21. */
    private static void useVirtualThreads() throws Exception {
        if (Runtime.version().feature() < 21) {
            return;
        }
        Thread thread = (Thread)
                Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, (Runnable) Thread::yield);
        thread.join();
    }

    private static WithDefault hidden() throws Exception {
        byte[] code = RedefiningAgent.bytesOf(HiddenWork.class);
        Class<?> type = MethodHandles.lookup().defineHiddenClass(code, true).lookupClass();
        return (WithDefault) type.getDeclaredConstructor().newInstance();
    }

    /* Deep, so that most of the time is spent where the stack trace is filled in. */
    private static void throwDeep(Runnable throwing, int depth) {
        if (depth > 0) {
            throwDeep(throwing, depth - 1);
            return;
        }
        while (GO_HOME.getCount() > 0) {
            try {
                throwing.run();
                throw new AssertionError("no conflict");
            } catch (IncompatibleClassChangeError expected) {
                RedefinedWork.sum++;
            }
        }
    }

    /*
     * A class that gets two equal default methods: the second one came after it was compiled. The JVM makes a method
     * for it that throws.
     */
    private static Runnable conflicting(Path folder) throws Exception {
        String other = "public interface Other { %s }";
        compile(folder, "Other", String.format(other, ""));
        compile(folder, "One", "public interface One extends Runnable { default void run() { } }");
        compile(folder, "Conflict", "public class Conflict implements One, Other { }");
        compile(
                folder,
                "Call",
                "public class Call implements Runnable {"
                        + " Conflict conflict = new Conflict(); public void run() { conflict.run(); } }");
        compile(folder, "Other", String.format(other, "default void run() { }"));
        URLClassLoader loader = new URLClassLoader(new URL[] {folder.toUri().toURL()});
        return (Runnable) loader.loadClass("Call").getDeclaredConstructor().newInstance();
    }

    private static void compile(Path folder, String name, String source) throws IOException {
        Path file = folder.resolve(name + ".java");
        Files.writeString(file, source);
        int exit = ToolProvider.getSystemJavaCompiler()
                .run(
                        null,
                        null,
                        null,
                        "-d",
                        folder.toString(),
                        "-cp",
                        folder.toString(),
                        "-proc:none",
                        file.toString());
        if (exit != 0) {
            throw new AssertionError(name + " is not compiled");
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.testing;

import com.incapsula.sampler.SamplerStatistics;
import com.incapsula.sampler.ThreadsSampler;
import com.incapsula.sampler.internal.engine.PatientExit;
import com.incapsula.sampler.outputer.PrintStreamSamplingOutputer;
import com.incapsula.sampler.testing.work.Desk;
import java.io.IOException;
import java.util.concurrent.CountDownLatch;

/**
 * A program with a sampler that reports to a file. Its first argument is the file, the second one chooses how the
 * program ends.
 */
public final class ExitingProgram {

    /** The least time that it works. */
    public static final long WORK_MILLIS = 100;

    private static final CountDownLatch NEVER = new CountDownLatch(1);

    private ExitingProgram() {}

    /** Runs the program. */
    public static void main(String[] arguments) throws Exception {
        String end = arguments[1];
        ThreadsSampler sampler = new ThreadsSampler();
        sampler.setSamplingFrequencyMillis(5);
        sampler.setMonitoredPackages("com.incapsula.sampler.testing.work");
        sampler.setReportFrequencySeconds(end.startsWith("periodic") ? 1 : 0);
        sampler.setSamplingOutputer(new Outputer(arguments[0], end));
        ChosenEngine.set(sampler);
        if (!end.equals("stuck") && !end.contains("exit in")) {
            PatientExit.set();
        }
        if (end.equals("exit in the manipulator")) {
            sampler.setThreadNameManipulator(thread -> {
                exitOnce();
                return thread.getName();
            });
        }
        sampler.init();
        work(sampler);
        System.out.println("ending");
        switch (end) {
            case "close and halt" -> {
                sampler.close();
                Runtime.getRuntime().halt(0);
            }
            case "close" -> sampler.close();
            case "exit" -> System.exit(3);
            case "uncaught" -> throw new IllegalStateException("uncaught on purpose");
            case "close in a hook" -> closeInHook(sampler);
            case "wait", "exit in the manipulator", "periodic, exit in the outputer" -> NEVER.await();
            default -> {
                // main ends here; the sampler must not keep the JVM alive
            }
        }
    }

    /*
     * Works longer if the machine is too busy for an answered poll in that time. Of three polls, the second one lies
     * completely in the time between the first one's beginning and the third one's end.
     */
    private static void work(ThreadsSampler sampler) throws InterruptedException {
        long before;
        do {
            before = answeredPolls(sampler);
            Desk.serveFor(WORK_MILLIS);
        } while (answeredPolls(sampler) < before + 3);
    }

    private static long answeredPolls(ThreadsSampler sampler) {
        SamplerStatistics statistics = sampler.getStatistics();
        return statistics.getPolls() - statistics.getOutcomes().getOrDefault("SIGNAL_UNANSWERED", 0L);
    }

    private static void closeInHook(ThreadsSampler sampler) {
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            try {
                sampler.close();
            } catch (IOException e) {
                throw new AssertionError(e);
            }
        }));
    }

    /* Calls System.exit only once: it never returns, and a second call would wait for the first one. */
    private static synchronized void exitOnce() {
        System.exit(5);
    }

    /** Writes to the file. Depending on the argument it blocks, or ends the JVM. */
    private static final class Outputer extends PrintStreamSamplingOutputer {

        private final String end;

        Outputer(String file, String end) {
            super(file);
            this.end = end;
        }

        @Override
        public void printIntervalTitle(String title) {
            if (end.equals("stuck")) {
                awaitForever();
            }
            if (end.equals("periodic, exit in the outputer")) {
                exitOnce();
            }
            super.printIntervalTitle(title);
        }

        private static void awaitForever() {
            try {
                NEVER.await();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }
    }
}

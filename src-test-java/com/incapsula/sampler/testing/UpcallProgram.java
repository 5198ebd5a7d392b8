// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.testing;

import static com.incapsula.sampler.testing.Samplers.awaitSeen;
import static com.incapsula.sampler.testing.Samplers.patiently;
import static com.incapsula.sampler.testing.Samplers.quick;
import static org.assertj.core.api.Assertions.assertThat;

import com.incapsula.sampler.ReportFormat;
import com.incapsula.sampler.SamplingReport;
import com.incapsula.sampler.ThreadsSampler;
import com.incapsula.sampler.testing.work.Desk;
import java.lang.reflect.Method;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/**
 * Threads in Java code that native code has called by an upcall, one waiting and one running, and a thread that waits
 * in native code called by a downcall. Argument: the folder with the class that makes the calls.
 */
public final class UpcallProgram {

    private static final String CALLER = "upcall.Sorting.sort(";
    private static final String CALLED = "upcall.Sorting.compare(";
    private static final long ENOUGH = 100;

    private UpcallProgram() {}

    /** Runs the program. */
    public static void main(String... arguments) throws Exception {
        ThreadsSampler sampler = quick(new Recorder());
        sampler.setOverheadLimitPercent(100);
        try (URLClassLoader loader =
                new URLClassLoader(new URL[] {Path.of(arguments[0]).toUri().toURL()})) {
            Class<?> sorting = loader.loadClass("upcall.Sorting");
            Method sort = sorting.getMethod("sort", Runnable.class);
            Method sleep = sorting.getMethod("sleep", int.class);
            try (Worker waiter = Worker.doing("waiter", goHome -> sort.invoke(null, waiting(goHome)));
                    Worker busy = Worker.doing("busy", goHome -> sort.invoke(null, running(goHome)));
                    Worker sleeper = Worker.doing("sleeper", goHome -> sleepAgain(goHome, sleep))) {
                sample(sampler, waiter, busy, sleeper);
            }
        }
        assertThat(sampler.getStatistics().getEngine()).isEqualTo("HYBRID");
        System.out.println("compared: " + CrossChecks.compared());
        System.out.println(sampler.getStatistics());
        System.out.println("fine");
    }

    private static void sample(ThreadsSampler sampler, Worker waiter, Worker busy, Worker sleeper) throws Exception {
        sampler.setThreadToBeSampled(waiter.thread());
        sampler.init();
        CrossChecks.ofAllWalks();
        awaitSeen(sampler, "waiter", "com.incapsula.sampler.testing.Wait.forMillis");
        awaitCompared();
        sampler.setSampleTheseThreadsOnly(List.of(busy.thread(), sleeper.thread()));
        awaitWhole(sampler, "waiter", CALLER, CALLED, "com.incapsula.sampler.testing.Wait.forMillis(");
        awaitWhole(sampler, "busy", CALLER, CALLED, "com.incapsula.sampler.testing.work.Desk.calculate(");
        awaitWhole(sampler, "sleeper", "upcall.Sorting.sleep(");
        awaitCompared();
        sampler.close();
        CrossChecks.assertNoneDiffered();
    }

    private static Runnable waiting(CountDownLatch goHome) {
        return () -> {
            try {
                while (goHome.getCount() > 0) {
                    Wait.PARK.forMillis(3, 5);
                }
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        };
    }

    private static Runnable running(CountDownLatch goHome) {
        return () -> Desk.calculate(goHome);
    }

    private static void sleepAgain(CountDownLatch goHome, Method sleep) throws Exception {
        while (goHome.getCount() > 0) {
            sleep.invoke(null, 3);
        }
    }

    /* Only walks from outside are compared, not those that JVMTI had to make. */
    private static void awaitCompared() {
        long enough = CrossChecks.compared() + ENOUGH;
        patiently().until(() -> CrossChecks.compared() >= enough);
    }

    /* The methods are from the thread's root on. */
    private static void awaitWhole(ThreadsSampler sampler, String group, String... methods) {
        patiently().until(() -> {
            try (SamplingReport report = sampler.snapshot()) {
                return report.toString(ReportFormat.COLLAPSED)
                        .lines()
                        .filter(line -> line.startsWith(group + ";java.lang.Thread.run("))
                        .anyMatch(line -> areInOrder(line, methods));
            }
        });
    }

    private static boolean areInOrder(String line, String... methods) {
        int at = 0;
        for (String method : methods) {
            at = line.indexOf(method, at);
            if (at < 0) {
                return false;
            }
        }
        return true;
    }
}

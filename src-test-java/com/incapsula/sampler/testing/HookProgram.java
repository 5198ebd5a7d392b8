// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.testing;

import com.incapsula.sampler.SamplingCursor;
import com.incapsula.sampler.SamplingReport;
import com.incapsula.sampler.ThreadsSampler;
import com.incapsula.sampler.internal.engine.PatientExit;
import com.incapsula.sampler.outputer.PrintStreamSamplingOutputer;
import com.incapsula.sampler.testing.work.Desk;
import java.io.OutputStream;
import java.io.PrintStream;
import java.util.concurrent.CountDownLatch;

/** A program whose shutdown hook uses its sampler, either together with the sampler's own hook or after it. */
public final class HookProgram {

    private static final CountDownLatch CLOSED = new CountDownLatch(1);
    private static final CountDownLatch STOPPING = new CountDownLatch(1);
    private static final CountDownLatch NEVER = new CountDownLatch(1);

    private static ThreadsSampler sampler;
    private static SamplingCursor cursor;

    private HookProgram() {}

    /** Runs the program; the argument selects what its hook does. */
    public static void main(String[] arguments) throws Exception {
        if (!arguments[0].equals("stuck")) {
            PatientExit.set();
        }
        sampler = Samplers.quick(new Outputer(arguments[0]));
        if (arguments[0].equals("race")) {
            race();
            return;
        }
        if (!arguments[0].equals("start")) {
            sampler.init();
            cursor = sampler.openCursor();
            Desk.serveFor(100);
            Samplers.awaitTicks(sampler, 2);
        }
        Runtime.getRuntime()
                .addShutdownHook(new Thread(
                        () -> {
                            try {
                                hook(arguments[0]);
                                System.out.println("hook done");
                            } catch (Throwable t) {
                                t.printStackTrace(System.out);
                            }
                        },
                        "users-hook"));
    }

    /* Starts and closes samplers until the JVM is gone, which may happen in the middle of any call. */
    private static void race() throws Exception {
        CountDownLatch started = new CountDownLatch(3);
        Thread racer = new Thread(
                () -> {
                    try {
                        while (true) {
                            sampler.init();
                            started.countDown();
                            sampler.close();
                        }
                    } catch (Throwable t) {
                        t.printStackTrace(System.out);
                    }
                },
                "racer");
        racer.setDaemon(true);
        racer.start();
        started.await();
        System.exit(0);
    }

    private static void hook(String what) throws Exception {
        switch (what) {
            case "after" -> {
                CLOSED.await();
                show("snapshot", sampler.snapshot());
                show("cursor", cursor.next());
                show("again", sampler.snapshot());
                useAll();
            }
            case "at once" -> {
                show("snapshot", sampler.snapshot());
                useAll();
            }
            case "stuck" -> {
                STOPPING.await();
                sampler.snapshot().close();
                useAll();
            }
            case "start" -> {
                sampler.init();
                sampler.snapshot().close();
                sampler.close();
            }
            default -> throw new AssertionError(what);
        }
    }

    private static void useAll() throws Exception {
        sampler.printReport();
        sampler.pauseSampling();
        sampler.resumeSampling();
        sampler.openCursor().close();
        sampler.getStatistics();
        sampler.close();
    }

    private static void show(String name, SamplingReport report) {
        try (report) {
            boolean main = report.getGroups().stream()
                    .anyMatch(group -> group.getName().equals("main"));
            System.out.println(name + ": " + (main ? "main" : report.getGroups().isEmpty() ? "empty" : "others"));
        }
    }

    private static final class Outputer extends PrintStreamSamplingOutputer {

        private final String what;

        Outputer(String what) {
            super(new PrintStream(OutputStream.nullOutputStream()));
            this.what = what;
        }

        @Override
        public void printIntervalTitle(String title) {
            STOPPING.countDown();
            if (what.equals("stuck")) {
                try {
                    NEVER.await();
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
            }
        }

        @Override
        public void close() {
            CLOSED.countDown();
        }
    }
}

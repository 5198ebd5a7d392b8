// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.testing;

import com.incapsula.sampler.ReportFormat;
import com.incapsula.sampler.SamplerStatistics;
import com.incapsula.sampler.SamplingReport;
import com.incapsula.sampler.ThreadsSampler;
import com.incapsula.sampler.outputer.PrintStreamSamplingOutputer;
import java.io.OutputStream;
import java.io.PrintStream;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CountDownLatch;
import java.util.zip.CRC32;

/**
 * Samples one thread of each kind and ends when the method of each was seen. For platforms on which larger tests cannot
 * run: needs only the library and these classes.
 */
public final class SmokeProgram {

    /** The longest wait, because ticks are rare on an emulated processor. */
    private static final long PATIENCE_NANOS = 300_000_000_000L;

    /** Runs on for this time after all methods were seen, because some outcomes are rare. */
    private static final long MORE_NANOS = 3_000_000_000L;

    private static final int VIRTUAL_SINCE = 21;
    private static final int DEEP = 200;
    private static final Object LOCK = new Object();
    private static final CountDownLatch GO_HOME = new CountDownLatch(1);
    private static volatile long sink;

    private SmokeProgram() {}

    /**
     * Runs it.
     *
     * @param arguments the expected engine
     */
    public static void main(String[] arguments) throws Exception {
        System.out.println(System.getProperty("os.arch") + ", Java " + System.getProperty("java.version"));
        Map<String, Runnable> works = works();
        works.forEach((name, work) -> {
            Thread thread = new Thread(work, name);
            thread.setDaemon(true);
            thread.start();
        });
        Set<String> methods = new TreeSet<>(works.keySet());
        methods.remove("contender");
        if (Runtime.version().feature() >= VIRTUAL_SINCE) {
            Virtual.start("mounted", SmokeProgram::mounted);
            methods.add("mounted");
        }
        SamplerStatistics statistics = sample(methods);
        GO_HOME.countDown();
        print(statistics);
        check(statistics.getEngine().equals(arguments[0]), "the engine is " + statistics.getEngine());
        check(methods.isEmpty(), "not seen: " + methods);
        long outcomes = statistics.getOutcomes().values().stream()
                .mapToLong(Long::longValue)
                .sum();
        check(statistics.getPolls() == outcomes, statistics.getPolls() + " polls, " + outcomes + " outcomes");
        System.out.println("smoke: fine");
    }

    private static Map<String, Runnable> works() {
        Map<String, Runnable> works = new LinkedHashMap<>();
        works.put("compute", SmokeProgram::compute);
        works.put("copy", SmokeProgram::copy);
        works.put("checksum", SmokeProgram::checksum);
        works.put("contend", SmokeProgram::contend);
        works.put("contender", SmokeProgram::contend);
        works.put("deep", () -> deep(DEEP));
        works.put("rest", SmokeProgram::rest);
        return works;
    }

    /* Removes the methods that were seen. */
    private static SamplerStatistics sample(Set<String> methods) throws Exception {
        try (ThreadsSampler sampler = new ThreadsSampler()) {
            sampler.setRequired(true);
            sampler.setSamplingFrequencyMillis(10);
            sampler.setReportFrequencySeconds(0);
            sampler.setOverheadLimitPercent(100);
            sampler.setSamplingOutputer(
                    new PrintStreamSamplingOutputer(new PrintStream(OutputStream.nullOutputStream())));
            sampler.init();
            long began = System.nanoTime();
            long end = began + PATIENCE_NANOS;
            boolean allSeen = false;
            while (System.nanoTime() < end) {
                Thread.sleep(200);
                try (SamplingReport report = sampler.snapshot()) {
                    String stacks = report.toString(ReportFormat.COLLAPSED);
                    methods.removeIf(method -> stacks.contains("SmokeProgram." + method + "("));
                }
                if (methods.isEmpty() && !allSeen) {
                    allSeen = true;
                    end = System.nanoTime() + MORE_NANOS;
                }
            }
            sampler.close();
            return sampler.getStatistics();
        }
    }

    private static void print(SamplerStatistics statistics) {
        System.out.println("engine: " + statistics.getEngine());
        System.out.println("polls: " + statistics.getPolls());
        statistics.getOutcomes().forEach((outcome, count) -> {
            if (count > 0) {
                System.out.println("  " + outcome + ": " + count);
            }
        });
    }

    private static void check(boolean isRight, String what) {
        if (!isRight) {
            System.out.println("smoke: " + what);
            System.exit(1);
        }
    }

    private static boolean goesOn() {
        return GO_HOME.getCount() > 0;
    }

    private static void compute() {
        while (goesOn()) {
            long sum = 0;
            for (int i = 1; i < 100_000; i++) {
                sum += sink / i;
            }
            sink = sum;
        }
    }

    private static void copy() {
        int[] from = new int[1 << 16];
        int[] to = new int[from.length];
        while (goesOn()) {
            System.arraycopy(from, 0, to, 0, from.length);
        }
    }

    private static void checksum() {
        byte[] bytes = new byte[1 << 16];
        while (goesOn()) {
            CRC32 sum = new CRC32();
            sum.update(bytes);
            sink = sum.getValue();
        }
    }

    private static void contend() {
        while (goesOn()) {
            synchronized (LOCK) {
                for (int i = 0; i < 1000; i++) {
                    sink += i;
                }
            }
        }
    }

    private static void deep(int depth) {
        if (depth > 0) {
            deep(depth - 1);
        } else {
            compute();
        }
    }

    private static void mounted() {
        compute();
    }

    private static void rest() {
        try {
            GO_HOME.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}

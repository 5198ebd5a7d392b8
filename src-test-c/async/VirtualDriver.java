// SPDX-License-Identifier: Apache-2.0

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.LongAdder;

/**
 * Virtual threads, walked on their carriers: how many come out whole, cut, named; and what sampling costs those that
 * only yield. JDK 21 and later. Arguments: library, milliseconds.
 */
public final class VirtualDriver {

    private static volatile boolean stop;
    private static volatile long sink;
    private static final LongAdder SWITCHES = new LongAdder();

    private VirtualDriver() {
    }

    private static Thread startVirtual(String name, Runnable body) throws Exception {
        Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
        Class<?> type = Class.forName("java.lang.Thread$Builder");
        if (!name.isEmpty()) {
            builder = type.getMethod("name", String.class).invoke(builder, name);
        }
        return (Thread) type.getMethod("start", Runnable.class).invoke(builder, body);
    }

    private static void spin(int depth) {
        if (depth > 0) {
            spin(depth - 1);
            return;
        }
        while (!stop) {
            for (int i = 0; i < 1000; i++) {
                sink += i * 31L ^ sink;
            }
        }
    }

    private static void parkThenSpin(int depth) {
        if (depth > 0) {
            parkThenSpin(depth - 1);
            return;
        }
        while (!stop) {
            Thread.yield();
            for (int i = 0; i < 100_000 && !stop; i++) {
                sink += i * 31L ^ sink;
            }
        }
    }

    private static Thread carrier() {
        for (Thread thread : Thread.getAllStackTraces().keySet()) {
            if (thread.getClass().getName().endsWith("CarrierThread")) {
                return thread;
            }
        }
        throw new IllegalStateException("no carrier");
    }

    private static void sample(String what, int millis) throws Exception {
        AsyncDriver.start(carrier().getId(), 1000, false);
        Thread.sleep(millis);
        String result = AsyncDriver.stop();
        Map<String, Long> rows = new TreeMap<>();
        for (String line : result.split("\n")) {
            String[] part = line.split("\t", -1);
            if (part.length > 5) {
                rows.merge(part[1] + " root " + part[4] + " group " + part[5], Long.parseLong(part[0]), Long::sum);
            } else {
                System.out.println("   " + line);
            }
        }
        System.out.println(what + ": ");
        rows.forEach((row, count) -> System.out.println("   " + count + " " + row));
    }

    private static double switchRate(boolean sampled, int millis) throws Exception {
        if (sampled) {
            AsyncDriver.start(carrier().getId(), 1000, false);
        }
        SWITCHES.reset();
        long start = System.nanoTime();
        Thread.sleep(millis);
        double rate = SWITCHES.sum() * 1e9 / (System.nanoTime() - start);
        if (sampled) {
            String result = AsyncDriver.stop();
            result.lines().limit(6).forEach(line -> System.out.println("   " + line));
            System.out.println("   " + result.substring(result.indexOf('#')).trim());
        }
        return rate;
    }

    /** A loop without a safepoint: with the serial collector the JVM waits for its end. */
    private static void count() {
        while (!stop) {
            int sum = 0;
            for (int i = 0; i < 400_000_000; i++) {
                sum += i ^ sum;
            }
            sink += sum;
        }
    }

    private static void handshakes(boolean all) throws Exception {
        Thread counting = new Thread(VirtualDriver::count, "counting");
        counting.setDaemon(true);
        counting.start();
        Thread.sleep(2000);
        for (int i = 0; i < 5; i++) {
            SWITCHES.reset();
            long nanos = AsyncDriver.handshake(counting.getId(), all);
            long switches = SWITCHES.sum();
            System.out.printf("%s: %.1f ms, %d switches meanwhile, %.0f/s%n", all ? "all ids" : "GetStackTrace",
                    nanos / 1e6, switches, switches * 1e9 / nanos);
            Thread.sleep(137);
        }
        stop = true;
        counting.join();
        stop = false;
    }

    private static void join(List<Thread> threads) throws Exception {
        stop = true;
        for (Thread thread : threads) {
            thread.join();
        }
        threads.clear();
        stop = false;
    }

    /** Runs it. */
    public static void main(String[] arguments) throws Exception {
        System.setProperty("jdk.virtualThreadScheduler.parallelism", "1");
        System.load(arguments[0]);
        int millis = Integer.parseInt(arguments[1]);
        List<Thread> threads = new ArrayList<>();
        threads.add(startVirtual("", () -> { }));
        threads.get(0).join();
        System.out.println(System.getProperty("java.version") + ": " + AsyncDriver.open());
        threads.add(startVirtual("worker", () -> spin(30)));
        sample("spinning, named, never parked", millis);
        join(threads);
        threads.add(startVirtual("", () -> spin(30)));
        sample("spinning, unnamed", millis);
        join(threads);
        for (int i = 0; i < 3; i++) {
            threads.add(startVirtual("yielder", () -> parkThenSpin(30)));
        }
        sample("parks now and then, depth 30", millis);
        join(threads);
        for (int i = 0; i < 200; i++) {
            threads.add(startVirtual("", () -> {
                while (!stop) {
                    Thread.yield();
                    SWITCHES.increment();
                }
            }));
        }
        for (int round = 0; round < 3; round++) {
            double without = switchRate(false, millis);
            double with = switchRate(true, millis);
            System.out.printf("switches/s: %.0f without, %.0f sampled at 1 kHz (%.1f %%)%n", without, with,
                    100 * (with / without - 1));
        }
        if (Boolean.getBoolean("handshakes")) {
            for (boolean all : new boolean[] {true, false}) {
                stop = false;
                threads.clear();
                for (int i = 0; i < 200; i++) {
                    threads.add(startVirtual("", () -> {
                        while (!stop) {
                            Thread.yield();
                            SWITCHES.increment();
                        }
                    }));
                }
                handshakes(all);
            }
        }
        join(threads);
        AsyncDriver.close();
    }
}

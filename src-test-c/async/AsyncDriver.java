// SPDX-License-Identifier: Apache-2.0

import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.function.LongSupplier;
import java.util.regex.Pattern;
import java.util.zip.Adler32;
import java.util.zip.CRC32;

/**
 * Programs whose hot place is known, walked asynchronously: what share failed, and what share of the rest has
 * the right leaf and the right root. {@code run.sh} builds and starts it.
 *
 * <p>Arguments: library, milliseconds for each, names of workloads (none: all). Exit code 1 where a bar is
 * missed.
 */
public final class AsyncDriver {

    private static final int HERTZ = 1000;
    private static volatile long sink;

    private AsyncDriver() {
    }

    static native String open();

    static native void close();

    static native void start(long threadId, int hertz, boolean always);

    static native String stop();

    static native int tid(long threadId);

    static native long handshake(long threadId, boolean all);

    /** Runs until the time is over. */
    interface Work {
        void run(long endNanos) throws Throwable;
    }

    /**
     * @param maxFailedPercent the bar
     * @param place what "leaf &lt; caller" must match, to be right
     * @param minRightPercent the share of stacks of which it must
     */
    record Workload(Work work, double maxFailedPercent, String place, double minRightPercent) {
    }

    private static final Map<String, Workload> WORKLOADS = new java.util.LinkedHashMap<>();

    static {
        WORKLOADS.put("loop", new Workload(AsyncDriver::loop, 0.1, "AsyncDriver\\.loop:.*", 99));
        WORKLOADS.put("numbers", new Workload(AsyncDriver::numbers, 0.5,
                "(AsyncDriver\\.average|.*(Integer|Long|Double|Float|Short)\\.doubleValue"
                        + "|\\[.*\\] < AsyncDriver\\.average|AsyncDriver\\.numbers).*", 99));
        WORKLOADS.put("suppliers", new Workload(AsyncDriver::suppliers, 0.5,
                "(AsyncDriver\\.(drain|suppliers|lambda)|AsyncDriver..Lambda|\\[.*\\] < AsyncDriver).*", 99));
        WORKLOADS.put("delete", new Workload(AsyncDriver::delete, 0.5,
                "\\[.*arraycopy.*\\] < java.lang.AbstractStringBuilder.shift.*", 97));
        WORKLOADS.put("coding", new Workload(AsyncDriver::coding, 0.5, ".*", 99));
        WORKLOADS.put("time", new Workload(AsyncDriver::time, 0.5, "(AsyncDriver\\.time|java.lang.System).*", 99));
        WORKLOADS.put("mixed", new Workload(AsyncDriver::mixed, 0.5, ".*", 99));
        WORKLOADS.put("exceptions", new Workload(AsyncDriver::exceptions, 0.5, ".*", 99));
        WORKLOADS.put("recursion", new Workload(AsyncDriver::recursion, 0.5, "AsyncDriver\\.(fibonacci|recursion).*", 99));
        WORKLOADS.put("deep", new Workload(AsyncDriver::deep, 0.5, "AsyncDriver\\.(dig|deep).*", 99));
        WORKLOADS.put("depth50", new Workload(end -> depth50(44, end), 0.5, "AsyncDriver\\.(depth50|loop).*", 99));
        WORKLOADS.put("reflection", new Workload(AsyncDriver::reflection, 0.5, ".*", 99));
        WORKLOADS.put("allocation", new Workload(AsyncDriver::allocation, 0.5,
                "(AsyncDriver\\.allocation|\\[.*\\] < AsyncDriver\\.allocation).*", 99));
        WORKLOADS.put("checksums", new Workload(AsyncDriver::checksums, 0.5,
                "\\[(updateBytesCRC32|updateBytesAdler32)\\] < java.util.zip.*"
                        + "|\\[.*arraycopy.*\\] < AsyncDriver.checksums.*"
                        + "|java.lang.System.arraycopy:-1 < AsyncDriver.checksums.*|java.util.zip.*|AsyncDriver.checksums.*", 99));
        WORKLOADS.put("two", new Workload(AsyncDriver::two, 0.5,
                "\\[.*arraycopy.*\\] < (java.lang.AbstractStringBuilder.shift|java.util.Arrays).*"
                        + "|\\[updateBytesCRC32\\] < java.util.zip.*|java.*|AsyncDriver.two.*", 99.5));
        WORKLOADS.put("copy", new Workload(AsyncDriver::copy, 0.5, 
                "(\\[.*arraycopy.*\\]|java.lang.System.arraycopy:-1) < AsyncDriver.copy.*", 97));
    }

    // ------------------------------------------------------------------------------------------ workloads

    private static void loop(long end) {
        while (System.nanoTime() < end) {
            long sum = 0;
            for (int i = 0; i < 100_000; i++) {
                sum += i * 31L ^ sum;
            }
            sink += sum;
        }
    }

    private static double average(Number[] numbers) {
        double sum = 0;
        for (Number number : numbers) {
            sum += number.doubleValue();
        }
        return sum / numbers.length;
    }

    private static void numbers(long end) {
        Number[] numbers = new Number[500];
        for (int i = 0; i < numbers.length; i++) {
            numbers[i] = switch (i % 5) {
                case 0 -> (Number) Integer.valueOf(i);
                case 1 -> Long.valueOf(i);
                case 2 -> Double.valueOf(i);
                case 3 -> Float.valueOf(i);
                default -> Short.valueOf((short) i);
            };
        }
        while (System.nanoTime() < end) {
            for (int k = 0; k < 100; k++) {
                sink += (long) average(numbers);
            }
        }
    }

    private static long drain(LongSupplier[] suppliers) {
        long total = 0;
        for (LongSupplier supplier : suppliers) {
            total += supplier.getAsLong();
        }
        return total;
    }

    private static void suppliers(long end) {
        LongSupplier[] kinds = {() -> 1, () -> sink & 3, () -> 7, () -> sink * 3};
        LongSupplier[] suppliers = new LongSupplier[400];
        for (int i = 0; i < suppliers.length; i++) {
            suppliers[i] = kinds[i % kinds.length];
        }
        while (System.nanoTime() < end) {
            for (int k = 0; k < 100; k++) {
                sink += drain(suppliers);
            }
        }
    }

    private static void delete(long end) {
        StringBuilder builder = new StringBuilder("x".repeat(1_000_000));
        while (System.nanoTime() < end) {
            for (int k = 0; k < 20; k++) {
                builder.append(12345);
                builder.delete(0, 5);
            }
        }
    }

    private static void coding(long end) throws Exception {
        byte[][] data = new byte[64][];
        Random random = new Random(1);
        for (int i = 0; i < data.length; i++) {
            data[i] = new byte[i * 16];
            random.nextBytes(data[i]);
        }
        MessageDigest md5 = MessageDigest.getInstance("MD5");
        MessageDigest sha = MessageDigest.getInstance("SHA-1");
        MessageDigest sha256 = MessageDigest.getInstance("SHA-256");
        CRC32 crc = new CRC32();
        Adler32 adler = new Adler32();
        while (System.nanoTime() < end) {
            for (byte[] piece : data) {
                sink += Base64.getEncoder().encode(piece).length;
                crc.update(piece);
                adler.update(piece);
                sink += crc.getValue() + adler.getValue();
                sink += md5.digest(piece)[0];
                sink += sha.digest(piece)[0];
                sink += sha256.digest(piece)[0];
            }
        }
    }

    private static void time(long end) {
        while (System.nanoTime() < end) {
            sink += System.currentTimeMillis();
        }
    }

    private static void mixed(long end) {
        Random random = new Random(5);
        while (System.nanoTime() < end) {
            Map<String, Integer> counts = new HashMap<>();
            for (int i = 0; i < 300; i++) {
                counts.merge("k" + random.nextInt(100), 1, Integer::sum);
            }
            List<String> keys = new ArrayList<>(counts.keySet());
            Collections.sort(keys);
            StringBuilder joined = new StringBuilder();
            for (String key : keys) {
                joined.append(key).append(',');
            }
            sink += joined.toString().split(",").length;
            sink += keys.stream().filter(key -> key.hashCode() % 2 == 0).mapToInt(String::length).sum();
        }
    }

    private static void exceptions(long end) {
        while (System.nanoTime() < end) {
            try {
                fail(10);
            } catch (IllegalStateException e) {
                sink += e.getStackTrace().length;
            }
        }
    }

    private static void fail(int depth) {
        if (depth == 0) {
            throw new IllegalStateException("x");
        }
        fail(depth - 1);
    }

    private static int fibonacci(int n) {
        return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
    }

    private static void recursion(long end) {
        while (System.nanoTime() < end) {
            sink += fibonacci(20);
        }
    }

    private static int dig(int depth) {
        return depth == 0 ? (int) sink : dig(depth - 1) + 1;
    }

    private static void deep(long end) {
        while (System.nanoTime() < end) {
            sink += dig(3000);
        }
    }

    /** Computes under fifty frames: what a walk of such a stack costs. */
    private static void depth50(int depth, long end) {
        if (depth > 0) {
            depth50(depth - 1, end);
            sink++;
        } else {
            loopInline(end);
        }
    }

    private static void loopInline(long end) {
        loop(end);
    }

    /** Called by reflection. */
    public static long hello(long x) {
        return x * 31;
    }

    private static void reflection(long end) throws Throwable {
        var method = AsyncDriver.class.getMethod("hello", long.class);
        var handle = java.lang.invoke.MethodHandles.lookup().findStatic(AsyncDriver.class, "hello",
                java.lang.invoke.MethodType.methodType(long.class, long.class));
        while (System.nanoTime() < end) {
            for (int i = 0; i < 100; i++) {
                sink += (Long) method.invoke(null, (long) i);
                sink += (long) handle.invokeExact((long) i);
            }
        }
    }

    private static void allocation(long end) {
        Object[] kept = new Object[1000];
        int i = 0;
        while (System.nanoTime() < end) {
            kept[i++ % 1000] = new byte[200 + (i & 1023)];
        }
        sink += kept.length;
    }

    private static void checksums(long end) {
        byte[] from = new byte[100_000];
        byte[] to = new byte[100_000];
        CRC32 crc = new CRC32();
        Adler32 adler = new Adler32();
        while (System.nanoTime() < end) {
            crc.update(from);
            adler.update(from);
            System.arraycopy(from, 0, to, 0, from.length);
            sink += crc.getValue() + adler.getValue();
        }
    }

    /** Two stubs from one method: what one leaves on the stack must not pass for the caller of the other. */
    private static void two(long end) {
        StringBuilder builder = new StringBuilder("x".repeat(100_000));
        CRC32 crc = new CRC32();
        byte[] bytes = new byte[100_000];
        while (System.nanoTime() < end) {
            for (int i = 0; i < 20; i++) {
                builder.append(12345);
                builder.delete(0, 5);
            }
            crc.update(bytes);
            sink += crc.getValue();
        }
    }

    private static void copy(long end) {
        int[] from = new int[200_000];
        int[] to = new int[200_000];
        while (System.nanoTime() < end) {
            System.arraycopy(from, 0, to, 0, from.length);
            sink += to[5];
        }
    }

    // ---------------------------------------------------------------------------------------------- result

    private static boolean judge(String name, Workload workload, String result, boolean verbose) {
        Pattern place = Pattern.compile(workload.place());
        long all = 0;
        long failed = 0;
        long gc = 0;
        long skipped = 0;
        long right = 0;
        long unrooted = 0;
        Map<String, Long> answers = new java.util.TreeMap<>();
        String figures = "";
        for (String line : result.split("\n")) {
            if (line.startsWith("#")) {
                figures = line.substring(1);
                continue;
            }
            String[] part = line.split("\t", -1);
            long count = Long.parseLong(part[0]);
            all += count;
            answers.merge(part[1], count, Long::sum);
            if (part[1].equals("GC_ACTIVE")) {
                gc += count;
            } else if (part[1].equals("UNANSWERED")) {
                skipped += count;
            } else if (part[2].equals("-")) {
                failed += count;
            } else {
                right += place.matcher(part[2] + " < " + part[3]).matches() ? count : 0;
                unrooted += part[4].startsWith("AsyncDriver.main:") ? 0 : count;
            }
        }
        long stacks = all - failed - gc - skipped;
        double failedPercent = 100.0 * failed / Math.max(1, all);
        double rightPercent = 100.0 * right / Math.max(1, stacks);
        boolean ok = failedPercent <= workload.maxFailedPercent() && rightPercent >= workload.minRightPercent()
                && unrooted == 0 && all > 50;
        System.out.printf(Locale.ROOT, "%-10s %s n=%d failed %.2f%% right %.2f%% unrooted %d | %s | %s%n", name,
                ok ? "ok  " : "MISS", all, failedPercent, rightPercent, unrooted, answers, figures);
        if (verbose) {
            Arrays.stream(result.split("\n")).limit(12).forEach(line -> System.out.println("      " + line));
        }
        if (!ok) {
            for (String line : result.split("\n")) {
                String[] part = line.split("\t", -1);
                if (part.length > 4 && (part[2].equals("-") || !part[4].startsWith("AsyncDriver.main:")
                        || !place.matcher(part[2] + " < " + part[3]).matches())) {
                    System.out.println("    ! " + line);
                }
            }
        }
        return ok;
    }

    /** Runs the named workloads. */
    public static void main(String[] arguments) throws Throwable {
        System.load(arguments[0]);
        int millis = Integer.parseInt(arguments[1]);
        boolean verbose = Boolean.getBoolean("verbose");
        long me = Thread.currentThread().getId();
        System.out.println(System.getProperty("java.version") + ": " + open() + ", main is " + tid(me));
        List<String> names = arguments.length > 2 ? Arrays.asList(arguments).subList(2, arguments.length)
                : new ArrayList<>(WORKLOADS.keySet());
        boolean ok = true;
        for (String name : names) {
            Workload workload = WORKLOADS.get(name);
            workload.work().run(System.nanoTime() + 1_000_000L * Integer.getInteger("warmup", 700));
            start(me, HERTZ, Boolean.getBoolean("always"));
            workload.work().run(System.nanoTime() + millis * 1_000_000L);
            ok &= judge(name, workload, stop(), verbose);
        }
        close();
        System.exit(ok ? 0 : 1);
    }
}

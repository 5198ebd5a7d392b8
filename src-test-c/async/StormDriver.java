// SPDX-License-Identifier: Apache-2.0

import java.util.ArrayList;
import java.util.List;
import java.util.zip.CRC32;

/**
 * Opens, samples and closes again and again, while threads compute, allocate, compile, are born and end. It must
 * neither crash nor hang. Arguments: library, milliseconds in all.
 */
public final class StormDriver {

    private static volatile boolean stop;
    private static volatile long sink;

    private StormDriver() {
    }

    private static Thread start(Runnable body) {
        Thread thread = new Thread(() -> {
            while (!stop) {
                body.run();
            }
        });
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    private static void compute() {
        CRC32 crc = new CRC32();
        byte[] bytes = new byte[5000];
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < 200; i++) {
            crc.update(bytes);
            text.append(i).append(Integer.valueOf(i).hashCode());
            text.delete(0, 1);
        }
        sink += crc.getValue() + text.toString().hashCode();
    }

    private static void churn() {
        Thread thread = new Thread(() -> sink++);
        thread.start();
        try {
            thread.join();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void define() {
        ClassLoader loader = new ClassLoader(null) {
            @Override
            protected Class<?> findClass(String name) throws ClassNotFoundException {
                try (java.io.InputStream in = StormDriver.class.getResourceAsStream("/" + name + ".class")) {
                    byte[] bytes = in.readAllBytes();
                    return defineClass(name, bytes, 0, bytes.length);
                } catch (java.io.IOException e) {
                    throw new ClassNotFoundException(name, e);
                }
            }
        };
        try {
            var method = Class.forName("StormDriver", true, loader).getDeclaredMethod("compute");
            method.setAccessible(true);
            for (int i = 0; i < 50; i++) {
                method.invoke(null);
            }
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Runs it. */
    public static void main(String[] arguments) throws Exception {
        System.load(arguments[0]);
        long end = System.nanoTime() + Long.parseLong(arguments[1]) * 1_000_000L;
        List<Thread> busy = new ArrayList<>();
        busy.add(start(StormDriver::compute));
        busy.add(start(StormDriver::define));
        start(StormDriver::churn);
        start(StormDriver::churn);
        int rounds = 0;
        int usable = 0;
        while (System.nanoTime() < end) {
            usable += AsyncDriver.open().contains("refusal \"\"") ? 1 : 0;
            AsyncDriver.start(busy.get(rounds % busy.size()).getId(), 5000, true);
            Thread.sleep(rounds % 20);
            AsyncDriver.stop();
            AsyncDriver.close();
            rounds++;
        }
        System.out.println(System.getProperty("java.version") + ": " + rounds + " rounds, usable in " + usable);
        stop = true;
        System.exit(usable > rounds / 2 ? 0 : 1);
    }
}

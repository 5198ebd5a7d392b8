// SPDX-License-Identifier: Apache-2.0
package hooked;

import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import java.util.function.IntFunction;
import java.util.function.LongSupplier;

/** Two class loaders, each with its own copy of the library, count in turn. Arguments: the copies, the classes. */
public final class TwoCopies {

    private static final int CALLS = 1000;
    private static final int TURNS = 3;

    private TwoCopies() {}

    /**
     * Loaded once by each class loader: counts this many calls and returns how many bytes its copy of the library
     * holds.
     */
    public static final class Counted implements IntFunction<LongSupplier>, LongSupplier {

        /** Public for the loader. */
        public Counted() {}

        @Override
        public LongSupplier apply(int calls) {
            Hooks.begin(false);
            count(calls);
            return () -> {
                long found = new Hooks().read().calls(2);
                Hooks.stop();
                return found;
            };
        }

        @Override
        public long getAsLong() {
            return Hooks.losses()[1];
        }
    }

    static void count(int calls) {
        ThreadsSamplerHook.enterRoot(1);
        for (int i = 0; i < calls; i++) {
            ThreadsSamplerHook.enter(2);
            ThreadsSamplerHook.exit(2);
        }
        ThreadsSamplerHook.exitRoot(1);
    }

    @SuppressWarnings("unchecked")
    private static IntFunction<LongSupplier> load(String library, String classes) throws Exception {
        URL[] urls = {Path.of(classes).toUri().toURL()};
        URLClassLoader loader = new URLClassLoader(urls, ClassLoader.getPlatformClassLoader());
        loader.loadClass("hooked.Hooks").getMethod("load", String.class).invoke(null, library);
        return (IntFunction<LongSupplier>)
                loader.loadClass("hooked.TwoCopies$Counted").getConstructor().newInstance();
    }

    /** Runs the test. */
    public static void main(String... arguments) throws Exception {
        IntFunction<LongSupplier> first = load(arguments[0], arguments[2]);
        check(CALLS, first.apply(CALLS).getAsLong());
        /* One thread is inside of a root of the first copy while the second one takes over. */
        CountDownLatch inside = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        LongSupplier counting = first.apply(CALLS);
        Thread thread = new Thread(() -> {
            ThreadsSamplerHook.enterRoot(1);
            inside.countDown();
            try {
                goOn.await();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
            ThreadsSamplerHook.exitRoot(1);
            count(3);
        });
        thread.start();
        inside.await();
        check(CALLS, counting.getAsLong());
        IntFunction<LongSupplier> second = load(arguments[1], arguments[2]);
        counting = second.apply(CALLS);
        goOn.countDown();
        thread.join();
        check(CALLS + 3, counting.getAsLong());
        /* The thread has left its root in the second copy, which released the memory of the first
         * one. */
        checkNothingHeld(first, second);
        for (int i = 0; i < TURNS; i++) {
            check(CALLS, first.apply(CALLS).getAsLong());
            checkNothingHeld(first, second);
            check(CALLS, second.apply(CALLS).getAsLong());
            checkNothingHeld(first, second);
        }
        System.out.println("fine");
    }

    private static void checkNothingHeld(Object... copies) {
        for (Object copy : copies) {
            check(0, ((LongSupplier) copy).getAsLong());
        }
    }

    private static void check(long expected, long found) {
        if (expected != found) {
            throw new AssertionError("expected " + expected + ", found " + found);
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
package counted;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.time.Duration;

/** Calls a method whose name does not occur in its byte code. The method takes so long that each call is sampled. */
public final class FoundByName {

    private static final long NANOS = Duration.ofMillis(20).toNanos();
    private static final MethodHandle FOUND;

    private static volatile int sink;

    static {
        try {
            String name = new StringBuilder("wols").reverse().toString();
            FOUND = MethodHandles.lookup().findStatic(FoundByName.class, name, MethodType.methodType(void.class));
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private FoundByName() {}

    /** Makes one call. */
    public static void root() {
        try {
            FOUND.invokeExact();
        } catch (Throwable e) {
            throw new IllegalStateException(e);
        }
    }

    private static void slow() {
        long end = System.nanoTime() + NANOS;
        while (System.nanoTime() - end < 0) {
            count();
        }
    }

    private static void count() {
        sink++;
    }
}

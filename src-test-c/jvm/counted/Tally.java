// SPDX-License-Identifier: Apache-2.0
package counted;

import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;

/** The program's own count: each method reports that it was called, including methods of other loaders. */
public final class Tally {

    private static final StackWalker WALKER = StackWalker.getInstance();
    private static final Map<String, LongAdder> CALLS = new ConcurrentHashMap<>();

    private Tally() {}

    /** Counts a call of the calling method. */
    public static void hit() {
        String method = WALKER.walk(frames -> frames.skip(1)
                .findFirst()
                .map(frame -> frame.getClassName() + "." + frame.getMethodName())
                .orElseThrow());
        hit(method);
    }

    public static void hit(String method) {
        CALLS.computeIfAbsent(method, name -> new LongAdder()).increment();
    }

    static void reset() {
        CALLS.clear();
    }

    static Map<String, Long> counts() {
        Map<String, Long> counts = new TreeMap<>();
        CALLS.forEach((name, count) -> counts.put(name, count.sum()));
        return counts;
    }
}

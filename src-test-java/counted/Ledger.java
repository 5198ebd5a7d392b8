// SPDX-License-Identifier: Apache-2.0
package counted;

import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;

/** What the programs here say of themselves: which method was called how often. */
public final class Ledger {

    private static final Map<String, LongAdder> CALLS = new ConcurrentHashMap<>();

    private Ledger() {}

    /** This method was called. */
    public static void hit(String method) {
        CALLS.computeIfAbsent(method, name -> new LongAdder()).increment();
    }

    /** Begins at zero, while no program runs. */
    public static void reset() {
        CALLS.clear();
    }

    /** @return calls by method, as {@code Storms.root} */
    public static Map<String, Long> calls() {
        Map<String, Long> calls = new TreeMap<>();
        CALLS.forEach((method, count) -> calls.put(method, count.sum()));
        return calls;
    }
}

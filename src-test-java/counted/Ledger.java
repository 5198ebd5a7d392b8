// SPDX-License-Identifier: Apache-2.0
package counted;

import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;

/** Calls that the programs here record themselves, by method. */
public final class Ledger {

    private static final Map<String, LongAdder> CALLS = new ConcurrentHashMap<>();

    private Ledger() {}

    /** Records a call of this method. */
    public static void hit(String method) {
        CALLS.computeIfAbsent(method, name -> new LongAdder()).increment();
    }

    /** Clears the ledger. No program may be running. */
    public static void reset() {
        CALLS.clear();
    }

    /** @return the calls by method, such as {@code Storms.root} */
    public static Map<String, Long> calls() {
        Map<String, Long> calls = new TreeMap<>();
        CALLS.forEach((method, count) -> calls.put(method, count.sum()));
        return calls;
    }
}

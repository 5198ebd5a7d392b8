// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.server;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * The headers of a request or of an answer. Their names are case-insensitive.
 *
 * <p>Threads: one.
 */
final class HttpHeaders {

    private final Map<String, List<String>> values = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);

    /** Adds a value to those of the name. */
    void add(String name, String value) {
        values.computeIfAbsent(name, none -> new ArrayList<>()).add(value);
    }

    /** Replaces all values of the name. */
    void set(String name, String value) {
        values.put(name, List.of(value));
    }

    /** @return all values of the name, or null */
    @Nullable
    List<String> get(String name) {
        return values.get(name);
    }

    /** @return the first value of the name, or null */
    @Nullable
    String getFirst(String name) {
        List<String> all = values.get(name);
        return all == null ? null : all.get(0);
    }

    /** Calls with each name and value. */
    void forEach(BiConsumer<String, String> action) {
        values.forEach((name, all) -> all.forEach(value -> action.accept(name, value)));
    }
}

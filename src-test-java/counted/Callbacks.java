// SPDX-License-Identifier: Apache-2.0
package counted;

import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.AbstractList;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * Methods that only the JDK calls: {@link #root} calls none of them itself. The JDK decides which calls there are. With
 * TOTAL they are counted without following calls.
 */
public final class Callbacks {

    private static final MethodHandle LOOKED_UP;
    private static final Comparator<Object> MADE_EARLY = new Early();
    private static final Function<Integer, Integer> HANDED_EARLY = number -> leaf(number);

    private static volatile int sink;

    static {
        try {
            LOOKED_UP = MethodHandles.lookup()
                    .findStatic(Callbacks.class, "lookedUp", MethodType.methodType(int.class, int.class));
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private Callbacks() {}

    private record Version(int number) implements Comparable<Version> {
        @Override
        public int compareTo(Version other) {
            return leaf(number) - other.number;
        }

        @Override
        public int hashCode() {
            return leaf(number);
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof Version version && leaf(version.number) == number;
        }

        @Override
        public String toString() {
            return "v" + leaf(number);
        }
    }

    /** Subclasses inherit the method for which they are called. */
    private abstract static class Order implements Comparator<Object> {
        @Override
        public int compare(Object first, Object second) {
            return leaf(first.hashCode()) - second.hashCode();
        }
    }

    private static final class Early extends Order {}

    private static final class Squares extends AbstractList<Integer> {
        @Override
        public Integer get(int index) {
            return leaf(index) * index;
        }

        @Override
        public int size() {
            return leaf(3);
        }
    }

    private static final class Letters extends InputStream {
        private int left = 4;

        @Override
        public int read() {
            return leaf(left--) > 0 ? 'a' : -1;
        }
    }

    private static final class Small extends LinkedHashMap<Integer, Integer> {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Integer, Integer> eldest) {
            return leaf(size()) > 2;
        }
    }

    private static final class Adder implements Consumer<Integer>, Function<Integer, Integer> {
        @Override
        public void accept(Integer number) {
            leaf(number);
        }

        @Override
        public Integer apply(Integer number) {
            return leaf(number);
        }
    }

    /** A long-lived object with another one that its constructor made. */
    private static final class Service {
        private final Map<Integer, Integer> cache = new Small();

        void remember(int number) {
            cache.put(number, number);
        }
    }

    private static final Service SERVICE = new Service();

    private static int leaf(int number) {
        sink += number;
        return number;
    }

    private static int lookedUp(int number) {
        return leaf(number);
    }

    /** Calls all of them, each equally often in every call of this method. */
    public static void root() {
        try {
            Map<Version, Integer> versions = new HashMap<>();
            versions.put(new Version(1), 1);
            sink += versions.get(new Version(1)) + new TreeSet<>(List.of(new Version(1), new Version(2))).size();
            sink += String.valueOf(new Version(3)).length();
            new ArrayList<>(List.of(3, 1, 2)).sort(MADE_EARLY);
            sink += new ArrayList<>(new Squares()).size() + new InputStreamReader(new Letters()).read();
            List.of(1, 2, 3).forEach(new Adder());
            new HashMap<Integer, Integer>().computeIfAbsent(1, new Adder());
            new HashMap<Integer, Integer>().computeIfAbsent(1, HANDED_EARLY);
            for (int i = 0; i < 3; i++) {
                SERVICE.remember(sink + i);
            }
            sink += (int) LOOKED_UP.invokeExact(1);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (Throwable e) {
            throw new IllegalStateException(e);
        }
    }
}

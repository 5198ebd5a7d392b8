// SPDX-License-Identifier: Apache-2.0
package counted;

/**
 * Calls that are shorter than their probes, for the benchmark call-hooks. The JVM's command line forbids inlining of
 * the methods named apart. Each method has a loop of its own, because a shared loop would call through an interface.
 */
public final class HotCalls {

    private static int sink;

    private HotCalls() {}

    /** @return the result of all calls, so that no compiler can remove them */
    public static int sink() {
        return sink;
    }

    /** Methods without probes. */
    public static final class Plain {

        private Plain() {}

        static int apart(int x) {
            return x * 31 + 7;
        }

        static int inlined(int x) {
            return x * 31 + 7;
        }
    }

    /** The same methods, with probes. */
    public static final class Probed {

        private Probed() {}

        static int apart(int x) {
            return x * 31 + 7;
        }

        static int inlined(int x) {
            return x * 31 + 7;
        }
    }

    /** Loops that call the methods without probes. */
    public static final class PlainLoops {

        private PlainLoops() {}

        /** Calls the method that is not inlined. */
        public static void callsApart(int calls) {
            int x = sink;
            for (int i = 0; i < calls; i++) {
                x = Plain.apart(x);
            }
            sink = x;
        }

        /** Calls the method that is inlined. */
        public static void callsInlined(int calls) {
            int x = sink;
            for (int i = 0; i < calls; i++) {
                x = Plain.inlined(x);
            }
            sink = x;
        }
    }

    /** Loops that call the methods with probes. */
    public static final class ProbedLoops {

        private ProbedLoops() {}

        /** Calls the method that is not inlined. */
        public static void callsApart(int calls) {
            int x = sink;
            for (int i = 0; i < calls; i++) {
                x = Probed.apart(x);
            }
            sink = x;
        }

        /** Calls the method that is inlined. */
        public static void callsInlined(int calls) {
            int x = sink;
            for (int i = 0; i < calls; i++) {
                x = Probed.inlined(x);
            }
            sink = x;
        }
    }
}

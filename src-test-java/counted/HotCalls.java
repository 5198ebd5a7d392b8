// SPDX-License-Identifier: Apache-2.0
package counted;

/**
 * Calls that take less than their probes, for the benchmark call-hooks. Apart is not to be inlined, which the JVM's
 * command line says. A loop for each method, as one for all would call through an interface.
 */
public final class HotCalls {

    private static int sink;

    private HotCalls() {}

    /** @return what the calls have computed, so that none of it can be left out */
    public static int sink() {
        return sink;
    }

    /** Methods that are left alone. */
    public static final class Plain {

        private Plain() {}

        static int apart(int x) {
            return x * 31 + 7;
        }

        static int inlined(int x) {
            return x * 31 + 7;
        }
    }

    /** The same, with probes. */
    public static final class Probed {

        private Probed() {}

        static int apart(int x) {
            return x * 31 + 7;
        }

        static int inlined(int x) {
            return x * 31 + 7;
        }
    }

    /** Calls of those that are left alone. */
    public static final class PlainLoops {

        private PlainLoops() {}

        /** Of the method that is not inlined. */
        public static void callsApart(int calls) {
            int x = sink;
            for (int i = 0; i < calls; i++) {
                x = Plain.apart(x);
            }
            sink = x;
        }

        /** Of the other one. */
        public static void callsInlined(int calls) {
            int x = sink;
            for (int i = 0; i < calls; i++) {
                x = Plain.inlined(x);
            }
            sink = x;
        }
    }

    /** Calls of those with probes. */
    public static final class ProbedLoops {

        private ProbedLoops() {}

        /** Of the method that is not inlined. */
        public static void callsApart(int calls) {
            int x = sink;
            for (int i = 0; i < calls; i++) {
                x = Probed.apart(x);
            }
            sink = x;
        }

        /** Of the other one. */
        public static void callsInlined(int calls) {
            int x = sink;
            for (int i = 0; i < calls; i++) {
                x = Probed.inlined(x);
            }
            sink = x;
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
package counted;

import java.util.ArrayList;
import java.util.List;
import java.util.function.IntSupplier;

/** Static initialisers. Each round loads its classes again, so each initialiser runs once per round. */
final class Initialisers {

    /** The rounds stay loaded. */
    private static final List<IntSupplier> ROUNDS = new ArrayList<>();

    private static int sink;

    private Initialisers() {}

    /** A root. */
    static void run() {
        Tally.hit();
        IntSupplier fresh = ROUNDS.get(ROUNDS.size() - 1);
        sink += fresh.getAsInt();
    }

    /** The object that the next {@link #run} calls. */
    static void next() {
        try {
            ROUNDS.add((IntSupplier) new FreshLoader()
                    .loadClass("counted.Initialisers$Fresh")
                    .getDeclaredConstructor()
                    .newInstance());
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }

    /** Uses its classes for the first time, in each possible way. */
    public static final class Fresh implements IntSupplier {
        /** Called by the loader. */
        public Fresh() {}

        @Override
        public int getAsInt() {
            Tally.hit();
            int sum = ByCall.called() + new ByMaking().hashCode() + ByField.field + new BySub().hashCode();
            ByWriting.field = sum;
            return sum + ByInterface.VALUE;
        }
    }

    static final class ByCall {
        static {
            Tally.hit();
        }

        static int called() {
            Tally.hit();
            return 1;
        }
    }

    static final class ByMaking {
        static {
            Tally.hit();
        }

        ByMaking() {
            Tally.hit();
        }
    }

    static final class ByField {
        static int field = Integer.parseInt("7");

        static {
            Tally.hit();
        }
    }

    static final class ByWriting {
        static int field;

        static {
            Tally.hit();
        }
    }

    static class Super {
        static {
            Tally.hit();
        }

        Super() {
            Tally.hit();
        }
    }

    static final class BySub extends Super {
        static {
            Tally.hit();
        }

        BySub() {
            Tally.hit();
        }
    }

    interface ByInterface {
        int VALUE = hit();

        static int hit() {
            Tally.hit("counted.Initialisers$ByInterface.<clinit>");
            Tally.hit();
            return 1;
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
package counted;

import java.lang.reflect.Method;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.IntConsumer;

/** Counts calls that do not appear in byte code. Arguments: the library, a scheme. */
public final class ReflectionProgram {

    private static final String ROOTS = "counted.Reflected.run, counted.Reflected.through, counted.Reflected.proxies, "
            + "counted.Reflected.handles, counted.Reflected.lambdas";

    private static boolean isTotal;
    private static boolean isLazy;

    private ReflectionProgram() {}

    public static void main(String[] arguments) throws Exception {
        System.load(arguments[0]);
        int scheme = List.of("AUTO", "LAZY", "EAGER", "TOTAL").indexOf(arguments[1]);
        isTotal = arguments[1].equals("TOTAL");
        isLazy = arguments[1].equals("LAZY");
        Reflected.run(100); // JDK 17 generates byte code for methods that are called often
        Reflected.proxies(100);
        Counting.startFine(ROOTS, scheme, false);
        compare("reflection", Reflected::run);
        compare("reflection of a library", Reflected::through);
        compare("proxies", Reflected::proxies);
        counts("a method handle that was looked up", Reflected::handles, "counted.Reflected.handled");
        Reflected.late = LateLambda.make();
        compare("lambdas and method references made outside", Reflected::lambdas);
        outside();
        Counting.stop();
        CountedProgram.check(Counting.figures()[4] == 0, "all memory is given back");
        Reflected.run(100);
        /* The table of reported calls belongs to the previous counting. */
        Counting.startFine(ROOTS, scheme, false);
        compare("again", Reflected::run);
        Counting.stop();
        System.out.println("fine");
    }

    private static void compare(String what, IntConsumer root) throws InterruptedException {
        Map<String, Long> wanted = tallied(root);
        CountedProgram.compare(what, wanted, counted());
    }

    /* Bodies of lambdas tally without their number. */
    private static Map<String, Long> counted() {
        Map<String, Long> found = new TreeMap<>();
        Counting.counts()
                .forEach((name, calls) -> found.merge(name.replaceAll("lambda\\$.*", "lambda"), calls, Long::sum));
        return found;
    }

    /* Returns the tally of the calls after the root's last batch. */
    private static Map<String, Long> tallied(IntConsumer root) throws InterruptedException {
        Counting.settle(() -> root.accept(1));
        Counting.counts();
        Counting.reset();
        Tally.reset();
        root.accept(1000);
        return Tally.counts();
    }

    /* LAZY follows code that runs; this look-up ran before counting began. */
    private static void counts(String what, IntConsumer root, String method) throws InterruptedException {
        Map<String, Long> wanted = tallied(root);
        if (isLazy) {
            CountedProgram.check(wanted.remove(method) == 1000, what);
        }
        CountedProgram.compare(what, wanted, counted());
    }

    /* Methods called outside a root get no probe. */
    private static void outside() throws InterruptedException {
        long methods = Counting.figures()[1];
        Counting.settle(() -> Library.call(Alone.METHOD, null, 1));
        CountedProgram.check(Counting.figures()[1] == methods || isTotal, "a call outside of all roots");
    }

    static final class Alone {
        static final Method METHOD = method();

        private static Method method() {
            try {
                return Alone.class.getDeclaredMethod("alone", int.class);
            } catch (NoSuchMethodException e) {
                throw new AssertionError(e);
            }
        }

        static int alone(int n) {
            return n * 3;
        }
    }
}

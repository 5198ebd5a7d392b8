// SPDX-License-Identifier: Apache-2.0
package counted;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.function.IntFunction;
import java.util.function.IntUnaryOperator;
import java.util.function.ToIntFunction;

/** Calls that do not appear in byte code. Each method except trivial ones tallies itself. */
class Reflected {

    static int sink;

    private Reflected() {}

    /* ---- by reflection ---- */

    interface Greeter {
        int greet(int n);

        default int twice(int n) {
            Tally.hit();
            return n + n + sink % 2;
        }
    }

    static class Base implements Greeter {
        Base() {
            Tally.hit();
        }

        @Override
        public int greet(int n) {
            Tally.hit();
            return n + 1;
        }

        int inherited(int n) {
            Tally.hit();
            return below(n) + 1;
        }

        private static int below(int n) {
            Tally.hit();
            return n * 2;
        }

        private int same(int n) {
            Tally.hit();
            return n + 3;
        }
    }

    static class Derived extends Base {
        final int number;

        private Derived(int number) {
            super();
            Tally.hit();
            this.number = number;
        }

        @Override
        public int greet(int n) {
            Tally.hit();
            return n + number;
        }

        /* Overrides nothing. */
        int same(int n) {
            Tally.hit();
            return n + 4;
        }
    }

    /* Never the receiver of such a call, so its override gets no probe. */
    static class Other extends Base {
        @Override
        public int greet(int n) {
            Tally.hit();
            return n - 1;
        }
    }

    static class Throws {
        static int always(int n) {
            Tally.hit();
            throw new IllegalStateException("" + n);
        }
    }

    private static int overloaded(int n) {
        Tally.hit();
        return n * 3;
    }

    private static int overloaded(long n) {
        Tally.hit();
        return (int) n * 5;
    }

    private static final Method GREET = method(Greeter.class, "greet", int.class);
    private static final Method TWICE = method(Greeter.class, "twice", int.class);
    private static final Method INHERITED = method(Base.class, "inherited", int.class);
    private static final Method SAME = method(Base.class, "same", int.class);
    private static final Method OF_INT = method(Reflected.class, "overloaded", int.class);
    private static final Method OF_LONG = method(Reflected.class, "overloaded", long.class);
    private static final Method ALWAYS = method(Throws.class, "always", int.class);
    private static final Constructor<Derived> MAKER = constructor();

    private static Method method(Class<?> type, String name, Class<?> parameter) {
        try {
            Method method = type.getDeclaredMethod(name, parameter);
            method.setAccessible(true);
            return method;
        } catch (NoSuchMethodException e) {
            throw new AssertionError(e);
        }
    }

    private static Constructor<Derived> constructor() {
        try {
            return Derived.class.getDeclaredConstructor(int.class);
        } catch (NoSuchMethodException e) {
            throw new AssertionError(e);
        }
    }

    /** A root. */
    static void run(int rounds) {
        Tally.hit();
        try {
            for (int i = 0; i < rounds; i++) {
                reflect(i);
            }
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }

    private static void reflect(int i) throws ReflectiveOperationException {
        Tally.hit();
        Object made = MAKER.newInstance(i);
        sink += (Integer) GREET.invoke(made, i);
        sink += (Integer) TWICE.invoke(made, i);
        sink += (Integer) INHERITED.invoke(made, i);
        sink += (Integer) SAME.invoke(made, i);
        sink += (Integer) OF_INT.invoke(null, i);
        sink += (Integer) OF_LONG.invoke(null, (long) i);
        try {
            ALWAYS.invoke(null, i);
        } catch (InvocationTargetException e) {
            sink++;
        }
        /* The filter excludes Library, which calls back. */
        sink += Library.call(GREET, made, i);
    }

    /** A root that makes such calls only through a library. */
    static void through(int rounds) {
        Tally.hit();
        for (int i = 0; i < rounds; i++) {
            sink += Library.call(OF_INT, null, i);
        }
    }

    /* ---- through proxies ---- */

    /** Public and package-private interfaces: the proxies are in a package of the JDK and in this package. */
    public interface Shown {
        int show(int n);
    }

    interface Hidden {
        int hide(int n);
    }

    static final class Handler implements InvocationHandler {
        @Override
        public Object invoke(Object proxy, Method method, Object[] arguments) throws Throwable {
            Tally.hit();
            return method.invoke(TARGET, arguments);
        }
    }

    static final class Target implements Shown, Hidden {
        @Override
        public int show(int n) {
            Tally.hit();
            return n + 10;
        }

        @Override
        public int hide(int n) {
            Tally.hit();
            return n + 20;
        }
    }

    private static final Target TARGET = new Target();
    private static final Shown SHOWN = (Shown) proxy(Shown.class);
    private static final Hidden HIDDEN = (Hidden) proxy(Hidden.class);

    private static Object proxy(Class<?> type) {
        return Proxy.newProxyInstance(Reflected.class.getClassLoader(), new Class<?>[] {type}, new Handler());
    }

    /** A root. The proxy of Hidden is itself a class of the program. */
    static void proxies(int rounds) {
        Tally.hit();
        for (int i = 0; i < rounds; i++) {
            sink += SHOWN.show(i);
            sink += HIDDEN.hide(i);
            Tally.hit(HIDDEN.getClass().getName() + ".hide");
        }
    }

    /* ---- through method handles that were looked up, and lambdas created outside the root
     * ---- */

    private static final MethodHandle HANDLE = handle();

    private static MethodHandle handle() {
        try {
            return MethodHandles.lookup()
                    .findStatic(Reflected.class, "handled", MethodType.methodType(int.class, int.class));
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }

    private static int handled(int n) {
        Tally.hit();
        return n * 7;
    }

    /** A root. */
    static void handles(int rounds) {
        Tally.hit();
        try {
            for (int i = 0; i < rounds; i++) {
                sink += (int) HANDLE.invokeExact(i);
            }
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    static final class Stepper {
        final int step;

        Stepper(int step) {
            Tally.hit();
            this.step = step;
        }

        int steps() {
            Tally.hit();
            return step + sink % 2;
        }

        int step(int n) {
            Tally.hit();
            return n + step;
        }
    }

    private static int stepped(int n) {
        Tally.hit();
        return n + 1;
    }

    private static final IntUnaryOperator LAMBDA = n -> {
        Tally.hit("counted.Reflected.lambda");
        return n + 1;
    };
    private static final IntUnaryOperator OF_STATIC = Reflected::stepped;
    private static final IntUnaryOperator BOUND = new Stepper(2)::step;
    private static final ToIntFunction<Stepper> UNBOUND = Stepper::steps;
    private static final IntFunction<Stepper> MAKES = Stepper::new;

    /** Created by a class that is loaded after counting has begun. */
    static IntUnaryOperator late;

    /** A root. */
    static void lambdas(int rounds) {
        Tally.hit();
        for (int i = 0; i < rounds; i++) {
            sink += LAMBDA.applyAsInt(i) + OF_STATIC.applyAsInt(i) + BOUND.applyAsInt(i) + late.applyAsInt(i);
            sink += UNBOUND.applyAsInt(MAKES.apply(i));
        }
    }
}

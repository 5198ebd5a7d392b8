// SPDX-License-Identifier: Apache-2.0
package java.lang;

import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.DontInline;
import jdk.internal.vm.annotation.ForceInline;
import jdk.internal.vm.annotation.Stable;

/**
 * The hooks that counted methods call at their entry and their exits. The library defines this class in java.base when
 * counting is used for the first time, where it is visible to every class loader and may use the JVM's Unsafe. It is
 * compiled when the native library is built, which contains its bytes; it is not part of the jar.
 *
 * <p>All data belongs to the library (native/src/counting/call_layout.h): a state per thread, found by the thread's id,
 * and a tree of calls. This class handles only the frequent case: a call from a place that has made it before, and its
 * exit. Native methods (threadsampler.HookNatives) handle all other cases, and with exact timing all cases.
 *
 * <p>Reflective calls are passed to {@link #reflected}, which reports each target to the library once.
 *
 * <p>A hook allocates nothing on the Java heap; the first root of a thread and a tree that grows call malloc. It waits
 * for no other thread, except that the first root in each new tree, and the first reflective call of a method for each
 * class of its receivers, take a lock of the library. If an entry overflows the stack, it throws, as the method itself
 * would have done a little deeper; it has changed nothing, and the method has not begun. If an exit overflows the
 * stack, or the JVM does not let it begin, a finished call remains in the state; {@link #caught} removes it when the
 * program catches the error.
 *
 * <p>Thread.stop (up to JDK 19) may interrupt a hook, which then undoes an entry, or completes an exit, and rethrows.
 * An exit at a return is then repeated in the method's handler, where it finds no call of its own, or in a recursion an
 * outer one. So until the root ends the position may be above the running call, but never below.
 */
public abstract class ThreadsSamplerHook {

    private static final Unsafe U = Unsafe.getUnsafe();
    /* getId() is not used, because a program may override it. */
    private static final long TID = U.objectFieldOffset(Thread.class, "tid");
    private static final Class<?> VIRTUAL = find("java.lang.BaseVirtualThread");
    /* Looked up by name, because a future JDK will not have it. */
    private static final Class<?> STOP = find("java.lang.ThreadDeath");

    /* The numbers of call_layout.h; setUp compares them. */
    private static final long SLOT_MASK = 16384 - 1;
    private static final int SLOT_SHIFT = 3;
    private static final long STATE_TID = 0;
    private static final long STATE_NEXT = 8;
    private static final long STATE_POSITION = 16;
    private static final long STATE_TOP = 24;
    private static final long STATE_GENERATION = 32;
    private static final long STATE_PHASE = 36;
    private static final long STATE_IS_EXACT = 37;
    private static final long STATE_IS_FULL = 39;
    private static final long NODE_KEY = 0;
    private static final long NODE_PARENT = 8;
    private static final long NODE_CHILD = 16;
    private static final long NODE_NEXT = 24;
    private static final long NODE_COUNT = 32;
    private static final long NODE_TIME = 40;
    private static final long NODE_DEPTH = 56;
    /* Offset from the top to the overflow node. */
    private static final long OVERFLOW = 64;
    /* A value of enum smp_call_room. */
    private static final int OVER_NODE_LIMIT = 1;

    /* Offset before the top. */
    private static final long HINT_BYTES = 1024;
    private static final long HINT_SCATTER = 424;

    private static final int KEY_OVERFLOW = -2;
    private static final int KEY_SHIFT = 2;
    /* Used in place of a position. */
    private static final long NOT_READ = -1;

    private static final long REFLECTED_MASK = 65536 - 1;
    private static final int REFLECTED_SHIFT = 3;
    private static final int REFLECTED_TRIES = 4;
    /* A multiplier made of the golden ratio, for hashing. */
    private static final long SCATTER = 0x9e3779b97f4a7c15L;

    /* -1: this JDK has no such field, so each reflective call of a root is reported. */
    private static final long METHOD_SLOT = slotOf(Method.class);
    private static final long CONSTRUCTOR_SLOT = slotOf(Constructor.class);

    private static final byte IN_HOOK = 1;
    private static final byte BETWEEN_STAMPS = 2;
    private static final byte OUTSIDE = 0;

    /** Address of the slots; a constant for the JIT compilers once it is set. */
    @Stable
    private static long slots;

    /** Handles the other cases; a constant, too. */
    @Stable
    private static ThreadsSamplerHook natives;

    /** Address of the table of reported reflective calls. */
    @Stable
    private static long reflected;

    /** Address of the shared data, for another core in this JVM. */
    private static long shared;

    /** For the native part. */
    protected ThreadsSamplerHook() {}

    private static Class<?> find(String name) {
        try {
            return Class.forName(name, false, null);
        } catch (ClassNotFoundException e) {
            return null;
        }
    }

    private static long slotOf(Class<?> type) {
        try {
            return U.objectFieldOffset(type, "slot");
        } catch (InternalError e) {
            return -1;
        }
    }

    /* Returns -1 if the layout is the same, else the index of the first number that differs. */
    private static int setUp(
            ThreadsSamplerHook nativePart,
            long slotsAddress,
            long sharedAddress,
            long reflectedAddress,
            long[] layout) {
        long[] own = {
            SLOT_MASK,
            1L << SLOT_SHIFT,
            STATE_TID,
            STATE_NEXT,
            STATE_POSITION,
            STATE_TOP,
            STATE_GENERATION,
            STATE_PHASE,
            STATE_IS_EXACT,
            STATE_IS_FULL,
            NODE_KEY,
            NODE_PARENT,
            NODE_CHILD,
            NODE_NEXT,
            NODE_COUNT,
            NODE_TIME,
            OVERFLOW,
            HINT_BYTES,
            HINT_SCATTER,
            KEY_OVERFLOW,
            NODE_DEPTH,
            OVER_NODE_LIMIT,
            REFLECTED_MASK
        };
        for (int i = 0; i < own.length; i++) {
            if (i >= layout.length || layout[i] != own[i]) {
                return i;
            }
        }
        natives = nativePart;
        shared = sharedAddress;
        reflected = reflectedAddress;
        slots = slotsAddress;
        return -1;
    }

    /** A root begins. The name is that of a virtual thread. */
    protected abstract void enterRoot0(long tid, boolean isVirtual, String name, int id);

    /** A root ends. */
    protected abstract void exitRoot0(long state, int id);

    /** A call begins. */
    protected abstract void enter0(long state, int id);

    /** A call ends. */
    protected abstract void exit0(long state, int id);

    /** Makes a node for a call. */
    protected abstract long child0(long state, long at, int id);

    /** A method catches an exception; doubt: the calls that may have lost their exits, as in call_path.h. */
    protected abstract void caught0(long state, int id, int doubt);

    /** Reports a reflective call. Returns false if it has to be reported again. */
    protected abstract boolean reflected0(Object called, Object receiver);

    /** An instrumented method begins. */
    @ForceInline
    public static void enter(int id) {
        long state = 0;
        long at = 0;
        try {
            state = state();
            if (state != 0) {
                at = U.getLong(state + STATE_POSITION);
                if (at != 0) {
                    if (U.getByte(state + STATE_IS_EXACT) == 0) {
                        push(state, at, id);
                    } else {
                        U.putByteOpaque(null, state + STATE_PHASE, IN_HOOK);
                        natives.enter0(state, id);
                        U.putByteOpaque(null, state + STATE_PHASE, OUTSIDE);
                    }
                }
            }
        } catch (StackOverflowError e) {
            if (state != 0) {
                U.putByteOpaque(null, state + STATE_PHASE, OUTSIDE);
            }
            throw e;
        } catch (Throwable e) {
            stopEnter(e, state, at, id);
        }
    }

    /** An instrumented method ends, by itself or by an exception. */
    @ForceInline
    public static void exit(int id) {
        long state = 0;
        long at = 0;
        try {
            state = state();
            if (state != 0) {
                at = U.getLong(state + STATE_POSITION);
                if (at != 0) {
                    if (U.getInt(at + NODE_KEY) == id && U.getByte(state + STATE_IS_EXACT) == 0) {
                        U.putByteOpaque(null, state + STATE_PHASE, IN_HOOK);
                        U.putLongOpaque(null, state + STATE_POSITION, U.getLong(at + NODE_PARENT));
                        U.putByteOpaque(null, state + STATE_PHASE, OUTSIDE);
                    } else if (U.getInt(at + NODE_KEY) == KEY_OVERFLOW && U.getByte(state + STATE_IS_EXACT) == 0) {
                        exitOverflow(state, at, id);
                    } else {
                        U.putByteOpaque(null, state + STATE_PHASE, BETWEEN_STAMPS);
                        natives.exit0(state, id);
                        U.putByteOpaque(null, state + STATE_PHASE, OUTSIDE);
                    }
                }
            }
        } catch (StackOverflowError e) {
            if (state != 0) {
                U.putByteOpaque(null, state + STATE_PHASE, OUTSIDE);
            }
        } catch (Throwable e) {
            stopExit(e, at, id);
        }
    }

    /** A root method begins: from here on calls are counted. */
    public static void enterRoot(int id) {
        long before = NOT_READ;
        long level = 0;
        try {
            Thread thread = Thread.currentThread();
            long state = state();
            long at = state == 0 ? 0 : U.getLong(state + STATE_POSITION);
            level = at == 0 ? 0 : U.getLong(at + NODE_COUNT);
            before = at;
            boolean isVirtual = VIRTUAL != null && VIRTUAL.isInstance(thread);
            natives.enterRoot0(U.getLong(thread, TID), isVirtual, isVirtual ? thread.getName() : null, id);
        } catch (StackOverflowError e) {
            throw e;
        } catch (Throwable e) {
            stopEnterRoot(e, before, level, id);
        }
    }

    /** A root method ends. */
    public static void exitRoot(int id) {
        long at = 0;
        try {
            long state = state();
            if (state != 0) {
                at = U.getLong(state + STATE_POSITION);
                if (at != 0) {
                    natives.exitRoot0(state, id);
                }
            }
        } catch (StackOverflowError e) {
            /* caught ends the root */
        } catch (Throwable e) {
            stopExitRoot(e, at, id);
        }
    }

    /**
     * A method has caught this exception, so its callees are finished. Usually they have had their exits. Exceptions
     * are a constructor that fails before or in {@code super()}, and the last calls before a stack overflow. The
     * exception is null in a constructor, and if it is not available.
     */
    public static void caught(Object exception, int id) {
        try {
            long state = state();
            long at = state == 0 ? 0 : U.getLong(state + STATE_POSITION);
            if (at != 0) {
                int doubt = doubt(exception);
                if (doubt != 0 || (U.getInt(at + NODE_KEY) & Integer.MAX_VALUE) != id) {
                    U.putByteOpaque(null, state + STATE_PHASE, IN_HOOK);
                    natives.caught0(state, id, doubt);
                    U.putByteOpaque(null, state + STATE_PHASE, OUTSIDE);
                }
            }
        } catch (StackOverflowError e) {
            /* the next method that catches it corrects the state */
        } catch (Throwable e) {
            passOn(e);
        }
    }

    /* The same error often passes through many methods that catch it, one after the other. */
    private static int doubt(Object exception) {
        if (exception instanceof StackOverflowError) {
            return System.identityHashCode(exception) & Integer.MAX_VALUE | 1;
        }
        return exception == null ? -1 : 0;
    }

    /* --- Thread.stop inside a hook: at is the position before it, or 0 if it was not read yet --- */

    /* The overflow node does not show how much was done, so this prefers one exit too many to one too few. */
    private static void stopEnter(Throwable e, long state, long at, int id) {
        if (isStop(e) && at != 0) {
            if (U.getLong(state + STATE_POSITION) != at || U.getInt(at + NODE_KEY) == KEY_OVERFLOW) {
                natives.exit0(state, id);
            }
            U.putByteOpaque(null, state + STATE_PHASE, OUTSIDE);
        }
        passOn(e);
    }

    private static void stopExit(Throwable e, long at, int id) {
        long state = isStop(e) ? state() : 0;
        long now = state == 0 ? 0 : U.getLong(state + STATE_POSITION);
        if (now != 0) {
            if (at == 0 || now == at) {
                natives.exit0(state, id);
            }
            U.putByteOpaque(null, state + STATE_PHASE, OUTSIDE);
        }
        passOn(e);
    }

    /* For the overflow node, the number of its calls decides. */
    private static void stopEnterRoot(Throwable e, long before, long level, int id) {
        long state = isStop(e) && before != NOT_READ ? state() : 0;
        long now = state == 0 ? 0 : U.getLong(state + STATE_POSITION);
        if (now != 0 && (now != before || isDeeper(now, level))) {
            natives.exitRoot0(state, id);
        }
        passOn(e);
    }

    private static void stopExitRoot(Throwable e, long at, int id) {
        long state = isStop(e) ? state() : 0;
        long now = state == 0 ? 0 : U.getLong(state + STATE_POSITION);
        if (now != 0 && (at == 0 || now == at)) {
            natives.exitRoot0(state, id);
        }
        passOn(e);
    }

    private static boolean isDeeper(long at, long level) {
        return U.getInt(at + NODE_KEY) == KEY_OVERFLOW && U.getLong(at + NODE_COUNT) != level;
    }

    private static boolean isStop(Throwable e) {
        return STOP != null && STOP.isInstance(e);
    }

    /* Any other exception is an error of the hook, which the program must not see. */
    private static void passOn(Throwable e) {
        if (isStop(e)) {
            throw (Error) e;
        }
    }

    /**
     * A Method or Constructor is called; receiver is the object of the call, or null. Only the first call matters,
     * because byte code does not show that the method can be called. If reporting fails, the next call repeats it.
     */
    @ForceInline
    public static void reflected(Object called, Object receiver) {
        try {
            long state = state();
            if (state != 0 && U.getLong(state + STATE_POSITION) != 0) {
                say(state, called, receiver);
            }
        } catch (Throwable e) {
            if (isStop(e)) {
                throw (Error) e;
            }
            /* stack overflow */
        }
    }

    /*
     * The table stores numbers, because references would keep classes alive. It is never cleared: the generation of
     * trees is part of the number. Threads may overwrite each other's entries; then a call is reported twice.
     */
    @DontInline
    private static void say(long state, Object called, Object receiver) {
        long number = numberOf(called, receiver) + U.getInt(state + STATE_GENERATION);
        number = (number ^ number >>> 32) * SCATTER | 1;
        long first = number >>> 40;
        if (!isSaid(first, number) && natives.reflected0(called, receiver)) {
            note(first, number);
        }
    }

    /* Equal for equal calls, and almost never for different ones; 0 if not known. */
    private static long numberOf(Object called, Object receiver) {
        Class<?> owner;
        long slot;
        if (called instanceof Method method) {
            owner = method.getDeclaringClass();
            slot = METHOD_SLOT < 0 ? 0 : 2L * U.getInt(called, METHOD_SLOT);
        } else {
            owner = ((Constructor<?>) called).getDeclaringClass();
            slot = CONSTRUCTOR_SLOT < 0 ? 0 : 2L * U.getInt(called, CONSTRUCTOR_SLOT) + 1;
        }
        long number = receiver == null ? 0 : System.identityHashCode(receiver.getClass());
        return ((number << 32 ^ System.identityHashCode(owner)) * SCATTER + slot) * SCATTER;
    }

    private static long reflectedSlot(long index) {
        return reflected + ((index & REFLECTED_MASK) << REFLECTED_SHIFT);
    }

    private static boolean isSaid(long first, long number) {
        for (int i = 0; i < REFLECTED_TRIES; i++) {
            if (U.getLong(reflectedSlot(first + i)) == number) {
                return METHOD_SLOT >= 0 && CONSTRUCTOR_SLOT >= 0;
            }
        }
        return false;
    }

    /* Uses the first place if none is free: its entry is of another generation, or is reported once more. */
    private static void note(long first, long number) {
        long place = reflectedSlot(first);
        for (int i = 0; i < REFLECTED_TRIES; i++) {
            if (U.getLong(reflectedSlot(first + i)) == 0) {
                place = reflectedSlot(first + i);
                break;
            }
        }
        U.putLong(place, number);
    }

    /* The thread's state, or 0 if it has none. */
    @ForceInline
    private static long state() {
        long tid = U.getLong(Thread.currentThread(), TID);
        long state = U.getLong(slots + ((tid & SLOT_MASK) << SLOT_SHIFT));
        return state == 0 || U.getLong(state + STATE_TID) == tid ? state : chained(state, tid);
    }

    @DontInline
    private static long chained(long first, long tid) {
        long state = first;
        while (state != 0 && U.getLong(state + STATE_TID) != tid) {
            state = U.getLong(state + STATE_NEXT);
        }
        return state;
    }

    /*
     * Compilers keep opaque stores in program order, so the position, which another thread reads, is not kept in a
     * register. The position is stored first: if the thread is stopped in between, the exit finds its call. The search
     * is the last step, so its call does not force a compiler to spill the state.
     */
    @ForceInline
    private static void push(long state, long at, int id) {
        U.putByteOpaque(null, state + STATE_PHASE, IN_HOOK);
        long child = U.getLong(at + NODE_CHILD);
        if (child != 0 && U.getInt(child + NODE_KEY) == id) {
            go(state, child);
            return;
        }
        child = U.getLong(hint(state, at, id));
        if (child != 0 && U.getInt(child + NODE_KEY) == id && U.getLong(child + NODE_PARENT) == at) {
            go(state, child);
            return;
        }
        search(state, at, id);
    }

    @ForceInline
    private static void go(long state, long child) {
        U.putLongOpaque(null, state + STATE_POSITION, child);
        U.putLong(child + NODE_COUNT, U.getLong(child + NODE_COUNT) + 1);
        U.putByteOpaque(null, state + STATE_PHASE, OUTSIDE);
    }

    @DontInline
    private static void search(long state, long at, int id) {
        go(state, find(state, at, id));
    }

    /* The place of the callee that was found last, see call_layout.h. */
    @ForceInline
    private static long hint(long state, long at, int id) {
        return U.getLong(state + STATE_TOP) - HINT_BYTES + ((at >>> 3) + id * HINT_SCATTER & HINT_BYTES - 8);
    }

    /* Handles a call without a node, as in call_path.c. */
    @DontInline
    private static void exitOverflow(long state, long overflow, int id) {
        long level = U.getLong(overflow + NODE_COUNT);
        long keys = U.getLong(overflow + NODE_CHILD);
        U.putByteOpaque(null, state + STATE_PHASE, IN_HOOK);
        if (keys == 0 || level > -U.getInt(keys) || U.getInt(keys + (level << KEY_SHIFT)) != id) {
            natives.exit0(state, id);
        } else {
            U.putLong(overflow + NODE_COUNT, level - 1);
            if (level == 1) {
                U.putLongOpaque(null, state + STATE_POSITION, U.getLong(overflow + NODE_PARENT));
            }
        }
        U.putByteOpaque(null, state + STATE_PHASE, OUTSIDE);
    }

    /*
     * Siblings form a circle in the order of their first calls, because the next call is usually that of the next
     * sibling. A call that cannot have a node is counted here, as in call_path.c, because most calls may be such calls
     * in a full tree.
     */
    private static long find(long state, long at, int id) {
        long last = U.getLong(at + NODE_CHILD);
        long overflow = U.getLong(state + STATE_TOP) + OVERFLOW;
        if (last != 0 && at != overflow) {
            long child = U.getLong(last + NODE_NEXT);
            while (child != last) {
                if (U.getInt(child + NODE_KEY) == id) {
                    U.putLong(at + NODE_CHILD, child);
                    U.putLong(hint(state, at, id), child);
                    return child;
                }
                child = U.getLong(child + NODE_NEXT);
            }
        }
        long keys = U.getLong(overflow + NODE_CHILD);
        long level = at == overflow ? U.getLong(overflow + NODE_COUNT) + 1 : 1;
        if (U.getByte(state + STATE_IS_FULL) == 0 || keys == 0 || level > -U.getInt(keys)) {
            return natives.child0(state, at, id);
        }
        if (at != overflow) {
            U.putLong(overflow + NODE_COUNT, 0);
            U.putInt(overflow + NODE_DEPTH, OVER_NODE_LIMIT);
            U.putLong(overflow + NODE_PARENT, at);
        } else if (U.getInt(overflow + NODE_DEPTH) != OVER_NODE_LIMIT) {
            return natives.child0(state, at, id);
        }
        U.putInt(keys + (level << KEY_SHIFT), id);
        U.putLong(overflow + NODE_TIME, U.getLong(overflow + NODE_TIME) + 1);
        return overflow;
    }
}

// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.bench.accuracy;

import java.util.Arrays;
import java.util.Collection;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Decides whether a frame can be the callee of another one. The byte code at the caller's index names the called
 * method: a callee with another name or descriptor, or of a class unrelated to the named one, is impossible. If byte
 * code does not name the callee, the call is exempt, and counted as such.
 */
final class Calls {

    /** The verdict on a call. */
    enum Verdict {
        /** The instruction names this method. */
        POSSIBLE("named by the byte code"),
        /** Calls a method that the bootstrap method has chosen, through generated classes. */
        INVOKEDYNAMIC("invokedynamic"),
        /** From or to the code of method handles and variable handles, which may call any method. */
        METHOD_HANDLE("method handles"),
        /** A native method may call any method. */
        NATIVE_CALLER("from a native method"),
        /** The JVM calls it before the instruction: static members, new. */
        INITIALISER("class initialisers"),
        /**
         * The JVM calls it when it loads a class, links a call, throws an exception or creates an object to be
         * finalised.
         */
        JVM_CALLS("called by the JVM"),
        /** A stub of the JVM, or a frame without a name. */
        PSEUDO("pseudo-frames"),
        /** One of the two classes was unloaded or is not found, or the method has no id. */
        UNKNOWN("unloaded classes and methods without an id"),
        IMPOSSIBLE("impossible");

        private final String text;

        Verdict(String text) {
            this.text = text;
        }

        String text() {
            return text;
        }
    }

    /** Verdicts that do not depend on the byte code. */
    static final Set<Verdict> EXEMPT = EnumSet.complementOf(EnumSet.of(Verdict.POSSIBLE, Verdict.IMPOSSIBLE));

    private static final int GETSTATIC = 178;
    private static final int PUTSTATIC = 179;
    private static final int INVOKESPECIAL = 183;
    private static final int INVOKESTATIC = 184;
    private static final int INVOKEDYNAMIC = 186;
    private static final int NEW = 187;
    private static final Set<Integer> INITIALISING = Set.of(GETSTATIC, PUTSTATIC, INVOKESTATIC, NEW);
    private static final Set<String> POLYMORPHIC =
            Set.of("java/lang/invoke/MethodHandle", "java/lang/invoke/VarHandle");
    private static final int WORDS_OF_A_CALL = 4;

    private final Map<String, List<Class<?>>> classes;
    private final Map<List<Place>, Verdict> judged = new HashMap<>();

    /**
     * Creates a judge.
     *
     * @param loaded classes whose relations are known; any relation of another class is considered possible
     */
    Calls(Collection<Class<?>> loaded) {
        classes = loaded.stream().collect(Collectors.groupingBy(type -> Place.typeName(type.getName())));
    }

    /** The classes with this name. */
    List<Class<?>> classes(String type) {
        return classes.getOrDefault(type, List.of());
    }

    Verdict judge(Place caller, Place callee) {
        /* For the callee only the method matters, not the position. */
        Place method = new Place(
                callee.type(), callee.method(), callee.descriptor(), 0, callee.isPseudo() ? Place.PSEUDO : "");
        return judged.computeIfAbsent(Arrays.asList(caller, method), key -> decide(caller, method));
    }

    private Verdict decide(Place caller, Place callee) {
        if (caller.isPseudo() || callee.isPseudo()) {
            return Verdict.PSEUDO;
        }
        if (caller.instruction().equals(Place.NATIVE)) {
            return Verdict.NATIVE_CALLER;
        }
        if (caller.instruction().equals(Place.UNKNOWN) || callee.descriptor().isEmpty()) {
            return Verdict.UNKNOWN;
        }
        String[] words = caller.instruction().split(" ");
        int opcode = Integer.parseInt(words[0]);
        if (words.length == WORDS_OF_A_CALL) {
            if (words[2].equals(callee.method())
                    && words[3].equals(callee.descriptor())
                    && isRelated(callee.type(), words[1], opcode == INVOKESTATIC || opcode == INVOKESPECIAL)) {
                return Verdict.POSSIBLE;
            }
            if (POLYMORPHIC.contains(words[1]) && (caller.isMethodHandle() || callee.isMethodHandle())) {
                return Verdict.METHOD_HANDLE;
            }
        }
        if (opcode == INVOKEDYNAMIC && callee.isMethodHandle()) {
            return Verdict.INVOKEDYNAMIC;
        }
        if (callee.method().equals("<clinit>")) {
            return INITIALISING.contains(opcode) ? Verdict.INITIALISER : Verdict.IMPOSSIBLE;
        }
        return isCalledByJvm(callee) ? Verdict.JVM_CALLS : Verdict.IMPOSSIBLE;
    }

    private boolean isCalledByJvm(Place callee) {
        return switch (callee.method()) {
            case "loadClass" -> callee.descriptor().equals("(Ljava/lang/String;)Ljava/lang/Class;");
            case "checkPackageAccess" -> callee.type().equals("java/lang/ClassLoader");
            case "register" -> callee.type().equals("java/lang/ref/Finalizer");
            case "<init>" ->
                classes(callee.type()).stream().anyMatch(Throwable.class::isAssignableFrom)
                        || callee.type().matches(".*(Exception|Error)");
            default -> callee.type().equals("java/lang/invoke/MethodHandleNatives");
        };
    }

    /*
     * The called method is declared in the named class or above it; for a virtual call also below it. An object whose
     * class implements an interface may inherit the method from anywhere.
     */
    private boolean isRelated(String declaring, String named, boolean isExact) {
        List<Class<?>> froms = classes(named.startsWith("[") ? "java/lang/Object" : Place.typeName(named));
        List<Class<?>> tos = classes(declaring);
        if (froms.isEmpty() || tos.isEmpty()) {
            return true;
        }
        for (Class<?> from : froms) {
            for (Class<?> to : tos) {
                if (to.isAssignableFrom(from)
                        || !isExact && (from.isInterface() || to.isInterface() || from.isAssignableFrom(to))) {
                    return true;
                }
            }
        }
        return false;
    }
}

// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.bench.accuracy;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A frame of a stack: a method and a position.
 *
 * @param type the class's name with slashes; for a hidden class as in "java/lang/invoke/LambdaForm$MH.0x1234"; for a
 *     pseudo-frame its text
 * @param method its name
 * @param descriptor of the method; empty if it is not known
 * @param bci byte code index
 * @param instruction the opcode at that index; for a call followed by the class, method and descriptor that the byte
 *     code names, separated by blanks; or one of the constants below
 */
record Place(String type, String method, String descriptor, int bci, String instruction) {

    static final String NATIVE = "native";
    static final String PSEUDO = "pseudo";
    static final String UNKNOWN = "unknown";

    private static final Pattern HIDDEN = Pattern.compile("(.*)[/+.](0x[0-9a-f]+)");
    private static final int FIELDS = 5;

    /** Parses a text of {@link ObservedStacks#places}. */
    static Place parse(String text) {
        String[] cells = text.split("\t", FIELDS);
        return new Place(typeName(cells[0]), cells[1], cells[2], Integer.parseInt(cells[3]), cells[4]);
    }

    /**
     * Converts class names to one spelling.
     *
     * @param name with dots or slashes, or a signature
     */
    static String typeName(String name) {
        boolean isSignature = name.startsWith("L") && name.endsWith(";");
        String inner = isSignature ? name.substring(1, name.length() - 1) : name;
        if (inner.startsWith("[")) {
            return inner;
        }
        Matcher hidden = HIDDEN.matcher(inner);
        return hidden.matches() ? hidden.group(1).replace('.', '/') + "." + hidden.group(2) : inner.replace('.', '/');
    }

    boolean isPseudo() {
        return instruction.equals(PSEUDO);
    }

    boolean isSameMethod(Place other) {
        return type.equals(other.type) && method.equals(other.method) && descriptor.equals(other.descriptor);
    }

    boolean isHidden() {
        return HIDDEN.matcher(type).matches();
    }

    /** Whether the frame implements method handles, through which any method may be called. */
    boolean isMethodHandle() {
        return isHidden() || type.startsWith("java/lang/invoke/");
    }

    String shortText() {
        return isPseudo() ? type : type + "." + method + descriptor + "@" + bci;
    }

    @Override
    public String toString() {
        return isPseudo() ? type : shortText() + " [" + instruction + "]";
    }
}

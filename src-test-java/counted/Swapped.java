// SPDX-License-Identifier: Apache-2.0
package counted;

/** Redefined while it is counted: each method returns the version of its code. */
public final class Swapped {

    /** The version in the class file; other versions have another number there. */
    public static final int VERSION = 30_001;

    private Swapped() {}

    /** The root method. It calls the others one after the other, so each is instrumented in a later batch. */
    public static int root(int depth) {
        int version = VERSION;
        return depth > 0 ? Math.min(version, first(depth - 1)) : version;
    }

    private static int first(int depth) {
        int version = VERSION;
        return depth > 0 ? Math.min(version, second(depth - 1)) : version;
    }

    private static int second(int depth) {
        int version = VERSION;
        return depth > 0 ? Math.min(version, third(depth - 1)) : version;
    }

    private static int third(int depth) {
        int version = VERSION;
        return depth > 0 ? Math.min(version, fourth(depth - 1)) : version;
    }

    private static int fourth(int depth) {
        int version = VERSION;
        return depth > 0 ? Math.min(version, fifth(depth - 1)) : version;
    }

    private static int fifth(int depth) {
        int version = VERSION;
        return depth > 0 ? Math.min(version, sixth(depth - 1)) : version;
    }

    private static int sixth(int depth) {
        int version = VERSION;
        return depth > 0 ? Math.min(version, last()) : version;
    }

    private static int last() {
        int version = VERSION;
        return version;
    }
}

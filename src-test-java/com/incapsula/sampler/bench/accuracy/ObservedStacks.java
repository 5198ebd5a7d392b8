// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.bench.accuracy;

/**
 * The stacks of one thread as the native library sees them, with byte code indexes. Needs a JVM that has loaded {@link
 * com.incapsula.sampler.bench.ObservedLibrary} and runs a sampler.
 */
final class ObservedStacks {

    /** Stands for the missing frames of a very deep stack. */
    static final int GAP = -1;

    /** The length of the description of an interruption: the pc in two numbers, then the machine code around it. */
    static final int INTERRUPTED = 10;

    private ObservedStacks() {}

    /** Describes where a stack was interrupted, from the numbers at this index. */
    static String interrupted(int[] numbers, int at) {
        long pc = numbers[at] & 0xffffffffL | (long) numbers[at + 1] << 32;
        if (pc == 0) {
            return "not in the JVM's code";
        }
        StringBuilder text = new StringBuilder(blob(pc)).append(':');
        for (int i = 2; i < INTERRUPTED; i++) {
            text.append(i == INTERRUPTED / 2 + 1 ? " |" : "");
            for (int shift = 0; shift < Integer.SIZE; shift += Byte.SIZE) {
                text.append(String.format(" %02x", numbers[at + i] >>> shift & 0xff));
            }
        }
        return text.toString();
    }

    /**
     * Begins to keep the stacks of a thread.
     *
     * @param thread the thread's name
     * @return false if this JVM does not show byte codes
     */
    static native boolean start(String thread);

    /**
     * Ends, and returns the stacks.
     *
     * @return for each stack: its outcome, the number of its frames, {@link #INTERRUPTED} numbers that describe where
     *     it was interrupted, and the number of each frame's place, leaf first
     */
    static native int[] stop();

    /** @return true if there was no room for some stacks or some places */
    static native boolean isFull();

    /** @return all places by number: class, method, descriptor, byte code index and instruction, separated by tabs */
    static native String[] places();

    /** @return the kind of an outcome and its code, such as "FAILED UNKNOWN_JAVA" */
    static native String outcome(int outcome);

    /** @return all loaded classes, including hidden ones */
    static native Class<?>[] loadedClasses();

    /** @return the kind of code at that address of the JVM, and the distance from its beginning */
    static native String blob(long pc);

    /** @return the instruction there: see {@link Place} */
    static native String instruction(Class<?> declaring, String method, String descriptor, int bci);
}

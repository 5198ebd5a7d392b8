// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.bench.accuracy;

/**
 * The stacks of one thread as the native library gets them, with byte code indexes. In a JVM that has loaded
 * {@link com.incapsula.sampler.bench.ObservedLibrary} and runs a sampler.
 */
final class ObservedStacks {

    /** In place of a frame: some are left out of a very deep stack. */
    static final int GAP = -1;

    /** The pc in two, then the machine code around it. */
    static final int INTERRUPTED = 10;

    private ObservedStacks() {}

    /** Where a stack was interrupted: the numbers from there on. */
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
     * Begins.
     *
     * @param thread the name of the thread whose stacks are kept
     * @return false where this JVM does not show byte codes
     */
    static native boolean start(String thread);

    /**
     * Ends.
     *
     * @return of each stack: its outcome, the number of its frames, {@link #INTERRUPTED} numbers of where it was
     *     interrupted, and as many numbers of places as there are frames, leaf first
     */
    static native int[] stop();

    /** @return true: there was no room for some stacks, or for some places */
    static native boolean isFull();

    /** @return all places by number; class, method, descriptor, byte code index, instruction, with tabs between them */
    static native String[] places();

    /** @return the kind of an outcome and its code, as "FAILED UNKNOWN_JAVA" */
    static native String outcome(int outcome);

    /** @return all classes that are loaded, hidden ones too */
    static native Class<?>[] loadedClasses();

    /** @return the kind of code at that address of the JVM, and how far it is from its beginning */
    static native String blob(long pc);

    /** @return the instruction there: see {@link Place} */
    static native String instruction(Class<?> declaring, String method, String descriptor, int bci);
}

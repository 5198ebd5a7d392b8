// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.bench.accuracy;

/**
 * The stacks of one thread as the native library gets them, with byte code indexes. In a JVM that has loaded
 * {@link com.incapsula.sampler.bench.ObservedLibrary} and runs a sampler.
 */
final class ObservedStacks {

    /** In place of a frame: some are left out of a very deep stack. */
    static final int GAP = -1;

    private ObservedStacks() {}

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
     * @return of each stack: its outcome, the number of its frames, and as many numbers of places, leaf first
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

    /** @return the instruction there: see {@link Place} */
    static native String instruction(Class<?> declaring, String method, String descriptor, int bci);
}

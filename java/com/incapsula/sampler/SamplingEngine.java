// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

/** How stacks are walked. */
public enum SamplingEngine {

    /**
     * Threads that run are interrupted by a signal and walk themselves, so that the line they are at is told; threads
     * that wait are walked from outside. Where this JVM does not let it be done, as {@link #JVMTI}.
     */
    AUTO,

    /**
     * All threads are walked by JVMTI. Threads that run are walked where they stop for it, which is not always where
     * their time goes.
     */
    JVMTI
}

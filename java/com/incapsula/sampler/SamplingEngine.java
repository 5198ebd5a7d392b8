// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

/**
 * How stacks are walked.
 *
 * @since 1.0
 */
public enum SamplingEngine {

    /**
     * A signal interrupts a thread that runs, and the thread walks its own stack, so the report has the line it was
     * at; threads that wait are walked from outside. As {@link #JVMTI} in a JVM that does not allow this.
     */
    AUTO,

    /**
     * JVMTI walks all threads. A thread that runs is walked where it stops for that, which is not always where its time
     * goes.
     */
    JVMTI
}

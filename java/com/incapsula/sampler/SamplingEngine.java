// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

/**
 * How stacks are walked.
 *
 * @since 1.0
 */
public enum SamplingEngine {

    /**
     * A signal interrupts a running thread, and the handler walks its stack, so the report has the exact line. Waiting
     * threads are walked from outside. In a JVM that does not allow this, as {@link #JVMTI}.
     */
    AUTO,

    /**
     * JVMTI walks all threads. It walks a running thread at its next safepoint, which is not always where the thread
     * spends its time.
     */
    JVMTI
}

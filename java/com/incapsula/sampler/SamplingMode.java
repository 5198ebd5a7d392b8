// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

/**
 * How the stacks of running threads are walked.
 *
 * @since 1.0
 */
public enum SamplingMode {

    /** Threads that run walk their own stacks, by the sampler's own walk; other threads are read from outside. */
    OWN,

    /** Threads that run walk their own stacks by the JVM's {@code AsyncGetCallTrace}. */
    ASYNC_GET_CALL_TRACE,

    /** Handshakes of JVMTI walk all stacks, at the next safepoint. */
    JVMTI,

    /** Nothing is sampled. */
    INERT
}

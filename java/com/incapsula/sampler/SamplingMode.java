// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

/**
 * How the stacks of running threads are walked.
 *
 * @since 1.0
 */
public enum SamplingMode {

    /** The sampler's own walker: running threads are walked by a signal handler, other threads from outside. */
    OWN,

    /** Running threads are walked by a signal handler that calls the JVM's {@code AsyncGetCallTrace}, others by JVMTI. */
    ASYNC_GET_CALL_TRACE,

    /** JVMTI walks all threads by handshakes, at their next safepoint. */
    JVMTI,

    /** Nothing is sampled. */
    INERT
}

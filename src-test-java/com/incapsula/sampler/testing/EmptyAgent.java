// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.testing;

/** An agent that does nothing. */
public final class EmptyAgent {

    private EmptyAgent() {}

    /** Called by the JVM. */
    public static void premain(String options) {}
}

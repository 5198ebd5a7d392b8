// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.testing;

/** The agent that does least. */
public final class EmptyAgent {

    private EmptyAgent() {}

    /** The JVM calls this. */
    public static void premain(String options) {}
}

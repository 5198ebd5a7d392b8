// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.testing;

import static com.incapsula.sampler.testing.Samplers.awaitTicks;
import static com.incapsula.sampler.testing.Samplers.quick;

import com.incapsula.sampler.ThreadsSampler;
import java.io.IOException;

/** Starts and ends the first sampler of a JVM on a virtual thread, and prints the engine. */
public final class VirtualStartProgram {

    private VirtualStartProgram() {}

    /** Runs the program. */
    public static void main(String... arguments) throws InterruptedException {
        Virtual.start("starter", VirtualStartProgram::sample).join();
    }

    private static void sample() {
        try (ThreadsSampler sampler = quick(new Recorder())) {
            sampler.init();
            awaitTicks(sampler, 3);
            System.out.println("engine " + sampler.getStatistics().getEngine());
            System.out.println("fine");
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }
}

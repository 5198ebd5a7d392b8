// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.testing;

import com.incapsula.sampler.ThreadsSampler;
import com.incapsula.sampler.outputer.PrintStreamSamplingOutputer;

/** Samples a busy thread and an idle one until its input ends, then prints the report on standard output. */
public final class StoppedProgram {

    private StoppedProgram() {}

    /** Runs the program. */
    public static void main(String[] arguments) throws Exception {
        ThreadsSampler sampler = Samplers.quick(new PrintStreamSamplingOutputer());
        try (Worker busy = Worker.busy("busy");
                Worker idle = Worker.waiting("idle").awaitWaiting()) {
            sampler.init();
            Samplers.awaitTicks(sampler, 3);
            System.out.println("ready");
            while (System.in.read() >= 0) {
                continue;
            }
            sampler.close();
        }
    }
}

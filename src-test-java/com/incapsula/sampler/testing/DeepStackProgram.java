// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.testing;

import com.incapsula.sampler.ThreadsSampler;
import com.incapsula.sampler.manipulate.RegexThreadNameManipulator;
import com.incapsula.sampler.outputer.PrintStreamSamplingOutputer;
import java.io.OutputStream;
import java.io.PrintStream;

/**
 * Compares the possible depth of recursion in an outputer and in a manipulator with that of an ordinary thread. Needs
 * -Xint.
 */
public final class DeepStackProgram {

    private static final double ALMOST = 0.9;

    private static volatile int outputerDepth;
    private static volatile int manipulatorDepth;

    private DeepStackProgram() {}

    /** Runs the program. */
    public static void main(String[] arguments) throws Exception {
        int[] ordinary = new int[1];
        Thread thread = new Thread(() -> ordinary[0] = depth());
        thread.start();
        thread.join();
        try (ThreadsSampler sampler = Samplers.quick(new Outputer())) {
            sampler.setThreadNameManipulator(new RegexThreadNameManipulator() {
                @Override
                public String getManipulatedThreadName(Thread named) {
                    if (manipulatorDepth == 0) {
                        manipulatorDepth = depth();
                    }
                    return super.getManipulatedThreadName(named);
                }
            });
            sampler.init();
            Samplers.awaitTicks(sampler, 3);
        }
        System.out.println("outputer: " + compare(outputerDepth, ordinary[0]));
        System.out.println("manipulator: " + compare(manipulatorDepth, ordinary[0]));
    }

    private static String compare(int depth, int ordinary) {
        return depth >= ALMOST * ordinary ? "as deep" : depth + " frames, an ordinary thread has " + ordinary;
    }

    private static int depth() {
        int[] depth = new int[1];
        try {
            recurse(depth);
        } catch (StackOverflowError end) {
            // the depth of the overflow is the result
        }
        return depth[0];
    }

    private static void recurse(int[] depth) {
        depth[0]++;
        recurse(depth);
    }

    private static final class Outputer extends PrintStreamSamplingOutputer {

        Outputer() {
            super(new PrintStream(OutputStream.nullOutputStream()));
        }

        @Override
        public void printIntervalTitle(String title) {
            outputerDepth = depth();
        }
    }
}

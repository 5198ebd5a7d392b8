// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.testing;

import com.incapsula.sampler.ThreadsSampler;
import counted.Work;

/**
 * Samples twice with the root methods of its argument, if there is one, and prints whether the JVM has the hook class.
 */
public final class CountingProgram {

    private CountingProgram() {}

    public static void main(String[] args) throws Exception {
        for (int i = 0; i < 2; i++) {
            try (ThreadsSampler sampler = new ThreadsSampler()) {
                sampler.setReportFrequencySeconds(0);
                if (args.length > 0) {
                    sampler.setRootMethods(args[0]);
                }
                sampler.init();
                Work.root(3);
                sampler.printReport();
                System.out.println("hook class: " + hasHookClass());
            }
        }
    }

    private static boolean hasHookClass() {
        try {
            Class.forName("java.lang.ThreadsSamplerHook", false, null);
            return true;
        } catch (ClassNotFoundException e) {
            return false;
        }
    }
}

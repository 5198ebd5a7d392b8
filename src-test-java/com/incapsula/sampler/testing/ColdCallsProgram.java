// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.testing;

import com.incapsula.sampler.SamplingCursor;
import com.incapsula.sampler.SamplingReport;
import com.incapsula.sampler.ThreadsSampler;
import com.incapsula.sampler.manipulate.RegexThreadNameManipulator;
import com.incapsula.sampler.outputer.PrintStreamSamplingOutputer;
import java.util.List;

/**
 * Makes each call of an ordinary program once, in a new JVM. The program itself has no lambda and joins no strings.
 * Argument: the file of the report.
 */
public final class ColdCallsProgram {

    private ColdCallsProgram() {}

    /** Runs the program. */
    public static void main(String[] arguments) throws Exception {
        ThreadsSampler sampler = new ThreadsSampler();
        sampler.setSamplingFrequencyMillis(5);
        sampler.setReportFrequencySeconds(600);
        sampler.setMonitoredPackages("com.incapsula, java");
        sampler.setThreadToBeSampled(Thread.currentThread());
        sampler.setSampleTheseThreadsOnly(List.of(Thread.currentThread()));
        sampler.setThreadNameManipulator(new RegexThreadNameManipulator());
        sampler.setSamplingOutputer(new PrintStreamSamplingOutputer(arguments[0]));
        sampler.init();
        while (sampler.getStatistics().getPolls() < 3) {
            Thread.sleep(1);
        }
        System.out.println(sampler.getStatistics());
        System.out.println(sampler.isRunning());
        System.out.println(sampler.isPaused());
        sampler.printReport();
        System.out.println(sampler.dump());
        sampler.pauseSampling();
        sampler.resumeSampling();
        try (SamplingCursor cursor = sampler.openCursor();
                SamplingReport first = cursor.next();
                SamplingReport all = sampler.snapshot()) {
            System.out.println(all.getPolls() - first.getPolls());
        }
        sampler.close();
        System.out.println("fine");
    }
}

// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.testing;

import com.incapsula.sampler.ThreadsSampler;
import com.incapsula.sampler.outputer.LoggerSamplingOutputer;
import java.io.IOException;

/**
 * Logs two reports by SLF4J and ends. The logger is initialised by the first report, which is the deepest Java code
 * that the report thread runs. For platforms on which larger tests cannot run.
 */
public final class LoggingProgram {

    private LoggingProgram() {}

    /** Runs the program. */
    public static void main(String[] arguments) throws IOException {
        try (ThreadsSampler sampler = new ThreadsSampler()) {
            sampler.setRequired(true);
            sampler.setReportFrequencySeconds(0);
            sampler.setSamplingOutputer(new LoggerSamplingOutputer());
            sampler.init();
            for (int i = 0; i < 2; i++) {
                awaitPolls(sampler);
                sampler.printReport();
            }
            if (sampler.getStatistics().getReportsWritten() != 2) {
                throw new IllegalStateException(sampler.getStatistics().toString());
            }
        }
        System.out.println("logging: fine");
    }

    /* Waits for a further poll. */
    private static void awaitPolls(ThreadsSampler sampler) {
        long before = sampler.getStatistics().getPolls();
        while (sampler.getStatistics().getPolls() == before) {
            Thread.onSpinWait();
        }
    }
}

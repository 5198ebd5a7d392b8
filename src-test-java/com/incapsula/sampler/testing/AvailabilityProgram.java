// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.testing;

import com.incapsula.sampler.ThreadsSampler;
import com.incapsula.sampler.outputer.LoggerSamplingOutputer;
import com.incapsula.sampler.outputer.SamplingOutputer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Collectors;

/** Prints whether sampling is possible, and which files of the library are mapped. Samples if that is possible. */
public final class AvailabilityProgram {

    private AvailabilityProgram() {}

    /** Runs the program; with an argument, reports go to the logger. */
    public static void main(String[] arguments) throws Exception {
        System.out.println("available: " + ThreadsSampler.isAvailable());
        Throwable cause = ThreadsSampler.unavailabilityCause();
        if (cause == null) {
            System.out.println("polls: " + (sample(arguments.length > 0) > 0 ? "some" : "none"));
        } else {
            System.out.println("cause: " + cause.getMessage());
            refused();
        }
    }

    private static long sample(boolean toLogger) throws Exception {
        ThreadsSampler sampler = new ThreadsSampler();
        sampler.setSamplingFrequencyMillis(5);
        sampler.setReportFrequencySeconds(0);
        sampler.setSamplingOutputer(toLogger ? new LoggerSamplingOutputer() : new Silent());
        sampler.init();
        System.out.println("mapped: " + mappedFiles());
        while (sampler.getStatistics().getPolls() == 0) {
            Thread.sleep(5);
        }
        sampler.close();
        return sampler.getStatistics().getPolls();
    }

    /* Mapped files of the library. */
    private static String mappedFiles() throws IOException {
        return Files.readAllLines(Path.of("/proc/self/maps")).stream()
                .filter(line -> line.matches(".*/lib(threads-sampler|mine)[^/]*\\.so"))
                .map(line -> line.substring(line.indexOf('/')))
                .distinct()
                .sorted()
                .collect(Collectors.joining(" "));
    }

    private static void refused() {
        try {
            ThreadsSampler sampler = new ThreadsSampler();
            sampler.setRequired(true);
            sampler.init();
            System.out.println("init: done");
        } catch (UnsupportedOperationException e) {
            System.out.println("init: " + e.getMessage());
        }
    }

    private static final class Silent implements SamplingOutputer {

        @Override
        public void printIntervalTitle(String title) {}

        @Override
        public void printThreadRecord(String threadTitle, String record) {}

        @Override
        public void printError(String message, Throwable cause) {
            System.out.println("error: " + message + " " + cause);
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
    }
}

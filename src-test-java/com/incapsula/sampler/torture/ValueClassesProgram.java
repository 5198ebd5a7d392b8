// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.torture;

import static com.incapsula.sampler.testing.Samplers.quick;
import static org.assertj.core.api.Assertions.assertThat;

import com.incapsula.sampler.ReportFormat;
import com.incapsula.sampler.SamplingReport;
import com.incapsula.sampler.ThreadsSampler;
import com.incapsula.sampler.testing.Recorder;
import java.lang.reflect.Method;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/**
 * Samples {@code value.Classes} every millisecond, and prints which part of its time stands under a method of it.
 * Arguments: the folder of its classes, milliseconds.
 */
final class ValueClassesProgram {

    private ValueClassesProgram() {}

    public static void main(String[] arguments) throws Exception {
        Recorder recorder = new Recorder();
        ThreadsSampler sampler = quick(recorder);
        sampler.setSamplingFrequencyMillis(1);
        sampler.setOverheadLimitPercent(100);
        try (URLClassLoader loader =
                new URLClassLoader(new URL[] {Path.of(arguments[0]).toUri().toURL()})) {
            Method run = loader.loadClass("value.Classes").getMethod("run");
            sampler.init();
            long until = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(Long.parseLong(arguments[1]));
            while (System.nanoTime() < until) {
                run.invoke(null);
            }
            tell(sampler);
        }
        sampler.close();
        Torture.check(sampler.getStatistics(), recorder);
        System.out.println("fine");
    }

    private static void tell(ThreadsSampler sampler) throws Exception {
        long all = 0;
        long inMethods = 0;
        long inValueClass = 0;
        try (SamplingReport report = sampler.snapshot()) {
            for (String line : report.toString(ReportFormat.COLLAPSED).lines().toList()) {
                int end = line.lastIndexOf(' ');
                long nanos = Long.parseLong(line.substring(end + 1));
                if (line.startsWith("main;")) {
                    String leaf = line.substring(line.lastIndexOf(';', end) + 1, end);
                    all += nanos;
                    inMethods += leaf.startsWith("value.Classes") ? nanos : 0;
                    inValueClass += leaf.startsWith("value.Classes$") ? nanos : 0;
                }
            }
        }
        System.out.printf(
                "engine %s, main %d ms, %.1f %% in methods, %.1f %% in those of value classes%n%s%n",
                sampler.getStatistics().getEngine(),
                TimeUnit.NANOSECONDS.toMillis(all),
                100.0 * inMethods / all,
                100.0 * inValueClass / all,
                sampler.getStatistics());
        assertThat(sampler.getStatistics().getEngine()).isEqualTo("HYBRID"); // by our own walk alone
        assertThat(inMethods).isPositive();
        assertThat(inValueClass).isPositive();
    }
}

// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.torture;

import static com.incapsula.sampler.testing.Samplers.quick;
import static org.assertj.core.api.Assertions.assertThat;

import com.incapsula.sampler.SamplingReport;
import com.incapsula.sampler.ThreadsSampler;
import com.incapsula.sampler.testing.CollapsedStacks;
import com.incapsula.sampler.testing.Recorder;
import java.lang.reflect.Method;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/**
 * Samples {@code value.Classes} every millisecond, and prints the share of its time that is below one of its methods.
 * Arguments: the folder of its classes, milliseconds.
 */
final class ValueClassesProgram {

    /** Nanoseconds of the working thread. */
    private static final class Seen {

        private long all;
        private long inMethods;
        private long inValueClass;

        void add(SamplingReport report) {
            CollapsedStacks.of(report).forEach((stack, nanos) -> {
                if (stack.startsWith("main;")) {
                    add(stack.substring(stack.lastIndexOf(';') + 1), nanos);
                }
            });
        }

        private void add(String leaf, long nanos) {
            all += nanos;
            inMethods += leaf.startsWith("value.Classes") ? nanos : 0;
            inValueClass += leaf.startsWith("value.Classes$") ? nanos : 0;
        }
    }

    private ValueClassesProgram() {}

    public static void main(String[] arguments) throws Exception {
        Recorder recorder = new Recorder();
        ThreadsSampler sampler = quick(recorder);
        sampler.setSamplingFrequencyMillis(1);
        sampler.setOverheadLimitPercent(100);
        try (URLClassLoader loader =
                new URLClassLoader(new URL[] {Path.of(arguments[0]).toUri().toURL()})) {
            Method run = loader.loadClass("value.Classes").getMethod("run");
            Seen seen = new Seen();
            sampler.init();
            do { // repeated if this thread has had hardly any CPU; the parent ends the JVM if this takes for ever
                run(run, TimeUnit.MILLISECONDS.toNanos(Long.parseLong(arguments[1])));
                tell(sampler, seen);
            } while (seen.inValueClass == 0);
        }
        sampler.close();
        Torture.check(sampler.getStatistics(), recorder);
        System.out.println("fine");
    }

    private static void run(Method run, long nanos) throws ReflectiveOperationException {
        long start = System.nanoTime();
        while (System.nanoTime() - start < nanos) {
            run.invoke(null);
        }
    }

    private static void tell(ThreadsSampler sampler, Seen seen) {
        try (SamplingReport report = sampler.snapshot()) {
            seen.add(report);
        }
        System.out.printf(
                "engine %s, main %d ms, %.1f %% in methods, %.1f %% in those of value classes%n%s%n",
                sampler.getStatistics().getEngine(),
                TimeUnit.NANOSECONDS.toMillis(seen.all),
                100.0 * seen.inMethods / seen.all,
                100.0 * seen.inValueClass / seen.all,
                sampler.getStatistics());
        assertThat(sampler.getStatistics().getEngine()).isEqualTo("HYBRID"); // the sampler's own walker
    }
}

// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.testing;

import static com.incapsula.sampler.testing.Samplers.patiently;
import static com.incapsula.sampler.testing.Samplers.quick;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.incapsula.sampler.Instrumentation;
import com.incapsula.sampler.ThreadsSampler;
import counted.Swapped;
import java.io.IOException;
import java.util.Map;
import java.util.TreeMap;

/**
 * Redefines {@link Swapped} before it is counted, while it is counted, and before a batch changes it once more. In each
 * case the latest version runs.
 */
public final class SwappedCallsProgram {

    private static final String[] METHODS = {"root", "first", "second", "third", "fourth", "fifth", "sixth", "last"};
    private static final int ALL = METHODS.length - 1;
    private static final int TIMES = 50;

    private static int version = Swapped.VERSION;

    private SwappedCallsProgram() {}

    /** Runs the program with the instrumentation that the argument names. */
    public static void main(String[] arguments) throws Exception {
        Instrumentation how = Instrumentation.valueOf(arguments[0]);
        assertVersion();
        count(how);
        swap(); // counting is off, but the JVM has kept the bytes from before the redefinition
        assertVersion();
        count(how);
        RedefiningAgent.retransform(Swapped.class);
        assertVersion();
        System.out.println("fine");
    }

    private static void count(Instrumentation how) throws Exception {
        try (ThreadsSampler sampler = quick(new Recorder())) {
            sampler.setOverheadLimitPercent(100); // no method loses its probes
            sampler.setRootMethods("counted.Swapped.root");
            sampler.setInstrumentationFilter("counted.Swapped");
            sampler.setInstrumentation(how);
            sampler.init();
            assertCounted(sampler, 0);
            swap();
            assertVersion();
            assertCounted(sampler, 1); // in the first batch after the redefinition
            RedefiningAgent.retransform(Swapped.class); // agents that change other classes may do this
            assertVersion();
            assertCounted(sampler, 2);
            assertRefused();
            assertVersion();
            assertCounted(sampler, 3);
            swap();
            swap(); // the batch of the methods that were just found may be running
            assertCounted(sampler, ALL);
        }
        assertVersion();
    }

    private static void swap() throws Exception {
        RedefiningAgent.redefine(Swapped.class, Swapped.VERSION, ++version);
    }

    /* The JVM calls the agents' transformers before it refuses. */
    private static void assertRefused() {
        assertThatThrownBy(() -> RedefiningAgent.redefineWithField(Swapped.class, Swapped.VERSION, version + 1))
                .isInstanceOf(UnsupportedOperationException.class);
    }

    private static void assertVersion() {
        assertThat(Swapped.root(ALL)).isEqualTo(version);
    }

    /* Repeats calls until all methods down to this depth have their probes. */
    private static void assertCounted(ThreadsSampler sampler, int depth) throws IOException {
        Map<String, Long> expected = new TreeMap<>();
        StringBuilder path = new StringBuilder();
        for (int i = 0; i <= depth; i++) {
            path.append(i > 0 ? "|" : "").append("Swapped.").append(METHODS[i]);
            expected.put(path.toString(), (long) TIMES);
        }
        patiently().untilAsserted(() -> {
            CallCounts.take(sampler);
            for (int i = 0; i < TIMES; i++) {
                assertThat(Swapped.root(depth)).isEqualTo(version);
            }
            assertThat(CallCounts.take(sampler)).isEqualTo(expected);
        });
    }
}

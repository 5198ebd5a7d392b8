// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.testing;

import static com.incapsula.sampler.testing.Samplers.quick;
import static org.assertj.core.api.Assertions.assertThat;

import com.incapsula.sampler.Instrumentation;
import com.incapsula.sampler.ThreadsSampler;
import counted.Numbers;
import java.lang.reflect.Method;
import java.util.Map;

/** Counts the calls of a class again and again, and checks how many constants the JVM has for the class. */
public final class CountingCyclesProgram {

    private static final int CYCLES = 7;
    private static final int TIMES = 1000;
    /* The constants of NaN: a float takes one entry of the pool, a double two. */
    private static final int GROWTH_OF_A_CHANGE = 3;
    /* The constants of probes, which are added once. */
    private static final int MOST_OF_PROBES = 40;
    private static final Map<String, Long> CALLS =
            Map.of("Numbers.root", 1L, "Numbers.root|Numbers.single", (long) TIMES, "Numbers.root|Numbers.twice", (long)
                    TIMES);

    private CountingCyclesProgram() {}

    public static void main(String[] args) throws Exception {
        Numbers.root(1);
        int before = constants();
        for (int i = 0; i < CYCLES; i++) {
            count();
        }
        int grown = constants() - before;
        System.out.println("constants: " + before + ", and " + grown + " more");
        assertThat(grown).isLessThanOrEqualTo(2 * CYCLES * GROWTH_OF_A_CHANGE + MOST_OF_PROBES);
        System.out.println("fine");
    }

    /* One change of the class inserts all probes, another one removes them. */
    private static void count() throws Exception {
        try (ThreadsSampler sampler = quick(new Recorder())) {
            sampler.setOverheadLimitPercent(100); // no method loses its probes
            sampler.setRootMethods("counted.Numbers.root");
            sampler.setInstrumentation(Instrumentation.EAGER);
            sampler.init();
            Numbers.root(TIMES);
            assertThat(CallCounts.take(sampler)).isEqualTo(CALLS);
        }
    }

    private static int constants() throws ReflectiveOperationException {
        Method pool = Class.class.getDeclaredMethod("getConstantPool");
        pool.setAccessible(true);
        Object constants = pool.invoke(Numbers.class);
        Method size = constants.getClass().getDeclaredMethod("getSize");
        size.setAccessible(true);
        return (int) size.invoke(constants);
    }
}

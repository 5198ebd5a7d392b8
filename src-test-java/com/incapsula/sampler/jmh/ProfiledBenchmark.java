// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.jmh;

import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;

/** The benchmark that {@link SamplerProfilerIT} profiles. Its results do not matter. */
@State(Scope.Benchmark)
public class ProfiledBenchmark {

    @Param("17")
    public int seed;

    private int value;

    @Benchmark
    public int spin() {
        for (int i = 0; i < 100_000; i++) {
            value = value * 31 + seed + i;
        }
        return value;
    }
}

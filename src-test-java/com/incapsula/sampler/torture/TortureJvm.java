// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.torture;

import com.incapsula.sampler.testing.ChildJvm;
import java.time.Duration;
import java.util.List;

/** A JVM in which {@link Torture} runs: for a moment, or with {@code -Dsampler.test.long=true} for a minute or more. */
final class TortureJvm {

    /** For {@code @MethodSource}. */
    static final String MOST_COLLECTORS = "com.incapsula.sampler.torture.TortureJvm#mostCollectors";

    static final boolean LONG = Boolean.getBoolean("sampler.test.long");
    static final String MILLIS = LONG ? "60000" : "750";
    /* Where code is compiled and thrown away all the time, a thread runs slower, and the sampler takes fewer stacks. */
    static final String MORE_MILLIS = LONG ? "60000" : "2000";
    static final String TEN_MINUTES = LONG ? "600000" : MILLIS;

    static final Duration PATIENCE = Duration.ofMinutes(LONG ? 30 : 2);

    private TortureJvm() {}

    /** @return one as servers run: with both compilers; flags that follow win */
    static ChildJvm with(String... flags) {
        return ChildJvm.of(Torture.class)
                .withTestLibraries()
                .longer(PATIENCE)
                .option("-XX:TieredStopAtLevel=4")
                .option(flags);
    }

    static ChildJvm withCollector(String collector) throws Exception {
        return with().collector(collector);
    }

    /** @return these by day, and all in the long form */
    static List<String> collectors(String... byDay) {
        return LONG ? List.of("Serial", "Parallel", "G1", "Z", "Shenandoah") : List.of(byDay);
    }

    static List<String> mostCollectors() {
        return collectors("Serial", "Parallel", "G1", "Z");
    }

    /** @param amount milliseconds, or how many times */
    static void survives(ChildJvm jvm, String storm, String amount) throws Exception {
        jvm.run(storm, amount).assertSaysFine();
    }
}

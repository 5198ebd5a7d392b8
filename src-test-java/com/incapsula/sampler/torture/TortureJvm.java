// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.torture;

import com.incapsula.sampler.testing.ChildJvm;
import java.time.Duration;
import java.util.List;

/** A JVM that runs {@link Torture}: for a moment, or with {@code -Dsampler.test.long=true} for a minute or more. */
final class TortureJvm {

    /** For {@code @MethodSource}. */
    static final String MOST_COLLECTORS = "com.incapsula.sampler.torture.TortureJvm#mostCollectors";

    static final boolean LONG = Boolean.getBoolean("sampler.test.long");
    static final String MILLIS = LONG ? "60000" : "750";
    /* While code is compiled and freed all the time, threads run slower, and the sampler takes fewer stacks. */
    static final String MORE_MILLIS = LONG ? "60000" : "2000";
    static final String TEN_MINUTES = LONG ? "600000" : MILLIS;

    static final Duration PATIENCE = Duration.ofMinutes(LONG ? 30 : 2);

    private TortureJvm() {}

    /** @return a JVM configured like a server, with both compilers; later flags take precedence */
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

    /** @return these collectors, or all of them in the long form */
    static List<String> collectors(String... byDay) {
        return LONG ? List.of("Serial", "Parallel", "G1", "Z", "Shenandoah") : List.of(byDay);
    }

    static List<String> mostCollectors() {
        return collectors("Serial", "Parallel", "G1", "Z");
    }

    /** @param amount milliseconds, or the number of cycles */
    static void survives(ChildJvm jvm, String storm, String amount) throws Exception {
        jvm.run(storm, amount).assertSaysFine();
    }
}

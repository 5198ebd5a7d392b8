// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.torture;

import com.incapsula.sampler.testing.ChildJvm;
import com.incapsula.sampler.testing.NativeTests;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.EnabledOnJre;
import org.junit.jupiter.api.condition.JRE;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Who holds a lock is read from outside while threads contend for it: no read names another thread, or another class of
 * lock, than the program itself says. All tests together read 10^5 owners, and 10^7 in the long form.
 */
class OwnersTortureIT {

    private static final String READS = TortureJvm.LONG ? "1000000" : "10000";

    private static void survives(ChildJvm jvm, String... more) throws Exception {
        String library = NativeTests.path("libowner_reads.so").toString();
        if (more.length == 0) {
            jvm.run(library, READS).assertSaysFine();
        } else {
            jvm.run(library, READS, more[0]).assertSaysFine();
        }
    }

    private static ChildJvm with(String... flags) {
        return ChildJvm.of(OwnersProgram.class)
                .longer(TortureJvm.PATIENCE)
                .option("-XX:TieredStopAtLevel=4")
                .option(flags);
    }

    @ParameterizedTest
    @MethodSource(TortureJvm.MOST_COLLECTORS)
    void collectorsMoveObjects(String collector) throws Exception {
        survives(with().collector(collector));
    }

    @Test
    @EnabledOnJre(JRE.JAVA_17)
    void eachLockIsAMonitor() throws Exception {
        survives(with("-XX:+UseHeavyMonitors"));
    }

    /* Monitors, on stacks, on lock stacks. */
    @ParameterizedTest
    @ValueSource(strings = {"0", "1", "2"})
    @EnabledForJreRange(minVersion = 25, maxVersion = 25)
    void waysToLock(String mode) throws Exception {
        survives(with("-XX:LockingMode=" + mode));
    }

    @ParameterizedTest
    @ValueSource(strings = {"G1", "Z"})
    @EnabledForJreRange(minVersion = 25)
    void compactHeaders(String collector) throws Exception {
        survives(with("-XX:+UseCompactObjectHeaders").collector(collector));
    }

    @ParameterizedTest
    @ValueSource(strings = {"G1", "Z"})
    @EnabledForJreRange(minVersion = 25)
    void holdersThatAreVirtualThreads(String collector) throws Exception {
        survives(with().collector(collector), "virtual");
    }
}

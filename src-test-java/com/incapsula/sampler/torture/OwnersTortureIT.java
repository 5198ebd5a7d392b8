// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.torture;

import static org.assertj.core.api.Assertions.assertThat;

import com.incapsula.sampler.testing.ChildJvm;
import com.incapsula.sampler.testing.NativeTests;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.EnabledOnJre;
import org.junit.jupiter.api.condition.JRE;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The owner of a lock is read from outside while threads contend for the lock: no read names another thread or another
 * class of lock than the program does. All tests together read 10^5 owners, or 10^7 in the long form.
 */
class OwnersTortureIT {

    private static final String READS = TortureJvm.LONG ? "2000000" : "10000";
    private static final int READS_WITHOUT_STOPS = 100_000;

    /** The limit of the JVM's own stops, as it compiles, deoptimises and sweeps. */
    private static final int OTHER_STOPS = 100;

    @TempDir
    Path folder;

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

    /* The locking modes: monitors, stack locks, lock stacks. */
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

    /** Counts stops in the log, both of all threads and of single ones. */
    private long stops(String name, int reads) throws Exception {
        Path log = folder.resolve(name + ".log");
        with().option("-XX:+UnlockDiagnosticVMOptions", "-XX:GuaranteedSafepointInterval=0")
                .option("-Xlog:safepoint*=debug,handshake*=debug:file=" + log)
                .run(NativeTests.path("libowner_reads.so").toString(), String.valueOf(reads), "still")
                .assertSaysFine();
        return Files.readAllLines(log).stream()
                .filter(line -> line.contains("Safepoint \"") || line.contains("Handshake \""))
                .count();
    }

    @Test
    void readsStopNoThread() throws Exception {
        long without = stops("without", 0);
        assertThat(stops("with", READS_WITHOUT_STOPS)).isLessThanOrEqualTo(without + OTHER_STOPS);
    }
}

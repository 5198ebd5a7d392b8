// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import static org.assertj.core.api.Assertions.assertThat;

import com.incapsula.sampler.testing.ChildJvm;
import com.incapsula.sampler.testing.FallbackProgram;
import com.incapsula.sampler.testing.Preload;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.io.TempDir;

/** The fallbacks if the sampler's own walks cannot be used, or no longer, and the engine's text for them. */
class FallbackIT {

    private static final String OTHER_WAYS =
            "engine: HYBRID (waiting threads by JVMTI, running ones by AsyncGetCallTrace: ";
    private static final String FORBIDDEN = "a filter of system calls forbids process_vm_readv)\n";

    @TempDir
    Path folder;

    private ChildJvm filtered(String... options) throws Exception {
        return preloaded("container_filter.c", options);
    }

    private ChildJvm preloaded(String filter, String... options) throws Exception {
        return ChildJvm.of(FallbackProgram.class)
                .withTestLibraries()
                .option(options)
                .environment("LD_PRELOAD", Preload.compile(filter, folder).toString());
    }

    private String runWithReadsThatFailLater(String... options) throws Exception {
        String file = folder.resolve("reads-fail").toString();
        return ChildJvm.of(FallbackProgram.class)
                .withTestLibraries()
                .option(options)
                .environment(
                        "LD_PRELOAD", Preload.compile("failing_reads.c", folder).toString())
                .environment("FAILING_READS", file)
                .run(file)
                .assertSaysFine();
    }

    @Test
    void aFilterOfSystemCallsLeavesTheJvmsOwnWays() throws Exception {
        assertThat(filtered().run().assertSaysFine()).contains(OTHER_WAYS + FORBIDDEN);
    }

    /* This filter kills a process that makes the forbidden call. */
    @Test
    void aFilterThatForbidsSignalsLeavesHandshakes() throws Exception {
        assertThat(preloaded("killing_filter.c").run().assertSaysFine())
                .contains("async walk refused: a filter of system calls forbids rt_tgsigqueueinfo");
    }

    @Test
    void aFilterThatForbidsTimersLeavesTheCpuClockWithoutThem() throws Exception {
        assertThat(preloaded("killing_filter.c", "-Dclock=CPU")
                        .environment("KILLING_FILTER", "timers")
                        .run()
                        .assertSaysFine())
                .contains("engine: ");
    }

    /* The JVM's own record differs from what is read from memory, as with an unknown layout. */
    @Test
    void oneDifferenceWhileItRunsLeavesTheJvmsOwnWays() throws Exception {
        assertThat(runWithReadsThatFailLater())
                .contains("first engine: HYBRID\n")
                .containsPattern("(?m)^\\Q" + OTHER_WAYS + "\\E[a-z].+\\)$");
    }

    /* With value classes AsyncGetCallTrace must not be called. */
    @Test
    @EnabledForJreRange(minVersion = 28)
    void withValueClassesHandshakesAreLeft() throws Exception {
        assertThat(filtered("--enable-preview").run().assertSaysFine())
                .contains("engine: JVMTI (async walk refused: AsyncGetCallTrace crashes JVMs with value classes;"
                        + " the sampler's own walk: " + FORBIDDEN);
        assertThat(runWithReadsThatFailLater("--enable-preview"))
                .contains("first engine: HYBRID\n")
                .containsPattern("(?m)^engine: JVMTI \\(async walk refused: [a-z].+\\)$");
    }
}

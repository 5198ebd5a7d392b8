// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import static org.assertj.core.api.Assertions.assertThat;

import com.incapsula.sampler.testing.ChildJvm;
import com.incapsula.sampler.testing.RedefiningAgent;
import com.incapsula.sampler.testing.SwappedCallsProgram;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Counting does not restore code that HotSwap has replaced, which JDKs before 20 have kept (JDK-7124710). */
class SwappedCallsIT {

    @TempDir
    Path folder;

    @ParameterizedTest
    @EnumSource(Instrumentation.class)
    void theLastVersionRuns(Instrumentation how) throws Exception {
        Path jar = folder.resolve("agent.jar");
        RedefiningAgent.writeJar(jar);
        String output = ChildJvm.of(SwappedCallsProgram.class)
                .withTestLibraries()
                .option("-javaagent:" + jar)
                .run(how.name())
                .assertFine()
                .output();
        assertThat(output).contains("fine\n");
    }
}

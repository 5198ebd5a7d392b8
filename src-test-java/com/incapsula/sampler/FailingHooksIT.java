// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import static org.assertj.core.api.Assertions.assertThat;

import com.incapsula.sampler.testing.ChildJvm;
import com.incapsula.sampler.testing.HookedCallsProgram;
import com.incapsula.sampler.testing.HookingAgent;
import com.incapsula.sampler.testing.Samplers;
import java.nio.file.Path;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.objectweb.asm.ClassVisitor;

/**
 * Another agent's hooks throw in counted methods, also before {@code super()}. Each call stays below the call that made
 * it.
 */
@Timeout(Samplers.HANG_SECONDS)
class FailingHooksIT {

    @TempDir
    Path folder;

    @ParameterizedTest
    @CsvSource({
        "LAZY, SAMPLED, OLDER", "LAZY, EXACT, YOUNGER", "EAGER, NONE, OLDER",
        "EAGER, SAMPLED, YOUNGER", "TOTAL, EXACT, OLDER", "TOTAL, NONE, YOUNGER",
    })
    void eachCallIsBelowTheOneThatMadeIt(Instrumentation instrumentation, MethodTiming timing, String hooks)
            throws Exception {
        Path jar = folder.resolve("agent.jar");
        HookingAgent.writeJar(jar);
        String output = ChildJvm.of(HookedCallsProgram.class)
                .withTestLibraries()
                .with(ClassVisitor.class)
                .option("-javaagent:" + jar)
                .run(instrumentation.name(), timing.name(), hooks)
                .assertFine()
                .output();
        assertThat(output).contains("all rounds are exact\n");
    }
}

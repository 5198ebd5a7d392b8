// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import static org.assertj.core.api.Assertions.assertThat;

import com.incapsula.sampler.testing.ChildJvm;
import com.incapsula.sampler.testing.RedefinedStacksProgram;
import com.incapsula.sampler.testing.RedefinedWork;
import com.incapsula.sampler.testing.RedefiningAgent;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Walks from outside are right while a class with methods on the stacks is redefined. */
class RedefinedStacksIT {

    @TempDir
    Path folder;

    @Test
    void otherIdsOfTheSameMethodsAreNoDifference() throws Exception {
        Path jar = folder.resolve("agent.jar");
        RedefiningAgent.writeJar(jar);
        String output = ChildJvm.of(RedefinedStacksProgram.class)
                .withTestLibraries()
                .option("-javaagent:" + jar)
                .run()
                .assertFine()
                .output();
        assertThat(output.lines()).contains("version " + RedefinedWork.NEXT, "different 0", "engine HYBRID");
    }
}

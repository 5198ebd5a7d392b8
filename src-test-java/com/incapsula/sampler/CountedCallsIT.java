// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import com.incapsula.sampler.testing.ChildJvm;
import com.incapsula.sampler.testing.NativeTests;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Probes in the methods of a running JVM: what is counted is what the programs (src-test-c/jvm/counted) call. */
class CountedCallsIT {

    private static final String LIBRARY = NativeTests.path("libcounted_calls.so").toString();
    private static final String CLASSES = NativeTests.path("counted-classes").toString();

    private static ChildJvm program(String name) {
        return ChildJvm.bare("counted." + name).option("-cp", CLASSES, "-Xverify:all");
    }

    @ParameterizedTest
    @CsvSource({"LAZY,COUNTS", "EAGER,COUNTS", "TOTAL,COUNTS", "LAZY,EXACT"})
    void eachCallIsCounted(String scheme, String timing) throws Exception {
        program("CountedProgram").likeAServer().run(LIBRARY, scheme, timing).assertSaysFine();
    }

    @Test
    void eachCallIsCountedInInterpretedCode() throws Exception {
        program("CountedProgram").option("-Xint").run(LIBRARY, "LAZY").assertSaysFine();
    }

    @Test
    void countingGoesOnAndOffBesideThreadsThatRunAndLoadClasses() throws Exception {
        program("LoadProgram").likeAServer().run(LIBRARY, "9").assertSaysFine();
    }

    @Test
    void theJvmEndsWhileCallsAreCounted() throws Exception {
        for (int i = 0; i < 2; i++) {
            program("LoadProgram").likeAServer().run(LIBRARY, "0").assertSaysFine();
        }
    }

    @Test
    void anotherAgentChangesTheSameClasses(@TempDir Path folder) throws Exception {
        Path agent = folder.resolve("agent.jar");
        writeAgent(agent);
        program("BesideProgram").likeAServer().option("-javaagent:" + agent).run(LIBRARY).assertSaysFine();
    }

    /* Its class is on the class path. */
    private static void writeAgent(Path file) throws Exception {
        Manifest manifest = new Manifest();
        Attributes attributes = manifest.getMainAttributes();
        attributes.put(Attributes.Name.MANIFEST_VERSION, "1.0");
        attributes.putValue("Premain-Class", "counted.OtherAgent");
        attributes.putValue("Can-Retransform-Classes", "true");
        try (OutputStream out = Files.newOutputStream(file)) {
            new JarOutputStream(out, manifest).close();
        }
    }
}

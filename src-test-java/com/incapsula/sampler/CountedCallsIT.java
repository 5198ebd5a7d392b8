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
import org.junit.jupiter.params.provider.ValueSource;

/** Probes in the methods of a running JVM count exactly the calls that the programs make (src-test-c/jvm/counted). */
class CountedCallsIT {

    private static final Path LIBRARY = NativeTests.path("libcounted_calls.so");
    private static final Path CLASSES = NativeTests.path("counted-classes");

    private static ChildJvm program(String name) {
        return ChildJvm.bare("counted." + name).option("-cp", CLASSES.toString(), "-Xverify:all");
    }

    private static void runToItsEnd(ChildJvm program, String... arguments) throws Exception {
        program.run(arguments).assertSaysFine();
    }

    @ParameterizedTest
    @CsvSource({"LAZY,COUNTS", "EAGER,COUNTS", "TOTAL,COUNTS", "LAZY,EXACT"})
    void eachCallIsCounted(String scheme, String timing) throws Exception {
        runToItsEnd(program("CountedProgram").likeAServer(), LIBRARY.toString(), scheme, timing);
    }

    @Test
    void eachCallIsCountedInInterpretedCode() throws Exception {
        runToItsEnd(program("CountedProgram").option("-Xint"), LIBRARY.toString(), "LAZY");
    }

    /**
     * Reflection, proxies, lambdas that were linked before; with EAGER and TOTAL also method handles that were looked
     * up.
     */
    @ParameterizedTest
    @ValueSource(strings = {"LAZY", "EAGER", "TOTAL"})
    void callsThatNoByteCodeNamesAreCounted(String scheme) throws Exception {
        runToItsEnd(program("ReflectionProgram").likeAServer(), LIBRARY.toString(), scheme);
    }

    @Test
    void countingGoesOnAndOffBesideThreadsThatRunAndLoadClasses() throws Exception {
        runToItsEnd(program("LoadProgram").likeAServer(), LIBRARY.toString(), "9");
    }

    @Test
    void theJvmEndsWhileCallsAreCounted() throws Exception {
        for (int i = 0; i < 2; i++) {
            runToItsEnd(program("LoadProgram").likeAServer(), LIBRARY.toString(), "0");
        }
    }

    @Test
    void threadsThatAllWantToCountTakeTurns() throws Exception {
        runToItsEnd(program("StartsProgram").likeAServer(), LIBRARY.toString(), "12");
    }

    @Test
    void anotherAgentChangesTheSameClasses(@TempDir Path folder) throws Exception {
        Path agent = folder.resolve("agent.jar");
        writeAgent(agent);
        runToItsEnd(program("BesideProgram").likeAServer().option("-javaagent:" + agent), LIBRARY.toString());
    }

    /* The agent's class is on the class path, so the jar has only a manifest. */
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

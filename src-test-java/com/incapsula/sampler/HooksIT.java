// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import static org.assertj.core.api.Assertions.assertThat;

import com.incapsula.sampler.testing.ChildJvm;
import com.incapsula.sampler.testing.NativeTests;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.spi.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Hooks called by a program as instrumented methods call them: each call is counted, whatever happens. */
class HooksIT {

    private static final Path LIBRARY = NativeTests.path("libhook_calls.so");
    private static final Path CLASSES = NativeTests.path("hooked-classes");

    private static ChildJvm program(String name) {
        return ChildJvm.bare("hooked." + name).option("-cp", CLASSES.toString());
    }

    private static void runToItsEnd(ChildJvm program, String... arguments) throws Exception {
        program.run(arguments).assertSaysFine();
    }

    @ParameterizedTest
    @ValueSource(strings = {"counts", "exact"})
    void eachCallIsCounted(String timing) throws Exception {
        runToItsEnd(program("HookedCalls").likeAServer(), LIBRARY.toString(), timing);
    }

    @Test
    void eachCallIsCountedByTheFirstCompiler() throws Exception {
        runToItsEnd(program("HookedCalls"), LIBRARY.toString(), "counts");
    }

    /** A class archive that was written while calls were counted may contain the hook class. */
    @Test
    void aClassOfAnArchiveIsSetUp(@TempDir Path folder) throws Exception {
        String jar = folder.resolve("hooked.jar").toString();
        String archive = folder.resolve("hooked.jsa").toString();
        assertThat(ToolProvider.findFirst("jar")
                        .orElseThrow()
                        .run(System.out, System.err, "cf", jar, "-C", CLASSES.toString(), "."))
                .isZero();
        for (String option : List.of("-XX:ArchiveClassesAtExit=", "-XX:SharedArchiveFile=")) {
            ChildJvm program = ChildJvm.bare("hooked.HookedCalls").option("-cp", jar, option + archive);
            String output =
                    program.run(LIBRARY.toString(), "counts").assertFine().output();
            assertThat(output).contains("\nfine\n");
        }
    }

    /** With Thread.stop: no stop is lost inside a hook, and hardly any leaves a thread inside a root. */
    @ParameterizedTest
    @ValueSource(strings = {"-Xint", "-XX:TieredStopAtLevel=4"})
    @EnabledForJreRange(max = JRE.JAVA_19)
    void threadsThatAreStopped(String compilers) throws Exception {
        runToItsEnd(program("StoppedThreads").option(compilers), LIBRARY.toString(), "60");
    }

    /** A redeployed application has its own copy of the library; the hook class of the first copy stays in use. */
    @Test
    void anotherCopyOfTheLibraryGoesOnWithTheSameClass() throws Exception {
        Path copy = Files.createTempFile("libhook_calls", ".so");
        try {
            Files.write(copy, Files.readAllBytes(LIBRARY));
            runToItsEnd(program("TwoCopies"), LIBRARY.toString(), copy.toString(), CLASSES.toString());
        } finally {
            Files.delete(copy);
        }
    }
}

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
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Hooks that a program calls as instrumented methods do: each call is counted, whatever happens. */
class HooksIT {

    private static final String LIBRARY = NativeTests.path("libhook_calls.so").toString();
    private static final String CLASSES = NativeTests.path("hooked-classes").toString();

    private static ChildJvm program(String name) {
        return ChildJvm.bare("hooked." + name).option("-cp", CLASSES);
    }

    @ParameterizedTest
    @ValueSource(strings = {"counts", "exact"})
    void eachCallIsCounted(String timing) throws Exception {
        program("HookedCalls").likeAServer().run(LIBRARY, timing).assertSaysFine();
    }

    @Test
    void eachCallIsCountedByTheFirstCompiler() throws Exception {
        program("HookedCalls").run(LIBRARY, "counts").assertSaysFine();
    }

    /** An archive of classes that was written while calls were counted may have the hook class in it. */
    @Test
    void aClassOfAnArchiveIsSetUp(@TempDir Path folder) throws Exception {
        String jar = folder.resolve("hooked.jar").toString();
        String archive = folder.resolve("hooked.jsa").toString();
        assertThat(ToolProvider.findFirst("jar")
                        .orElseThrow()
                        .run(System.out, System.err, "cf", jar, "-C", CLASSES, "."))
                .isZero();
        for (String option : List.of("-XX:ArchiveClassesAtExit=", "-XX:SharedArchiveFile=")) {
            ChildJvm program = ChildJvm.bare("hooked.HookedCalls").option("-cp", jar, option + archive);
            String output =
                    program.run(LIBRARY, "counts").assertFine().output();
            assertThat(output).contains("\nfine\n");
        }
    }

    /** A redeployed application has a copy of the library of its own; the hook class stays the first one's. */
    @Test
    void anotherCopyOfTheLibraryGoesOnWithTheSameClass() throws Exception {
        Path copy = Files.createTempFile("libhook_calls", ".so");
        try {
            Files.write(copy, Files.readAllBytes(Path.of(LIBRARY)));
            program("TwoCopies").run(LIBRARY, copy.toString(), CLASSES).assertSaysFine();
        } finally {
            Files.delete(copy);
        }
    }
}

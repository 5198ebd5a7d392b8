// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.testing;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Products of the C build that Java tests and benchmarks need: libraries, and programs that are not on the tests' class
 * path.
 */
public final class NativeTests {

    private static final Path BUILD = Path.of("target", "native", "maven").toAbsolutePath();

    private NativeTests() {}

    /**
     * Finds a file or a folder of the default build.
     *
     * @param name such as {@code libhook_calls.so}
     * @return its path
     * @throws IllegalStateException if it was not built; the message has the command
     */
    public static Path path(String name) {
        Path path = BUILD.resolve("tests").resolve(name);
        if (!Files.exists(path)) {
            throw new IllegalStateException(path + " is missing: native/build.sh test --build target/native/maven");
        }
        return path;
    }

    /**
     * Builds a library of {@code src-test-c/bench}, which the default build omits.
     *
     * @param target its target name in CMake
     * @return its path
     * @throws IOException if it cannot be built; the message says why
     */
    public static Path buildLibrary(String target) throws IOException, InterruptedException {
        Process process = new ProcessBuilder("cmake", "--build", BUILD.toString(), "--target", target)
                .redirectErrorStream(true)
                .start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (process.waitFor() != 0) {
            throw new IOException("cmake --build " + BUILD + " --target " + target + " failed:\n" + output);
        }
        return path("lib" + target + ".so");
    }
}

// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.bench;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The native library as it is shipped, linked with functions that see each stack and time walks in the handler
 * ({@code src-test-c/bench/observed}). Linked when a benchmark needs it, from what the build has compiled.
 */
public final class ObservedLibrary {

    private static final Path BUILD = Path.of("target", "native", "maven").toAbsolutePath();

    private ObservedLibrary() {}

    /**
     * Links the library.
     *
     * @return the flag with which a JVM loads it in place of the one in the jar
     * @throws IOException if it cannot be linked; the message says why
     */
    public static String flag() throws IOException, InterruptedException {
        Process process = new ProcessBuilder("cmake", "--build", BUILD.toString(), "--target", "observed")
                .redirectErrorStream(true)
                .start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        Path library = BUILD.resolve("tests").resolve("libobserved.so");
        if (process.waitFor() != 0 || !Files.exists(library)) {
            throw new IOException("cmake --build " + BUILD + " --target observed failed:\n" + output);
        }
        return flag(library);
    }

    /**
     * One that was linked before.
     *
     * @param library its file
     * @return the flag with which a JVM loads it
     */
    public static String flag(Path library) {
        return "-Dcom.incapsula.sampler.library=" + library.toAbsolutePath();
    }
}

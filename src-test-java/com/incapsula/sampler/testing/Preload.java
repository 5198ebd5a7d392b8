// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.testing;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;

/** Libraries that are preloaded before libc in a child JVM and simulate rare behaviour of the system. */
public final class Preload {

    private Preload() {}

    /**
     * Compiles one of this package's C files.
     *
     * @return the value for {@code LD_PRELOAD}
     */
    public static Path compile(String source, Path folder) throws IOException, InterruptedException {
        Path file = folder.resolve(source);
        Path library = folder.resolve(source.replace(".c", ".so"));
        try (InputStream in = Preload.class.getResourceAsStream(source)) {
            Files.copy(in, file);
        }
        assertThat(start(
                                "gcc",
                                "-D_GNU_SOURCE",
                                "-Wall",
                                "-Wextra",
                                "-Werror",
                                "-shared",
                                "-fPIC",
                                "-O1",
                                "-o",
                                library.toString(),
                                file.toString(),
                                "-ldl")
                        .waitFor())
                .as("gcc " + source)
                .isZero();
        return library;
    }

    private static Process start(String... command) throws IOException {
        try {
            return new ProcessBuilder(command).inheritIO().start();
        } catch (IOException e) {
            throw new IOException(
                    "this test compiles a library to preload, as the build does the library itself, and " + command[0]
                            + " cannot be run: apt-get install gcc libc6-dev",
                    e);
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.testing;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;

/** Libraries that stand in front of libc in a child JVM, and make the system behave as it rarely does. */
public final class Preload {

    private Preload() {
    }

    /**
     * Compiles one of this package's C files.
     *
     * @return what {@code LD_PRELOAD} is to name
     */
    public static Path compile(String source, Path folder) throws IOException, InterruptedException {
        Path file = folder.resolve(source);
        Path library = folder.resolve(source.replace(".c", ".so"));
        try (InputStream in = Preload.class.getResourceAsStream(source)) {
            Files.copy(in, file);
        }
        Process compiler = new ProcessBuilder("gcc", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", "-shared",
                "-fPIC", "-O1", "-o", library.toString(), file.toString(), "-ldl").inheritIO().start();
        assertThat(compiler.waitFor()).as("gcc " + source).isZero();
        return library;
    }
}

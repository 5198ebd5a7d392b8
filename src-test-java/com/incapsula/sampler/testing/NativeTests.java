// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.testing;

import java.nio.file.Files;
import java.nio.file.Path;

/** What the C build makes for Java tests and benchmarks: libraries, and programs that are not on the tests' class path. */
public final class NativeTests {

    private static final Path FOLDER =
            Path.of("target", "native", "maven", "tests").toAbsolutePath();

    private NativeTests() {}

    /**
     * A file or a folder of it.
     *
     * @param name as {@code libhook_calls.so}
     * @return its path
     * @throws IllegalStateException where it was not built; says how it is
     */
    public static Path path(String name) {
        Path path = FOLDER.resolve(name);
        if (!Files.exists(path)) {
            throw new IllegalStateException(path + " is missing: native/build.sh test --build target/native/maven");
        }
        return path;
    }
}

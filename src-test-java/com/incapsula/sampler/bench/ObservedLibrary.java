// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.bench;

import com.incapsula.sampler.testing.NativeTests;
import java.io.IOException;
import java.nio.file.Path;

/**
 * The shipped native library, linked with functions that receive each stack and time walks in the handler ({@code
 * src-test-c/bench/observed}). It is linked when a benchmark needs it.
 */
public final class ObservedLibrary {

    private ObservedLibrary() {}

    /**
     * Links the library.
     *
     * @return the flag with which a JVM loads it instead of the one in the jar
     * @throws IOException if it cannot be linked; the message says why
     */
    public static String flag() throws IOException, InterruptedException {
        return flag(NativeTests.buildLibrary("observed"));
    }

    /**
     * Makes the flag for a library that an earlier build has linked.
     *
     * @param library its file
     * @return the flag with which a JVM loads it instead of the one in the jar
     */
    public static String flag(Path library) {
        return "-Dcom.incapsula.sampler.library=" + library.toAbsolutePath();
    }
}

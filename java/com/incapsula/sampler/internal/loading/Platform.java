// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.loading;

import java.util.Properties;

/** Which of the libraries in the jar fits this JVM. */
final class Platform {

    private Platform() {}

    /**
     * Names the folder of the library for this JVM.
     *
     * @param properties the system properties
     * @return {@code linux-x86_64} or {@code linux-aarch64}
     * @throws UnsupportedOperationException with the reason where there is none
     */
    static String require(Properties properties) {
        String system = property(properties, "os.name");
        if (!system.equals("Linux")) {
            throw new UnsupportedOperationException("threads-sampler needs Linux, this is " + system);
        }
        String machine = property(properties, "java.vm.name");
        if (!machine.contains("HotSpot") && !machine.contains("OpenJDK")) {
            throw new UnsupportedOperationException("threads-sampler needs a HotSpot JVM, this is " + machine);
        }
        String architecture = property(properties, "os.arch");
        return switch (architecture) {
            case "amd64", "x86_64" -> "linux-x86_64";
            case "aarch64", "arm64" -> "linux-aarch64";
            default ->
                throw new UnsupportedOperationException(
                        "threads-sampler needs x86-64 or aarch64, this is " + architecture);
        };
    }

    private static String property(Properties properties, String name) {
        return properties.getProperty(name, "unknown");
    }
}

// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.loading;

import java.util.Properties;

/** Chooses the library in the jar for this JVM. */
public final class Platform {

    private static final String IMAGE_CODE = "org.graalvm.nativeimage.imagecode"; // documented by GraalVM

    private Platform() {}

    /** {@return true in a native image of GraalVM, or while one is built, where nothing can be sampled} */
    public static boolean isNativeImage() {
        try {
            return System.getProperty(IMAGE_CODE) != null;
        } catch (SecurityException e) { // a security manager
            return false;
        }
    }

    /**
     * Names the folder of the library for this JVM.
     *
     * @return {@code linux-x86_64} or {@code linux-aarch64}
     * @throws UnsupportedOperationException with the reason if there is none
     */
    static String require(Properties properties) {
        String system = property(properties, "os.name");
        if (!system.equals("Linux")) {
            throw new UnsupportedOperationException("threads-sampler needs Linux, this is " + system);
        }
        if (properties.getProperty(IMAGE_CODE) != null) {
            throw new UnsupportedOperationException("threads-sampler needs a HotSpot JVM, this is a native image");
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

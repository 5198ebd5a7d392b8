// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.torture;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;

/**
 * Finds the methods of this JVM that call the counting hooks, as another agent sees the classes
 * (src-test-c/jvm/probed_classes.c).
 */
final class ProbedClasses {

    private ProbedClasses() {}

    static void load(Path library) {
        System.load(library.toString());
    }

    /** @return a line for each method */
    private static native String find();

    static void assertNone() {
        assertThat(find()).as("methods that have kept their probes").isEmpty();
    }

    static void assertSome() {
        assertThat(find()).as("methods with probes").isNotEmpty();
    }
}

// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Tools that people have. A test that lacks its tool is skipped, but not where {@code SMP_TOOLS=required} stands in
 * the environment.
 */
public final class Tool {

    private static final List<String> OTHER_FOLDERS = List.of("/usr/local/go/bin", "/usr/lib/go/bin", "/usr/bin");

    private Tool() {}

    /** Its file, by its name. */
    public static String find(String name) {
        List<String> folders = new ArrayList<>(List.of(System.getenv("PATH").split(File.pathSeparator)));
        folders.addAll(OTHER_FOLDERS);
        String found = folders.stream()
                .map(folder -> Path.of(folder, name))
                .filter(Files::isExecutable)
                .map(Path::toString)
                .findFirst()
                .orElse(null);
        if (!"required".equals(System.getenv("SMP_TOOLS"))) {
            assumeTrue(found != null, name + " is not installed");
        }
        assertThat(found).as(name + " is not installed").isNotNull();
        return found;
    }
}

// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * What tests need from the machine: tools, and permissions that only some users have, such as making namespaces. A test
 * that lacks something is skipped with the reason, or fails if the environment has {@code SMP_TOOLS=required}.
 */
public final class Tool {

    private static final List<String> OTHER_FOLDERS = List.of("/usr/local/go/bin", "/usr/lib/go/bin", "/usr/bin");

    private Tool() {}

    /** Finds a tool by its name. */
    public static String find(String name) {
        List<String> folders = new ArrayList<>(List.of(System.getenv("PATH").split(File.pathSeparator)));
        folders.addAll(OTHER_FOLDERS);
        String found = folders.stream()
                .map(folder -> Path.of(folder, name))
                .filter(Files::isExecutable)
                .map(Path::toString)
                .findFirst()
                .orElse(null);
        require(found != null, name + " is not installed");
        return found;
    }

    /**
     * Skips the test, or fails if tools are required.
     *
     * @param isThere false if the machine lacks what the test needs
     * @param reason what the machine lacks
     */
    public static void require(boolean isThere, String reason) {
        if (!"required".equals(System.getenv("SMP_TOOLS"))) {
            assumeTrue(isThere, reason);
        }
        assertThat(isThere).as(reason).isTrue();
    }

    /**
     * As {@link #require}, for a command that a machine may forbid some users.
     *
     * @param what what the command does, for the reason
     * @param command only does what may be forbidden
     */
    public static void requireAllowed(String what, List<String> command) throws InterruptedException {
        String refusal = refusalOf(command);
        require(refusal == null, what + " is refused here: " + refusal);
    }

    /** @return null if the command ends with 0; else the reason */
    public static String refusalOf(List<String> command) throws InterruptedException {
        try {
            Process process =
                    new ProcessBuilder(command).redirectErrorStream(true).start();
            process.getOutputStream().close();
            String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            int exit = process.waitFor();
            return exit == 0 ? null : "exit code " + exit + ", " + output.strip();
        } catch (IOException notInstalled) {
            return notInstalled.getMessage();
        }
    }
}

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
 * What tests need of the machine: tools, and what only some users may do, as to make namespaces. A test that lacks it is
 * skipped with the reason, but fails where {@code SMP_TOOLS=required} stands in the environment.
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
        require(found != null, name + " is not installed");
        return found;
    }

    /**
     * Skips the test, or fails where tools are required.
     *
     * @param isThere false: the machine lacks what the test needs
     * @param reason what it lacks
     */
    public static void require(boolean isThere, String reason) {
        if (!"required".equals(System.getenv("SMP_TOOLS"))) {
            assumeTrue(isThere, reason);
        }
        assertThat(isThere).as(reason).isTrue();
    }

    /**
     * As {@link #require}, for a command that a machine may refuse to some users.
     *
     * @param what for the reason: what the command does
     * @param command does nothing but what may be refused
     */
    public static void requireAllowed(String what, List<String> command) throws InterruptedException {
        String refusal = refusalOf(command);
        require(refusal == null, what + " is refused here: " + refusal);
    }

    /** @return null: the command ends with 0; else why not */
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

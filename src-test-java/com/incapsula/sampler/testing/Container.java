// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.testing;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Runs a command in a container with the strictest settings: no capability, no new privileges, and a file system that
 * is read-only except for one folder. The system call filter is {@code container_filter.c}.
 */
public final class Container {

    /* Mounts the disk read-only, except for one folder and the files that a test's JVM writes for the build. */
    private static final String READ_ONLY = """
            writable=$1; user=$2; shift 2
            mount --make-rprivate / &&
            mount --bind "$writable" "$writable" &&
            { [ ! -d target ] || mount --bind target target; } &&
            for at in / /tmp /var /var/tmp /run /dev/shm /home /root "$HOME"; do
                if mountpoint -q "$at"; then mount -o remount,bind,ro "$at" || exit 1; fi
            done &&
            ! touch /tmp/threads-sampler-probe 2>/dev/null &&
            exec setpriv $user --bounding-set=-all --inh-caps=-all --no-new-privs "$@"
            """;

    private Container() {}

    /** @return the beginning of a command, run as the test's user, who is root in a namespace */
    public static List<String> as(Path writable) {
        List<String> command = new ArrayList<>(inOwnMounts(READ_ONLY));
        command.addAll(List.of("sh", writable.toString(), ""));
        return command;
    }

    /** @return the command of a shell, run as root in a user namespace and a mount namespace of its own */
    public static List<String> inOwnMounts(String script) {
        return List.of("unshare", "--user", "--map-root-user", "--mount", "sh", "-c", script);
    }

    /**
     * @return as {@link #as(Path)}, for this user and group; if the test's user is not root and so cannot change to
     *     another user, for the test's user
     */
    public static List<String> as(Path writable, int user, int group) throws IOException {
        if ((Integer) Files.getAttribute(Path.of("/proc/self"), "unix:uid") != 0) {
            return as(writable);
        }
        String ids = "--reuid=" + user + " --regid=" + group + " --clear-groups";
        return List.of("unshare", "--mount", "sh", "-c", READ_ONLY, "sh", writable.toString(), ids);
    }

    /** Skips the test if the machine does not allow such a container; fails if tools are required. */
    public static void require(List<String> container) throws InterruptedException {
        List<String> probe = new ArrayList<>(container);
        probe.add("true");
        Tool.requireAllowed("making a container by unshare, mount and setpriv", probe);
    }

    /**
     * Fails unless the process is in a container with the filter. The programs before the JVM have each replaced
     * themselves by the next one.
     */
    public static void assertContained(ProcessHandle process) throws IOException {
        assertThat(Files.readString(Path.of("/proc", String.valueOf(process.pid()), "status")))
                .containsPattern("(?m)^CapEff:\\s+0000000000000000$")
                .containsPattern("(?m)^CapBnd:\\s+0000000000000000$")
                .containsPattern("(?m)^NoNewPrivs:\\s+1$")
                .containsPattern("(?m)^Seccomp:\\s+2$");
    }
}

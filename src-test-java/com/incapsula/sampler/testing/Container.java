// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.testing;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Runs a command as in a container with the strictest settings: no capability, no new privileges, and a read-only file
 * system but for one folder. The filter of system calls is {@code container_filter.c}.
 */
public final class Container {

    /* Mounts all of the disk read-only, but for one folder, and what the JVM of a test writes for the build. */
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

    /** @return the beginning of a command, as the user of the test, who is root in a namespace of its own */
    public static List<String> as(Path writable) {
        List<String> command = new ArrayList<>(inOwnMounts(READ_ONLY));
        command.addAll(List.of("sh", writable.toString(), ""));
        return command;
    }

    /** @return a shell's command, by root of namespaces of its own, one of users and one of mounts */
    public static List<String> inOwnMounts(String script) {
        return List.of("unshare", "--user", "--map-root-user", "--mount", "sh", "-c", script);
    }

    /** @return likewise, as this user and group; as the user of the test if that is not root, and cannot be another */
    public static List<String> as(Path writable, int user, int group) throws IOException {
        if ((Integer) Files.getAttribute(Path.of("/proc/self"), "unix:uid") != 0) {
            return as(writable);
        }
        String ids = "--reuid=" + user + " --regid=" + group + " --clear-groups";
        return List.of("unshare", "--mount", "sh", "-c", READ_ONLY, "sh", writable.toString(), ids);
    }

    /** Skips the test, or fails where tools are required, if the machine refuses to make such a container. */
    public static void require(List<String> container) throws InterruptedException {
        List<String> probe = new ArrayList<>(container);
        probe.add("true");
        Tool.requireAllowed("making a container by unshare, mount and setpriv", probe);
    }

    /** Fails unless the process is in a container with the filter. Each program before the JVM has made room for the next. */
    public static void assertContained(ProcessHandle process) throws IOException {
        assertThat(Files.readString(Path.of("/proc", String.valueOf(process.pid()), "status")))
                .containsPattern("(?m)^CapEff:\\s+0000000000000000$")
                .containsPattern("(?m)^CapBnd:\\s+0000000000000000$")
                .containsPattern("(?m)^NoNewPrivs:\\s+1$")
                .containsPattern("(?m)^Seccomp:\\s+2$");
    }
}

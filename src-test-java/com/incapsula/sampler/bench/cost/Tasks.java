// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.bench.cost;

import com.incapsula.sampler.testing.ProcessStatus;
import com.sun.management.ThreadMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The kernel's figures for the threads of this process. */
final class Tasks {

    private static final Path TASKS = Path.of("/proc/self/task");

    private static final Pattern LEFT_OUT_NAMES = Pattern.compile(Crowd.NAME + "|C[12] Compiler");
    private static final Set<String> LEFT_OUT = new HashSet<>();
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    private Tasks() {}

    /**
     * CPU time of this process in nanoseconds, without the calling thread and the JVM's compilers, which mostly compile
     * what that thread runs. The cost does not depend on the number of parked threads: one call reads the process's CPU
     * time.
     */
    static long cpuNanos() throws IOException {
        String self = Path.of("/proc/thread-self").toRealPath().getFileName().toString();
        long sum = 0;
        for (long nanos : THREADS.getThreadCpuTime(Crowd.ids())) {
            sum += Math.max(0, nanos);
        }
        try (Stream<Path> tasks = Files.list(TASKS)) {
            for (Path task : (Iterable<Path>) tasks::iterator) {
                String id = task.getFileName().toString();
                if (!id.equals(self) && !LEFT_OUT.contains(id)) {
                    sum += cpuNanosOf(task, id);
                }
            }
        }
        return sum;
    }

    private static long cpuNanosOf(Path task, String id) {
        try {
            if (LEFT_OUT_NAMES.matcher(Files.readString(task.resolve("comm"))).lookingAt()) {
                LEFT_OUT.add(id);
                return 0;
            }
            return Long.parseLong(firstWord(task.resolve("schedstat")));
        } catch (IOException e) {
            return 0; /* The thread has ended. */
        }
    }

    /** The ids of all current threads. */
    static Set<String> ids() throws IOException {
        try (Stream<Path> tasks = Files.list(TASKS)) {
            return tasks.map(task -> task.getFileName().toString()).collect(Collectors.toSet());
        }
    }

    /**
     * CPU time, in nanoseconds, of the threads that have started since {@code known} was read, without the JVM's
     * compilers.
     */
    static long cpuNanosOfOthers(Set<String> known) throws IOException {
        long sum = 0;
        for (String id : ids()) {
            if (!known.contains(id) && !LEFT_OUT.contains(id)) {
                sum += cpuNanosOf(TASKS.resolve(id), id);
            }
        }
        return sum;
    }

    /** The number of context switches by thread id, for threads whose name begins with this text. */
    static Map<String, Long> switches(String name) throws IOException {
        Map<String, Long> switches = new HashMap<>();
        ProcessStatus.ofThreads(name).forEach((id, status) -> switches.put(id, switchesIn(status)));
        return switches;
    }

    private static long switchesIn(List<String> status) {
        return status.stream()
                .filter(line -> line.contains("_ctxt_switches"))
                .mapToLong(line ->
                        Long.parseLong(line.substring(line.indexOf(':') + 1).trim()))
                .sum();
    }

    /** The growth over threads that are in both, and over new threads. */
    static long grown(Map<String, Long> before, Map<String, Long> after) {
        return after.entrySet().stream()
                .mapToLong(entry -> entry.getValue() - before.getOrDefault(entry.getKey(), 0L))
                .sum();
    }

    private static String firstWord(Path file) throws IOException {
        String text = Files.readString(file);
        return text.substring(0, text.indexOf(' '));
    }
}

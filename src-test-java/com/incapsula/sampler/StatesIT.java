// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import static com.incapsula.sampler.testing.Samplers.patiently;
import static com.incapsula.sampler.testing.Samplers.quick;
import static org.assertj.core.api.Assertions.assertThat;

import com.incapsula.sampler.testing.NothingLeft;
import com.incapsula.sampler.testing.ProcessStatus;
import com.incapsula.sampler.testing.Recorder;
import com.incapsula.sampler.testing.Virtual;
import com.incapsula.sampler.testing.Worker;
import com.incapsula.sampler.testing.work.Waits;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import javax.management.JMX;
import javax.management.ObjectName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The time of each thread is in its current state, and the states add up to wall time. */
@ExtendWith(NothingLeft.class)
class StatesIT {

    private static final List<String> STATES = List.of("running", "runnable", "blocked", "io", "waiting", "idle");

    private static Map<String, Long> states(Map<String, Long> measures) {
        Map<String, Long> states = new LinkedHashMap<>(measures);
        states.keySet().retainAll(STATES);
        return states;
    }

    private static void assertAddsUp(Map<String, Long> measures, String what) {
        assertThat(states(measures).values().stream().mapToLong(Long::longValue).sum())
                .as(what)
                .isEqualTo(measures.get("wall"));
    }

    private static Stream<SamplingRow> rows(SamplingReport report) {
        return report.getGroups().stream()
                .flatMap(group -> report.rows(group).stream())
                .flatMap(SamplingRow::stream);
    }

    /*
     * Waits until the threads have arrived where they wait: they sleep by the kernel's account, and their CPU clocks no
     * longer move. The clock of a thread that has lost its CPU does not move either.
     */
    private static void awaitStill(Waits waits) {
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        for (Waits.Waiting waiting : waits.all()) {
            long id = waiting.thread().getId();
            String beginning = waiting.name().substring(0, 7); // JVMs shorten names in different ways
            patiently().until(() -> {
                long before = threads.getThreadCpuTime(id);
                Thread.sleep(5);
                return before > 0
                        && ProcessStatus.ofThreads(beginning).values().stream()
                                .allMatch(lines -> lines.contains("State:\tS (sleeping)"))
                        && threads.getThreadCpuTime(id) == before;
            });
        }
    }

    /* Until JDK 24 the JVM wakes a thread that waits for a monitor once a second; the thread is runnable then. */
    private static boolean isWoken(String kind) {
        return kind.equals("locks") && Runtime.version().feature() < 25;
    }

    private static Waits waits(String kind) throws Exception {
        Waits waits = Waits.ofPlatformThreads();
        return switch (kind) {
            case "locks" -> waits.locks();
            case "results" -> waits.results();
            case "work" -> waits.work().workers();
            default -> waits.io();
        };
    }

    @ParameterizedTest
    @CsvSource({
        "locks, AUTO",
        "results, AUTO",
        "work, AUTO",
        "io, AUTO",
        "locks, JVMTI",
        "results, JVMTI",
        "work, JVMTI",
        "io, JVMTI"
    })
    void aThreadThatWaitsIsInOneState(String kind, SamplingEngine engine) throws Exception {
        Map<String, String> expected = new LinkedHashMap<>();
        Map<String, String> found = new LinkedHashMap<>();
        try (Waits waits = waits(kind)) {
            awaitStill(waits);
            ThreadsSampler sampler = quick(new Recorder());
            sampler.setEngine(engine);
            sampler.setThreadNameManipulator(Thread::getName);
            for (Waits.Waiting waiting : waits.all()) {
                sampler.setThreadToBeSampled(waiting.thread());
                expected.put(waiting.name(), waiting.state());
            }
            sampler.init();
            patiently().until(() -> groups(sampler).size() == waits.all().size());
            patiently().until(() -> {
                found.clear();
                found.putAll(groups(sampler));
                return !isWoken(kind) || found.equals(expected);
            });
            sampler.close();
        }
        assertThat(found).containsExactlyInAnyOrderEntriesOf(expected);
    }

    @Test
    void theBeanHasTheStatesOfASecond() throws Exception {
        Map<String, Long> found;
        try (Waits waits = Waits.ofPlatformThreads().locks()) {
            awaitStill(waits);
            Thread thread = waits.all().stream()
                    .filter(waiting -> waiting.name().equals("blocked.lock"))
                    .findFirst()
                    .orElseThrow()
                    .thread();
            ThreadsSampler sampler = quick(new Recorder());
            sampler.setThreadNameManipulator(Thread::getName);
            sampler.setThreadToBeSampled(thread);
            sampler.setJmxName("states");
            sampler.init();
            found = JMX.newMXBeanProxy(
                            ManagementFactory.getPlatformMBeanServer(),
                            new ObjectName("com.incapsula.sampler:type=ThreadsSampler,name=states"),
                            ThreadsSamplerMXBean.class)
                    .states(1);
            sampler.close();
            assertThat(found).containsOnlyKeys(thread.getName() + ": blocked");
        }
        assertThat(found.values()).allMatch(nanos -> nanos >= 1_000_000_000L);
    }

    private static Map<String, String> groups(ThreadsSampler sampler) {
        Map<String, String> groups = new LinkedHashMap<>();
        try (SamplingReport report = sampler.snapshot()) {
            for (SamplingGroup group : report.getGroups()) {
                assertAddsUp(group.getMeasures(), group.getName());
                if (group.getWallNanos() > 0) {
                    groups.put(group.getName(), statesOf(group));
                }
            }
        }
        return groups;
    }

    private static String statesOf(SamplingGroup group) {
        Map<String, Long> states = states(group.getMeasures());
        states.values().removeIf(nanos -> nanos == 0);
        return String.join(" ", states.keySet());
    }

    /** The frames of a virtual thread determine its state. */
    @ParameterizedTest
    @ValueSource(strings = {"results", "work"})
    @EnabledForJreRange(minVersion = 25)
    void aVirtualThreadThatWaitsIsInOneState(String kind) throws Exception {
        Map<String, String> expected = new LinkedHashMap<>();
        Map<String, String> found = new LinkedHashMap<>();
        try (Waits waits = new Waits(Virtual.factory()::newThread)) {
            if (kind.equals("results")) {
                waits.results();
            } else {
                waits.work();
            }
            for (Waits.Waiting waiting : waits.all()) {
                patiently().until(() -> waiting.thread().getState() != Thread.State.RUNNABLE);
                expected.put(waiting.name(), waiting.state());
            }
            ThreadsSampler sampler = quick(new Recorder());
            sampler.setThreadNameManipulator(Thread::getName);
            sampler.setSampleUnmountedVirtualThreads(true);
            sampler.init();
            /* A draw walks some of the threads; the first draws may find one that has not arrived yet. */
            patiently().untilAsserted(() -> {
                found.putAll(groups(sampler));
                found.keySet().retainAll(expected.keySet());
                assertThat(found).containsExactlyInAnyOrderEntriesOf(expected);
            });
            sampler.close();
        }
    }

    /** This holds for each row, both for its total and for its own time. */
    @Test
    void statesOfEachRowAddUpToItsWallTime() throws Exception {
        try (Waits waits = Waits.ofPlatformThreads().results();
                Worker busy = Worker.busy("busy")) {
            ThreadsSampler sampler = quick(new Recorder());
            sampler.init();
            patiently().until(() -> groups(sampler).containsKey("busy"));
            try (SamplingReport report = sampler.snapshot()) {
                assertThat(rows(report)).isNotEmpty().allSatisfy(row -> {
                    assertAddsUp(row.getMeasures(), row.toString());
                    assertAddsUp(row.getOwnMeasures(), row.toString());
                });
                assertAddsUp(report.getMeasures(), "report");
                assertThat(report.getMeasures().get("running")).isPositive();
            }
            sampler.close();
        }
    }
}

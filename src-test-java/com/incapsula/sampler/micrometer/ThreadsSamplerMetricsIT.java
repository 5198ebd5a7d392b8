// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.micrometer;

import static com.incapsula.sampler.testing.Samplers.awaitSeen;
import static com.incapsula.sampler.testing.Samplers.awaitTicks;
import static com.incapsula.sampler.testing.Samplers.patiently;
import static com.incapsula.sampler.testing.Samplers.quick;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import com.incapsula.sampler.ThreadsSampler;
import com.incapsula.sampler.testing.NothingLeft;
import com.incapsula.sampler.testing.Recorder;
import com.incapsula.sampler.testing.Samplers;
import com.incapsula.sampler.testing.Worker;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MockClock;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.simple.SimpleConfig;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** Meters of a real sampler, with a clock that stands still. */
@ExtendWith(NothingLeft.class)
@Timeout(Samplers.HANG_SECONDS)
class ThreadsSamplerMetricsIT {

    private static final Duration STEP = Duration.ofSeconds(10);

    private final MockClock clock = new MockClock();
    private final SimpleMeterRegistry registry = new SimpleMeterRegistry(SimpleConfig.DEFAULT, clock);
    private final ThreadsSampler sampler = quick(new Recorder());
    private final ThreadsSamplerMetrics metrics = new ThreadsSamplerMetrics(sampler, Tags.of("app", "test"));

    @AfterEach
    void close() throws IOException {
        metrics.close();
        sampler.close();
    }

    private double gauge(String name, String... tags) {
        return registry.get(name).tags(tags).gauge().value();
    }

    private double busyThreads() {
        return gauge("threadsampler.busy.threads");
    }

    private Collection<Gauge> hottest() {
        return registry.find("threadsampler.hottest.group").gauges();
    }

    private double polls() {
        return registry.find("threadsampler.polls").functionCounters().stream()
                .mapToDouble(FunctionCounter::count)
                .sum();
    }

    @Test
    void figuresAreThoseOfTheStatistics() {
        sampler.init();
        metrics.bindTo(registry);
        awaitTicks(sampler, 5);
        sampler.pauseSampling(); // from now on the figures stand still
        assertThat(polls()).isEqualTo(sampler.getStatistics().getPolls()).isPositive();
        sampler.getStatistics()
                .getOutcomes()
                .forEach((outcome, number) -> assertThat(registry.get("threadsampler.polls")
                                .tags("outcome", outcome, "app", "test")
                                .functionCounter()
                                .count())
                        .as(outcome)
                        .isEqualTo(number.doubleValue()));
        assertThat(gauge("threadsampler.threads"))
                .isEqualTo(sampler.getStatistics().getThreads());
        assertThat(gauge("threadsampler.memory", "state", "limit")).isEqualTo(sampler.getMemoryLimitBytes());
        assertThat(gauge("threadsampler.memory", "state", "used"))
                .isPositive()
                .isLessThanOrEqualTo(gauge("threadsampler.memory", "state", "peak"));
        assertThat(registry.get("threadsampler.cpu").functionCounter().count()).isBetween(0.0, 3600.0);
    }

    @Test
    void busyThreadsAndTheHottestGroupAreOfTheLastStep() throws Exception {
        try (Worker busy = Worker.busy("busy")) {
            sampler.setThreadToBeSampled(busy.thread());
            sampler.init();
            metrics.bindTo(registry);
            assertThat(busyThreads()).as("no step has ended").isNaN();
            assertThat(hottest()).isEmpty();
            awaitSeen(sampler, "busy", "calculate");
            assertThat(busyThreads()).as("the clock stands still").isNaN();
            clock.add(STEP);
            double threads = busyThreads();
            assertThat(threads).isPositive();
            assertThat(busyThreads()).as("until the next step").isEqualTo(threads);
            assertThat(hottest()).singleElement().satisfies(gauge -> {
                assertThat(gauge.getId().getTag("group")).isEqualTo("busy");
                assertThat(gauge.getId().getTag("app")).isEqualTo("test");
                assertThat(gauge.value()).isEqualTo(threads);
            });
        }
    }

    @Test
    void aSamplerThatIsStartedLaterIsFound() throws IOException {
        metrics.bindTo(registry);
        assertThat(busyThreads()).isNaN();
        assertThat(polls()).isZero();
        sampler.init();
        awaitTicks(sampler, 5);
        assertThat(busyThreads()).isNaN();
        patiently().until(() -> {
            clock.add(STEP);
            return busyThreads() >= 0;
        });
        assertThat(polls()).isPositive();
        sampler.close();
        clock.add(STEP);
        assertThat(busyThreads()).as("it has ended").isNaN();
        assertThat(hottest()).isEmpty();
        sampler.init();
        assertThat(busyThreads()).isNaN();
        patiently().until(() -> {
            clock.add(STEP);
            return busyThreads() >= 0;
        });
    }

    @Test
    void countersDoNotFallWhenTheSamplerStartsAgain() throws IOException {
        sampler.init();
        metrics.bindTo(registry);
        awaitTicks(sampler, 20);
        sampler.close();
        double polls = polls();
        double cpu = registry.get("threadsampler.cpu").functionCounter().count();
        assertThat(polls).isPositive();
        sampler.init();
        assertThat(polls()).isGreaterThanOrEqualTo(polls);
        assertThat(registry.get("threadsampler.cpu").functionCounter().count()).isGreaterThanOrEqualTo(cpu);
    }

    @Test
    void namesOfGroupsAreLimited() throws Exception {
        sampler.setThreadNameManipulator(Thread::getName);
        sampler.init();
        BusyGroups busy = new BusyGroups(sampler, registry, Tags.empty(), STEP, 1);
        for (String name : List.of("first", "second", "first")) {
            try (Worker worker = Worker.busy(name)) {
                sampler.setSampleTheseThreadsOnly(List.of(worker.thread()));
                String expected = name.equals("first") ? "first" : ThreadsSamplerMetrics.OTHER_GROUPS;
                patiently().until(() -> {
                    clock.add(STEP);
                    busy.threads();
                    return hottest().size() == 1
                            && hottest()
                                    .iterator()
                                    .next()
                                    .getId()
                                    .getTag("group")
                                    .equals(expected);
                });
            }
        }
        busy.close();
    }

    @Test
    void closedItLeavesTheRegistryAsItWas() {
        sampler.init();
        metrics.bindTo(registry);
        awaitTicks(sampler, 2);
        clock.add(STEP);
        busyThreads();
        Meter other = registry.counter("other");
        metrics.close();
        metrics.close();
        assertThat(registry.getMeters()).containsExactly(other);
    }

    @Test
    void nothingIsRefused() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new ThreadsSamplerMetrics(null))
                .withMessage("sampler must not be null");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new ThreadsSamplerMetrics(sampler, null))
                .withMessage("tags must not be null");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new ThreadsSamplerMetrics(sampler, Tags.empty(), Duration.ZERO))
                .withMessage("step must be positive, got PT0S");
    }
}

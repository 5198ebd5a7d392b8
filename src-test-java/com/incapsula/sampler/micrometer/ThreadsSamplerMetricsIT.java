// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.micrometer;

import static com.incapsula.sampler.testing.Latches.awaitReleased;
import static com.incapsula.sampler.testing.Samplers.awaitTicks;
import static com.incapsula.sampler.testing.Samplers.patiently;
import static com.incapsula.sampler.testing.Samplers.quick;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import com.incapsula.sampler.SamplingGroup;
import com.incapsula.sampler.SamplingReport;
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
import io.micrometer.core.instrument.config.MeterFilter;
import io.micrometer.core.instrument.config.MeterFilterReply;
import io.micrometer.core.instrument.simple.SimpleConfig;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** Meters of a real sampler; the registry's clock stands still. */
@ExtendWith(NothingLeft.class)
@Timeout(Samplers.HANG_SECONDS)
class ThreadsSamplerMetricsIT {

    private static final Duration STEP = Duration.ofSeconds(10);

    private final MockClock clock = new MockClock();
    private final SimpleMeterRegistry registry = new SimpleMeterRegistry(SimpleConfig.DEFAULT, clock);
    private final ThreadsSampler sampler = quick(new Recorder());
    private final List<BusyGroups> busyGroups = new ArrayList<>();
    private final ThreadsSamplerMetrics metrics = new ThreadsSamplerMetrics(sampler, Tags.of("app", "test"));

    @AfterEach
    void close() throws IOException {
        metrics.close();
        busyGroups.forEach(BusyGroups::close);
        sampler.close();
    }

    private double gauge(String name, String... tags) {
        return registry.get(name).tags(tags).gauge().value();
    }

    private double busyThreads() {
        return gauge("threadsampler.busy.threads");
    }

    private Collection<Gauge> groups() {
        return registry.find("threadsampler.group.threads").gauges();
    }

    private double running(String group) {
        return registry.find("threadsampler.group.threads").tags("group", group, "state", "running").gauges().stream()
                .mapToDouble(Gauge::value)
                .sum();
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
        sampler.pauseSampling(); // the figures no longer change
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
        assertThat(gauge("threadsampler.memory.limit", "app", "test")).isEqualTo(sampler.getMemoryLimitBytes());
        assertThat(gauge("threadsampler.memory.used"))
                .isPositive()
                .isLessThanOrEqualTo(gauge("threadsampler.memory.peak"));
        assertThat(registry.get("threadsampler.cpu").functionCounter().count()).isBetween(0.0, 3600.0);
    }

    /** This holds also if the second run has counted more than the first one by the time of the next read. */
    @Test
    void countsGoOnAfterARestart() throws IOException {
        sampler.init();
        metrics.bindTo(registry);
        awaitTicks(sampler, 5);
        sampler.close();
        double first = polls();
        assertThat(first).isEqualTo(sampler.getStatistics().getPolls()).isPositive();
        sampler.init();
        patiently().until(() -> sampler.getStatistics().getPolls() > 2 * first);
        sampler.close();
        assertThat(polls()).isEqualTo(first + sampler.getStatistics().getPolls());
        assertThat(sampler.getStatistics().getStarts()).isEqualTo(2);
    }

    private BusyGroups busyGroups(Duration step, int maxNames) {
        BusyGroups busy = new BusyGroups(sampler, registry, Tags.empty(), step, maxNames);
        busyGroups.add(busy);
        return busy;
    }

    /* Ends an interval and returns its value, which all reads return until the next step. */
    private double nextInterval(BusyGroups busy) {
        busy.threads(); // the first read begins an interval
        long before = busy.intervals();
        clock.add(STEP);
        busy.threads();
        patiently().until(() -> busy.intervals() > before);
        return busy.threads();
    }

    @Test
    void busyThreadsAndGroupsAreOfTheLastInterval() throws Exception {
        try (Worker worker = Worker.busy("busy")) {
            sampler.setThreadToBeSampled(worker.thread());
            sampler.init();
            BusyGroups busy = busyGroups(STEP, 10);
            double first = busy.threads();
            assertThat(first).as("the first read").isNotNaN();
            assertThat(busy.threads()).as("the clock stands still").isEqualTo(first);
            /* On a busy machine the worker may have no CPU during an interval. */
            patiently().until(() -> nextInterval(busy) > 0 && running("busy") > 0);
            double threads = busy.threads();
            assertThat(busy.threads()).as("until the next step").isEqualTo(threads);
            assertThat(running("busy")).as("one thread").isLessThanOrEqualTo(1.001);
            busy.close();
            assertThat(busy.threads()).isNaN();
            assertThat(groups()).isEmpty();
        }
    }

    @Test
    void aScrapeDoesNotWaitForEver() throws Exception {
        CountDownLatch stuck = new CountDownLatch(1);
        CountDownLatch released = new CountDownLatch(1);
        sampler.setThreadNameManipulator(thread -> {
            if (thread.getName().equals("stuck")) {
                stuck.countDown();
                awaitReleased(released);
            }
            return thread.getName();
        });
        sampler.init();
        metrics.bindTo(registry);
        try (Worker worker = Worker.busy("stuck")) {
            stuck.await(); // the sampler's thread is blocked from now on
            assertThat(busyThreads()).as("after a second").isNaN();
        } finally {
            released.countDown();
        }
    }

    @Test
    void itsThreadIsNotSampled() {
        sampler.setThreadNameManipulator(Thread::getName);
        sampler.init();
        BusyGroups busy = busyGroups(STEP, 10);
        busy.threads();
        patiently().until(() -> NothingLeft.samplerThreads().contains(BusyGroups.THREAD_NAME));
        awaitTicks(sampler, 10);
        try (SamplingReport report = sampler.snapshot()) {
            assertThat(report.getGroups())
                    .extracting(SamplingGroup::getName)
                    .contains("main")
                    .doesNotContain(BusyGroups.THREAD_NAME);
        }
    }

    /**
     * A registry's filters and listeners are code of the application, so the application also handles their exceptions.
     */
    @Test
    void aRegistryThatFailsEndsNoThreadByAnException() throws Exception {
        List<Throwable> uncaught = new CopyOnWriteArrayList<>();
        Thread.UncaughtExceptionHandler before = Thread.getDefaultUncaughtExceptionHandler();
        Thread.setDefaultUncaughtExceptionHandler((thread, thrown) -> uncaught.add(thrown));
        CountDownLatch failed = new CountDownLatch(1);
        registry.config().meterFilter(new MeterFilter() {
            @Override
            public MeterFilterReply accept(Meter.Id id) {
                if (id.getName().equals("threadsampler.group.threads")) {
                    failed.countDown();
                    throw new UnsupportedOperationException("for a test");
                }
                return MeterFilterReply.NEUTRAL;
            }
        });
        try (Worker worker = Worker.busy("busy")) {
            sampler.setThreadToBeSampled(worker.thread());
            sampler.init();
            BusyGroups busy = busyGroups(STEP, 10);
            patiently().until(() -> {
                busy.threads();
                clock.add(STEP);
                return failed.getCount() == 0;
            });
            /* The loop above may have begun another interval, whose end fails, too. */
            patiently().until(() -> {
                if (busy.isReading()) {
                    busy.threads();
                    clock.add(STEP);
                }
                return !busy.isReading() && !NothingLeft.samplerThreads().contains(BusyGroups.THREAD_NAME);
            });
            assertThat(uncaught).isEmpty();
        } finally {
            Thread.setDefaultUncaughtExceptionHandler(before);
        }
    }

    @Test
    void groupsThatNobodyReadsKeepNothing() {
        Duration step = Duration.ofMillis(5);
        sampler.init();
        BusyGroups busy = busyGroups(step, 10);
        assertThat(busy.isReading()).as("before the first read").isFalse();
        busy.threads();
        clock.add(step.multipliedBy(BusyGroups.IDLE_STEPS - 1));
        busy.threads();
        clock.add(step.multipliedBy(BusyGroups.IDLE_STEPS - 1));
        assertThat(busy.isReading()).isTrue();
        clock.add(step);
        patiently().until(() -> !busy.isReading());
        patiently().until(() -> NothingLeft.samplerThreads().stream().noneMatch(BusyGroups.THREAD_NAME::equals));
        assertThat(busy.threads()).as("begins anew").isNotNaN();
        assertThat(busy.isReading()).isTrue();
        busy.close();
        patiently().until(() -> !busy.isReading());
    }

    @Test
    void aSamplerThatIsStartedLaterIsFound() throws IOException {
        metrics.bindTo(registry);
        assertThat(busyThreads()).isNaN();
        assertThat(polls()).isZero();
        sampler.init();
        awaitTicks(sampler, 5);
        assertThat(busyThreads()).as("the first scrape").isNotNaN();
        assertThat(gauge("threadsampler.busy.threads", "app", "test")).isNotNaN();
        patiently().until(() -> {
            clock.add(STEP);
            return busyThreads() >= 0;
        });
        assertThat(polls()).isPositive();
        sampler.close();
        assertThat(busyThreads()).as("it has ended").isNaN();
        assertThat(groups()).isEmpty();
        sampler.init();
        assertThat(busyThreads()).as("the first scrape after that").isNotNaN();
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
    void theNamesOfGroupsAreLimited() throws Exception {
        sampler.setThreadNameManipulator(Thread::getName);
        sampler.init();
        BusyGroups busy = busyGroups(STEP, 1);
        for (String name : List.of("first", "second", "first")) {
            try (Worker worker = Worker.busy(name)) {
                sampler.setSampleTheseThreadsOnly(List.of(worker.thread()));
                String expected = name.equals("first") ? "first" : ThreadsSamplerMetrics.OTHER_GROUPS;
                patiently().until(() -> {
                    nextInterval(busy);
                    return running(expected) > 0;
                });
            }
        }
        assertThat(groups())
                .extracting(gauge -> gauge.getId().getTag("group"))
                .containsOnly("first", ThreadsSamplerMetrics.OTHER_GROUPS);
    }

    /** The series of a group that has ended stays, with the value 0. */
    @Test
    void aSeriesThatWasThereStays() throws Exception {
        sampler.setThreadNameManipulator(Thread::getName);
        sampler.init();
        BusyGroups busy = busyGroups(STEP, 10);
        try (Worker worker = Worker.busy("ends")) {
            sampler.setSampleTheseThreadsOnly(List.of(worker.thread()));
            patiently().until(() -> {
                nextInterval(busy);
                return running("ends") > 0;
            });
        }
        try (Worker worker = Worker.busy("goes on")) {
            sampler.setSampleTheseThreadsOnly(List.of(worker.thread()));
            patiently().until(() -> {
                nextInterval(busy);
                return running("ends") == 0 && running("goes on") > 0;
            });
        }
        assertThat(groups()).extracting(gauge -> gauge.getId().getTag("group")).contains("ends", "goes on");
    }

    @Test
    void allMetersButTheGroupsAreThereBeforeTheSamplerStarts() {
        metrics.bindTo(registry);
        assertThat(registry.find("threadsampler.polls").functionCounters())
                .hasSizeGreaterThan(5)
                .allSatisfy(counter -> assertThat(counter.count()).isZero());
        sampler.init();
        assertThat(sampler.getStatistics().getOutcomes().keySet())
                .containsExactlyInAnyOrderElementsOf(registry.find("threadsampler.polls").functionCounters().stream()
                        .map(counter -> counter.getId().getTag("outcome"))
                        .toList());
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

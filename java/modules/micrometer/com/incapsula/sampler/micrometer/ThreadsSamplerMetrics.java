// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.micrometer;

import com.incapsula.sampler.SamplerStatistics;
import com.incapsula.sampler.ThreadsSampler;
import com.incapsula.sampler.internal.engine.LoadedLibrary;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.BaseUnits;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToDoubleFunction;

/**
 * A sampler's figures as meters.
 *
 * <pre>{@code
 * new ThreadsSamplerMetrics(sampler).bindTo(registry);
 * }</pre>
 *
 * <ul>
 * <li>Counter {@code threadsampler.polls}, tag {@code outcome}: polls by the codes of
 * {@link SamplerStatistics#getOutcomes()}.</li>
 * <li>Counter {@code threadsampler.cpu}, seconds: CPU time of the sampler itself.</li>
 * <li>Gauges {@code threadsampler.memory.used}, {@code threadsampler.memory.peak} and
 * {@code threadsampler.memory.limit}, bytes: native memory of the sampler.</li>
 * <li>Gauge {@code threadsampler.threads}: sampled threads.</li>
 * <li>Gauge {@code threadsampler.busy.threads}: the average number of running threads of the application in the last
 * interval, that is, their CPU time divided by the length of the interval.</li>
 * <li>Gauge {@code threadsampler.group.threads}, tags {@code group} and {@code state}: the average number of threads of
 * the group in the state in the last interval. States are {@code running}, {@code runnable}, {@code blocked},
 * {@code io}, {@code waiting} and {@code idle}. Once a group and a state have been seen, their series remains, with 0
 * if an interval has none. At most {@value #MAX_GROUP_NAMES} groups have series of their own; the others are added up
 * as {@value #OTHER_GROUPS}, because ungrouped thread names would create an unlimited number of series.</li> </ul>
 *
 * <p>The last two come from separate intervals, which end when {@code busy.threads} is read and the interval is at
 * least a step long; reports and other readers are unaffected. A daemon thread, {@code threads-sampler-metrics}, which
 * is not sampled, ends the interval, and the next scrape shows it. So a scrape usually shows the time between the two
 * previous scrapes. The first scrape ends the first interval and shows it; it is the only one that waits, for at most a
 * second. If the sampler does not run or is paused, the value is {@code NaN} or missing. If {@code busy.threads} is not
 * read for sixty steps, the thread ends and releases its part of the sampler's memory, until the next read.
 *
 * <p>Counters continue when the sampler is started again. The sampler may be started before or after the binding.
 *
 * <p>Threads: any. The registry holds the sampler until {@link #close()}.
 *
 * @since 1.0
 */
public final class ThreadsSamplerMetrics implements MeterBinder, AutoCloseable {

    /** Limit of groups with series of their own in a registry. */
    public static final int MAX_GROUP_NAMES = 100;

    /** The group for all others. */
    public static final String OTHER_GROUPS = "[other groups]";

    private static final Duration STEP = Duration.ofSeconds(10);
    private static final double NANOS_PER_SECOND = 1e9;

    private final ThreadsSampler sampler;
    private final Tags tags;
    private final Duration step;
    private final List<Binding> bindings = new ArrayList<>(); // guarded by itself

    /**
     * Creates meters without further tags.
     *
     * @param sampler the sampler
     * @throws IllegalArgumentException if it is null
     */
    public ThreadsSamplerMetrics(ThreadsSampler sampler) {
        this(sampler, Tags.empty());
    }

    /**
     * Creates meters with tags.
     *
     * @param sampler the sampler
     * @param tags of each meter, to distinguish samplers
     * @throws IllegalArgumentException if one is null
     */
    public ThreadsSamplerMetrics(ThreadsSampler sampler, Iterable<Tag> tags) {
        this(sampler, tags, STEP);
    }

    /**
     * Creates meters with tags and a step.
     *
     * @param sampler the sampler
     * @param tags of each meter
     * @param step the shortest interval of {@code busy.threads} and {@code group.threads}; default 10 s
     * @throws IllegalArgumentException if one is null, or the step is not positive
     */
    public ThreadsSamplerMetrics(ThreadsSampler sampler, Iterable<Tag> tags, Duration step) {
        requireNotNull("sampler", sampler);
        requireNotNull("tags", tags);
        requireNotNull("step", step);
        if (step.isNegative() || step.isZero()) {
            throw new IllegalArgumentException("step must be positive, got " + step);
        }
        this.sampler = sampler;
        this.tags = Tags.of(tags);
        this.step = step;
    }

    private static void requireNotNull(String name, Object value) {
        if (value == null) {
            throw new IllegalArgumentException(name + " must not be null");
        }
    }

    /**
     * Registers the meters.
     *
     * @param registry the registry; each has intervals of its own
     */
    @Override
    public void bindTo(MeterRegistry registry) {
        Binding binding = new Binding(registry);
        synchronized (bindings) {
            bindings.add(binding);
        }
        binding.registerAll();
    }

    /** Removes the meters from all registries. The sampler is not affected. Does nothing the second time. */
    @Override
    public void close() {
        List<Binding> bound;
        synchronized (bindings) {
            bound = new ArrayList<>(bindings);
            bindings.clear();
        }
        bound.forEach(Binding::remove);
    }

    /**
     * Converts a figure that begins at zero with each start of the sampler to one that never falls, because a registry
     * that sends differences would send a negative one.
     */
    private static final class Count implements ToDoubleFunction<ThreadsSampler> {

        private final ToDoubleFunction<SamplerStatistics> figure;
        private final double unit;
        private long start; // guarded by this
        private double before; // the sum over earlier starts; guarded by this
        private double last; // the last value since that start; guarded by this

        Count(ToDoubleFunction<SamplerStatistics> figure, double unit) {
            this.figure = figure;
            this.unit = unit;
        }

        @Override
        public synchronized double applyAsDouble(ThreadsSampler of) {
            SamplerStatistics statistics = of.getStatistics();
            if (statistics.getStarts() != start) {
                start = statistics.getStarts();
                before += last;
            }
            last = figure.applyAsDouble(statistics) / unit;
            return before + last;
        }
    }

    /** The meters of one registry. */
    private final class Binding {

        private final MeterRegistry registry;
        private final BusyGroups busy;
        private final List<Meter> meters = new ArrayList<>(); // guarded by this

        Binding(MeterRegistry registry) {
            this.registry = registry;
            this.busy = new BusyGroups(sampler, registry, tags, step, MAX_GROUP_NAMES);
        }

        void registerAll() {
            keep(FunctionCounter.builder(
                            "threadsampler.cpu",
                            sampler,
                            new Count(SamplerStatistics::getOwnCpuNanos, NANOS_PER_SECOND))
                    .tags(tags)
                    .baseUnit("seconds")
                    .description("CPU time of the sampler itself")
                    .register(registry));
            registerMemory("used", "in use", SamplerStatistics::getMemoryUsedBytes);
            registerMemory("peak", "in use at most", SamplerStatistics::getMemoryPeakBytes);
            registerMemory("limit", "that may be used", SamplerStatistics::getMemoryLimitBytes);
            keep(Gauge.builder("threadsampler.threads", sampler, figure(SamplerStatistics::getThreads, 1))
                    .tags(tags)
                    .baseUnit(BaseUnits.THREADS)
                    .description("Threads that are sampled")
                    .register(registry));
            keep(Gauge.builder("threadsampler.busy.threads", busy, BusyGroups::threads)
                    .tags(tags)
                    .baseUnit(BaseUnits.THREADS)
                    .strongReference(true)
                    .description("Threads of the application that were running, on average")
                    .register(registry));
            LoadedLibrary.outcomes().forEach(this::registerOutcome);
            busy.begin();
        }

        private void registerMemory(String name, String what, ToDoubleFunction<SamplerStatistics> bytes) {
            keep(Gauge.builder("threadsampler.memory." + name, sampler, figure(bytes, 1))
                    .tags(tags)
                    .baseUnit(BaseUnits.BYTES)
                    .description("Native memory of the sampler " + what)
                    .register(registry));
        }

        private void registerOutcome(String outcome) {
            keep(FunctionCounter.builder(
                            "threadsampler.polls",
                            sampler,
                            new Count(statistics -> statistics.getOutcomes().getOrDefault(outcome, 0L), 1))
                    .tags(tags)
                    .tag("outcome", outcome)
                    .description("Checks of a thread, by how they ended")
                    .register(registry));
        }

        private ToDoubleFunction<ThreadsSampler> figure(ToDoubleFunction<SamplerStatistics> value, double unit) {
            return of -> value.applyAsDouble(of.getStatistics()) / unit;
        }

        private synchronized void keep(Meter meter) {
            meters.add(meter);
        }

        synchronized void remove() {
            meters.forEach(registry::remove);
            meters.clear();
            busy.close();
        }
    }
}

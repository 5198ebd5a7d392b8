// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.micrometer;

import com.incapsula.sampler.SamplingCursor;
import com.incapsula.sampler.SamplingGroup;
import com.incapsula.sampler.SamplingReport;
import com.incapsula.sampler.ThreadsSampler;
import io.micrometer.core.instrument.Clock;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.MultiGauge;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import java.time.Duration;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * How many threads run and where, from intervals of its own that end when a value is read.
 *
 * <p>Threads: any.
 */
final class BusyGroups {

    private static final String JVM_THREADS = "[JVM]";

    private final ThreadsSampler sampler;
    private final Clock clock;
    private final long stepNanos;
    private final int maxNames;
    private final MultiGauge hottest;
    private final Set<String> names = new HashSet<>();

    private @Nullable SamplingCursor cursor; // null: the sampler did not run when it was last asked for
    private long beginNanos;
    private double threads = Double.NaN;
    private boolean closed;

    BusyGroups(ThreadsSampler sampler, MeterRegistry registry, Tags tags, Duration step, int maxNames) {
        this.sampler = sampler;
        this.clock = registry.config().clock();
        this.stepNanos = step.toNanos();
        this.maxNames = maxNames;
        this.hottest = MultiGauge.builder("threadsampler.hottest.group")
                .tags(tags)
                .baseUnit("threads")
                .description("The thread group with the most CPU time: its threads that were running, on average")
                .register(registry);
    }

    /** @return threads of the application that were running, on average; NaN: not known */
    synchronized double threads() {
        if (closed) {
            return Double.NaN;
        }
        if (cursor == null) {
            open();
        } else if (clock.monotonicTime() - beginNanos >= stepNanos) {
            read(cursor);
        }
        return threads;
    }

    private void open() {
        try {
            cursor = sampler.openCursor();
            beginNanos = clock.monotonicTime();
        } catch (IllegalStateException | OutOfMemoryError notNow) {
            // it does not run, or this is its own outputer's thread: the next reader tries again
        }
    }

    private void read(SamplingCursor from) {
        try (SamplingReport report = from.next()) {
            beginNanos = clock.monotonicTime();
            show(report);
        } catch (IllegalStateException ended) {
            from.close();
            cursor = null;
            show(null);
        } catch (OutOfMemoryError notNow) {
            show(null); // nothing is lost: the next interval has this one, too
        }
    }

    private void show(@Nullable SamplingReport report) {
        double elapsed = report == null ? 0 : report.getElapsed().toNanos();
        if (report == null || elapsed <= 0 || report.getGroups().isEmpty()) {
            threads = Double.NaN;
            hottest.register(List.of(), true);
            return;
        }
        threads = report.getGroups().stream()
                        .filter(group -> !group.getName().equals(JVM_THREADS))
                        .mapToDouble(SamplingGroup::getCpuNanos)
                        .sum()
                / elapsed;
        List<MultiGauge.Row<?>> rows = report.getGroups().stream()
                .filter(group -> group.getCpuNanos() > 0)
                .max(Comparator.comparingLong(SamplingGroup::getCpuNanos))
                .<List<MultiGauge.Row<?>>>map(group -> List.of(row(group, group.getCpuNanos() / elapsed)))
                .orElse(List.of());
        hottest.register(rows, true);
    }

    private MultiGauge.Row<?> row(SamplingGroup group, double busy) {
        String name = group.getName();
        if (!names.contains(name) && names.size() == maxNames) {
            name = ThreadsSamplerMetrics.OTHER_GROUPS;
        } else {
            names.add(name);
        }
        return MultiGauge.Row.of(Tags.of(Tag.of("group", name)), busy);
    }

    synchronized void close() {
        closed = true;
        hottest.register(List.of(), true);
        if (cursor != null) {
            cursor.close();
            cursor = null;
        }
    }
}

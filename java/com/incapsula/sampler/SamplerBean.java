// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import com.incapsula.sampler.internal.options.BeanProperties;
import com.incapsula.sampler.internal.options.Values;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;

/** The MXBean of a sampler. */
final class SamplerBean implements ThreadsSamplerMXBean {

    static final int MAX_TOP_SECONDS = 60;

    private final ThreadsSampler sampler;
    private final AtomicBoolean topInProgress = new AtomicBoolean();

    SamplerBean(ThreadsSampler sampler) {
        this.sampler = sampler;
    }

    @Override
    public String getMode() {
        return sampler.getStatistics().getMode().name();
    }

    @Override
    public boolean isInert() {
        return sampler.getStatistics().isInert();
    }

    @Override
    public String getLimitations() {
        return String.join(",", limitations().keySet());
    }

    @Override
    public Map<String, String> limitations() {
        Map<String, String> texts = new LinkedHashMap<>();
        sampler.getStatistics()
                .getLimitations()
                .forEach(each -> texts.merge(each.code().name(), each.text(), (first, next) -> first + "; " + next));
        return texts;
    }

    @Override
    public String getEngine() {
        return sampler.getStatistics().getEngine();
    }

    @Override
    public String getClock() {
        return sampler.getStatistics().getClock().name();
    }

    @Override
    public boolean isPaused() {
        return sampler.isPaused();
    }

    @Override
    public boolean isActive() {
        return sampler.isActive();
    }

    @Override
    public long getSamplingFrequencyMillis() {
        return sampler.getSamplingFrequencyMillis();
    }

    @Override
    public long getReportFrequencySeconds() {
        return sampler.getReportFrequencySeconds();
    }

    @Override
    public String getMonitoredPackages() {
        return sampler.getMonitoredPackages();
    }

    @Override
    public String getRootMethods() {
        return sampler.getRootMethods();
    }

    @Override
    public String getInstrumentation() {
        return sampler.getInstrumentation().name();
    }

    @Override
    public String getMethodTiming() {
        return sampler.getMethodTiming().name();
    }

    @Override
    public long getThreads() {
        return sampler.getStatistics().getThreads();
    }

    @Override
    public long getPolls() {
        return sampler.getStatistics().getPolls();
    }

    @Override
    public long getReportsWritten() {
        return sampler.getStatistics().getReportsWritten();
    }

    @Override
    public long getMemoryUsedBytes() {
        return sampler.getStatistics().getMemoryUsedBytes();
    }

    @Override
    public long getMemoryLimitBytes() {
        return sampler.getStatistics().getMemoryLimitBytes();
    }

    @Override
    public long getOwnCpuNanos() {
        return sampler.getStatistics().getOwnCpuNanos();
    }

    @Override
    public long getElapsedNanos() {
        return sampler.getStatistics().getElapsedNanos();
    }

    @Override
    public void pause() {
        sampler.pauseSampling();
    }

    @Override
    public void resume() {
        sampler.resumeSampling();
    }

    @Override
    public void report() {
        sampler.printReport();
    }

    @Override
    public void resetCollectedResults() {
        sampler.resetCollectedResults();
    }

    @Override
    public void set(String name, String value) {
        if (name == null || value == null) {
            throw new IllegalArgumentException("name and value must not be null");
        }
        BeanProperties.set(sampler, name, value);
    }

    @Override
    public Map<String, Long> statistics() {
        SamplerStatistics all = sampler.getStatistics();
        Map<String, Long> named = new LinkedHashMap<>();
        all.getOutcomes().forEach((name, value) -> named.put("total.outcome." + name, value));
        all.getIntervalOutcomes().forEach((name, value) -> named.put("interval.outcome." + name, value));
        all.getCounters().forEach((name, value) -> named.put("total.counter." + name, value));
        all.getIntervalCounters().forEach((name, value) -> named.put("interval.counter." + name, value));
        return named;
    }

    @Override
    public String dump() {
        return sampler.dump();
    }

    @Override
    public String top(int seconds) {
        return during(seconds, report -> report.toString(ReportFormat.TOP));
    }

    @Override
    public Map<String, Long> states(int seconds) {
        return during(seconds, SamplerBean::statesOf);
    }

    private static Map<String, Long> statesOf(SamplingReport report) {
        Map<String, Long> states = new LinkedHashMap<>();
        for (SamplingGroup group : report.getGroups()) {
            Map<String, Long> measures = group.getMeasures();
            for (int i = ReportMeasure.RUNNING.ordinal(); i <= ReportMeasure.IDLE.ordinal(); i++) {
                String state = ReportMeasure.values()[i].name().toLowerCase(Locale.ROOT);
                long nanos = measures.getOrDefault(state, 0L);
                if (nanos > 0) {
                    states.put(group.getName() + ": " + state, nanos);
                }
            }
        }
        return states;
    }

    @Override
    public String summary(int seconds) {
        return during(seconds, report -> report.getSummary().toString());
    }

    @Override
    public Map<String, Long> hotSpots(int seconds) {
        return during(seconds, SamplerBean::hotSpotsOf);
    }

    private static Map<String, Long> hotSpotsOf(SamplingReport report) {
        Map<String, Long> spots = new LinkedHashMap<>();
        for (SamplingHotSpot spot : report.getHotSpots()) {
            String place = spot.getClassName() + "." + spot.getMethodName() + ":" + spot.getLine();
            spots.merge(place + " " + spot.getState() + " " + spot.getGroup(), spot.getNanos(), Long::sum);
        }
        return spots;
    }

    private <T> T during(int seconds, Function<SamplingReport, T> result) {
        Values.between("seconds", seconds, 1, MAX_TOP_SECONDS);
        if (!topInProgress.compareAndSet(false, true)) {
            throw new IllegalStateException("another call that waits is in progress; try again");
        }
        try (SamplingCursor cursor = sampler.openCursor()) {
            TimeUnit.SECONDS.sleep(seconds);
            try (SamplingReport report = cursor.next()) {
                return result.apply(report);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted", e);
        } finally {
            topInProgress.set(false);
        }
    }
}

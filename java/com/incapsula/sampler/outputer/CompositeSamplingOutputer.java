// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.outputer;

import com.incapsula.sampler.SamplingReport;
import com.incapsula.sampler.internal.report.OutputerParts;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Passes each call on to several outputers. An outputer that fails receives no further part of that report; the others
 * receive the whole report. At the end of the report the failure is thrown, so that the sampler counts it, and the
 * {@code printError} that follows goes to the outputers that have failed.
 *
 * <p>Threads: those of one sampler. The calls of one report come from one thread, so their state needs no lock.
 */
final class CompositeSamplingOutputer implements SamplingOutputer, OutputerParts {

    private final List<SamplingOutputer> parts;
    private final @Nullable Throwable[] failures; // by part, in the report that is written
    private boolean hasBegun; // by report(), which is not called for all outputers
    private volatile @Nullable Throwable thrown; // at the end of the last report

    private CompositeSamplingOutputer(List<SamplingOutputer> parts) {
        this.parts = parts;
        this.failures = new Throwable[parts.size()];
    }

    /**
     * Joins two outputers, each of which may be a composite.
     *
     * @throws IllegalArgumentException if an outputer would be in the result twice, and so be closed twice
     */
    static SamplingOutputer of(SamplingOutputer first, SamplingOutputer second) {
        List<SamplingOutputer> parts = new ArrayList<>(OutputerParts.of(first));
        parts.addAll(OutputerParts.of(second));
        Set<SamplingOutputer> distinct = Collections.newSetFromMap(new IdentityHashMap<>());
        distinct.addAll(parts);
        if (distinct.size() < parts.size()) {
            throw new IllegalArgumentException("an outputer must not be joined with itself");
        }
        return new CompositeSamplingOutputer(List.copyOf(parts));
    }

    @Override
    public List<SamplingOutputer> parts() {
        return parts;
    }

    @Override
    public void starting() {
        parts.forEach(SamplingOutputer::starting);
    }

    @Override
    public void report(SamplingReport report) {
        begin();
        hasBegun = true;
        passOn(part -> part.report(report));
    }

    @Override
    public void printIntervalTitle(String title) {
        if (!hasBegun) {
            begin();
        }
        hasBegun = false;
        passOn(part -> part.printIntervalTitle(title));
    }

    @Override
    public void printThreadRecord(String threadTitle, String record) {
        passOn(part -> part.printThreadRecord(threadTitle, record));
    }

    @Override
    public void flush() {
        passOn(SamplingOutputer::flush);
        throwFailure();
    }

    /** Goes to all parts, because no part counts as failed between two reports. */
    @Override
    public void printDeadlock(String title, String record) {
        List<@Nullable Throwable> errors = new ArrayList<>();
        parts.forEach(part -> errors.add(failureOf(part, each -> each.printDeadlock(title, record))));
        throwJoined(errors);
    }

    private void begin() {
        Arrays.fill(failures, null);
        thrown = null;
    }

    /* The report ends as soon as all parts have failed. */
    private void passOn(Consumer<SamplingOutputer> call) {
        boolean anyIsLeft = false;
        for (int i = 0; i < failures.length; i++) {
            if (failures[i] == null) {
                failures[i] = failureOf(parts.get(i), call);
                anyIsLeft |= failures[i] == null;
            }
        }
        if (!anyIsLeft) {
            throwFailure();
        }
    }

    private void throwFailure() {
        hasBegun = false;
        Throwable first = joined(Arrays.asList(failures));
        thrown = first;
        if (first != null) {
            throw CompositeSamplingOutputer.<RuntimeException>sneak(first);
        }
    }

    /** Parts that have failed receive their own failure. Any other message goes to all parts. */
    @Override
    public void printError(String message, @Nullable Throwable cause) {
        List<@Nullable Throwable> errors = new ArrayList<>();
        boolean isOfParts = cause != null && cause == thrown;
        for (int i = 0; i < failures.length; i++) {
            Throwable own = isOfParts ? failures[i] : cause;
            if (!isOfParts || own != null) {
                errors.add(failureOf(parts.get(i), part -> part.printError(message, own)));
            }
        }
        throwJoined(errors);
    }

    @Override
    public void close() {
        List<@Nullable Throwable> errors = new ArrayList<>();
        parts.forEach(part -> errors.add(failureOf(part, SamplingOutputer::close)));
        throwJoined(errors);
    }

    private static @Nullable Throwable failureOf(SamplingOutputer part, Consumer<SamplingOutputer> call) {
        try {
            call.accept(part);
            return null;
        } catch (Throwable t) {
            return t;
        }
    }

    private static void throwJoined(List<@Nullable Throwable> failures) {
        Throwable first = joined(failures);
        if (first != null) {
            throw CompositeSamplingOutputer.<RuntimeException>sneak(first);
        }
    }

    /* Returns the first failure, with the others suppressed in it. */
    private static @Nullable Throwable joined(List<@Nullable Throwable> failures) {
        Throwable first = null;
        for (Throwable each : failures) {
            if (first == null) {
                first = each;
            } else if (each != null && each != first) {
                first.addSuppressed(each);
            }
        }
        return first;
    }

    /* Throws a failure unchanged: an outputer in another language may throw undeclared checked exceptions. */
    @SuppressWarnings("unchecked")
    private static <T extends Throwable> RuntimeException sneak(Throwable failure) throws T {
        throw (T) failure;
    }
}

// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.engine;

import java.util.List;
import java.util.function.Supplier;

/** A lifecycle on a fake core, for tests of what stands on it. */
public final class FakeSampler {

    private final FakeEngine.FakeSource source = new FakeEngine.FakeSource();
    private final Lifecycle lifecycle = new Lifecycle(source);

    public Lifecycle lifecycle() {
        return lifecycle;
    }

    /** Sets every interval and report from now on, also of engines that start later. */
    public void setInterval(Supplier<FakeSnapshot> interval) {
        source.prepare = engine -> engine.interval = interval;
        source.made.forEach(engine -> engine.interval = interval);
    }

    /** The next start fails. */
    public void failToStart(Error failure) {
        source.prepare = engine -> engine.onStart = () -> {
            throw failure;
        };
    }

    /** The last engine has this mode, and these pairs of a limitation's code and text. */
    public void haveStatus(String... modeAndLimitations) {
        source.last().status = List.of(modeAndLimitations);
    }

    /** Runs when an interval is taken. */
    public void onInterval(Runnable action) {
        source.last().onInterval = action;
    }

    /** Runs when a reader is opened. */
    public void onOpenReader(Runnable action) {
        source.last().onOpenReader = action;
    }

    /** As the native reporter does it. */
    public void writeReport() {
        source.last().writeReport();
    }

    /** The calls of the last engine. */
    public List<String> calls() {
        return List.copyOf(source.last().calls);
    }

    /** Does the last engine keep the last minutes? */
    public boolean keepsWindows() {
        return source.last().keepsWindows;
    }

    /** The groups whose threads are not sampled. */
    public List<ThreadGroup> hiddenGroups() {
        return List.copyOf(source.hiddenGroups);
    }
}

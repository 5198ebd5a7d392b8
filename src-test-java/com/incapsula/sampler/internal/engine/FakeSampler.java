// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.engine;

import java.util.List;
import java.util.function.Supplier;

/** A lifecycle on a fake core, for tests of its clients. */
public final class FakeSampler {

    private final FakeEngine.FakeSource source = new FakeEngine.FakeSource();
    private final Lifecycle lifecycle = new Lifecycle(source);

    public Lifecycle lifecycle() {
        return lifecycle;
    }

    /** Sets the interval of every report and reader from now on, also for engines that start later. */
    public void setInterval(Supplier<FakeSnapshot> interval) {
        source.prepare = engine -> engine.interval = interval;
        source.made.forEach(engine -> engine.interval = interval);
    }

    /** Makes the next start fail. */
    public void failToStart(Error failure) {
        source.prepare = engine -> engine.onStart = () -> {
            throw failure;
        };
    }

    /** Runs while the next engine starts. */
    public void onStart(Runnable action) {
        source.prepare = engine -> engine.onStart = action;
    }

    /** Runs while the next engine starts, which can keep no windows from then on. */
    public void failToKeepWindowsFromStart(Runnable action) {
        source.prepare = engine -> engine.onStart = () -> {
            engine.onOpenReader = () -> {
                throw new OutOfMemoryError("for a test");
            };
            action.run();
        };
    }

    /** Sets the mode of the last engine, and its limitations as pairs of code and text. */
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

    /** Runs before the last engine forgets its windows. */
    public void onForgetWindows(Runnable action) {
        source.last().onForgetWindows = action;
    }

    /** Makes a report as the native reporter does. */
    public void writeReport() {
        source.last().writeReport();
    }

    /** Returns the calls of the last engine. */
    public List<String> calls() {
        return List.copyOf(source.last().calls);
    }

    /** Whether the last engine keeps the last minutes. */
    public boolean keepsWindows() {
        return source.last().keepsWindows;
    }

    /** Returns the groups whose threads are not sampled. */
    public List<ThreadGroup> hiddenGroups() {
        return List.copyOf(source.hiddenGroups);
    }
}

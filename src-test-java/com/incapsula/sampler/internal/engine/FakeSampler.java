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

    /** What every window and report from now on is, also of cores that are started later. */
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

    /** What happens when a window is taken. */
    public void onInterval(Runnable action) {
        source.last().onInterval = action;
    }

    /** As the native reporter does it. */
    public void writeReport() {
        source.last().writeReport();
    }

    /** What the core of the last start was told. */
    public List<String> calls() {
        return List.copyOf(source.last().calls);
    }

    /** Whose threads are not to be sampled. */
    public List<ThreadGroup> hiddenGroups() {
        return List.copyOf(source.hiddenGroups);
    }
}

// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.engine;

import com.incapsula.sampler.internal.engine.RunState.Phase;

/**
 * What a running sampler does on demand: a report, one sample, counts from zero on.
 *
 * <p>Threads: any. No thread holds the lock of {@link RunState} while it waits for the engine.
 */
public final class OnDemand {

    private final RunState state;
    private final ReportDispatcher dispatcher;
    private final SamplerProperties properties;

    OnDemand(RunState state, ReportDispatcher dispatcher, SamplerProperties properties) {
        this.state = state;
        this.dispatcher = dispatcher;
        this.properties = properties;
    }

    /**
     * Writes a report now; returns when it is written.
     *
     * @throws IllegalStateException as for {@link Lifecycle#pause()}
     */
    public void printReport() {
        dispatcher.refuseInCallback("printReport()");
        Engine running = state.runningEngine("printReport()");
        state.callUnlessExiting(running, running::report);
    }

    /**
     * Counted calls of the running interval, and their times, begin at zero.
     *
     * @throws IllegalStateException as for {@link Lifecycle#pause()}
     */
    public void resetCollectedResults() {
        dispatcher.refuseInCallback("resetCollectedResults()");
        Engine running = state.runningEngine("resetCollectedResults()");
        state.callUnlessExiting(running, running::resetCounts);
    }

    /**
     * Takes one sample of a paused or inactive sampler and writes a report.
     *
     * @throws IllegalStateException as for {@link Lifecycle#pause()}, and if the sampler is sampling
     */
    public void sampleOnceAndPrint() {
        String call = "sampleOnceAndPrint()";
        Engine running;
        dispatcher.refuseInCallback(call);
        state.lock();
        try {
            state.awaitStable(call);
            running = state.requireRunning(call);
            if (state.isStoppedByExit(running)) {
                return;
            }
            if (state.phase() != Phase.PAUSED && properties.isActive()) {
                throw new IllegalStateException(call + " needs a sampler that is paused or not active");
            }
        } finally {
            state.unlock();
        }
        state.callUnlessExiting(running, running::sampleOnce);
    }
}

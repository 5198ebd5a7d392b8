// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.bench.cost;

import com.incapsula.sampler.MethodTiming;
import com.incapsula.sampler.bench.peer.AsyncMethodsPeer;
import com.incapsula.sampler.bench.peer.CountingPeer;
import com.incapsula.sampler.bench.peer.MethodTimingPeer;
import com.incapsula.sampler.bench.peer.Peer;
import java.io.IOException;
import java.util.Map;

/**
 * A tool that counts or times the calls of {@link ProbedCalls}, configured as users configure it: this product, and
 * others.
 */
enum CallTool {
    NONE(Peer.HYBRID + ", NONE", 1, new Ours(MethodTiming.NONE)),
    SAMPLED(Peer.HYBRID + ", SAMPLED", 1, new Ours(MethodTiming.SAMPLED)),
    EXACT(Peer.HYBRID + ", EXACT", 1, new Ours(MethodTiming.EXACT)),
    METHOD_TIMING(MethodTimingPeer.NAME, 2, new Jfr()),
    ASYNC_EACH(Peer.ASYNC + "'s method events, a stack of each call", 20, new Async(1)),
    ASYNC_FEW(Peer.ASYNC + "'s method events, a stack of each millionth call", 2, new Async(1_000_000));

    /** A tool, which this JVM may lack. */
    interface Meter {
        default boolean isThere() {
            return true;
        }

        void start() throws Exception;

        /** Returns a lower bound of the calls that it has seen. */
        long stop() throws IOException;
    }

    private final String text;
    private final int lessCalls;
    private final Meter meter;

    CallTool(String text, int lessCalls, Meter meter) {
        this.text = text;
        this.lessCalls = lessCalls;
        this.meter = meter;
    }

    String text() {
        return text;
    }

    /** The number of calls to measure: slow tools get fewer. */
    int callsOf(int all) {
        return Math.max(1, all / lessCalls);
    }

    Meter meter() {
        return meter;
    }

    private static final class Ours implements Meter {

        private static final double NO_LIMIT = 100;

        private final MethodTiming timing;
        private final CountingPeer peer = new CountingPeer(ProbedCalls.ROOTS, "", NO_LIMIT);

        Ours(MethodTiming timing) {
            this.timing = timing;
        }

        @Override
        public void start() {
            peer.start(timing);
        }

        @Override
        public long stop() throws IOException {
            Map<String, Long> figures = peer.figures();
            peer.stop();
            if (figures.get(CountingPeer.DROPPED) > 0) {
                throw new IllegalStateException("what was measured was not counted to the end: " + figures);
            }
            return figures.get(CountingPeer.CALLS);
        }
    }

    private static final class Jfr implements Meter {

        private final MethodTimingPeer peer = new MethodTimingPeer(ProbedCalls.PROBED);

        @Override
        public boolean isThere() {
            return MethodTimingPeer.isThere();
        }

        @Override
        public void start() {
            peer.start();
        }

        @Override
        public long stop() throws IOException {
            return peer.stop();
        }
    }

    private static final class Async implements Meter {

        private final long interval;
        private final AsyncMethodsPeer peer;

        Async(long interval) {
            this.interval = interval;
            peer = new AsyncMethodsPeer(ProbedCalls.PROBED + ".*", interval);
        }

        @Override
        public void start() throws Exception {
            peer.start();
        }

        @Override
        public long stop() {
            long calls = peer.stacks() * interval;
            peer.stop();
            return calls;
        }
    }
}

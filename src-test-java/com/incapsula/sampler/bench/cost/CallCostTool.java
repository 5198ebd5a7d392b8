// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.bench.cost;

import com.incapsula.sampler.Instrumentation;
import com.incapsula.sampler.MethodTiming;
import com.incapsula.sampler.bench.peer.AsyncMethodsPeer;
import com.incapsula.sampler.bench.peer.CountingPeer;
import com.incapsula.sampler.bench.peer.FlatCounters;
import com.incapsula.sampler.bench.peer.MethodTimingPeer;
import com.incapsula.sampler.bench.peer.Peer;
import counted.FourShapes;
import java.io.IOException;
import java.util.stream.Collectors;

/** A tool that counts or times the calls of a {@link CallCostWork}. */
enum CallCostTool {
    NOTHING("nothing") {
        @Override
        CountedWork.Pass start(CallCostWork work, CountedWork.Pass pass) {
            return pass;
        }
    },
    SAMPLED(Peer.HYBRID + ", SAMPLED") {
        @Override
        CountedWork.Pass start(CallCostWork work, CountedWork.Pass pass) {
            return startOurs(work, pass, MethodTiming.SAMPLED);
        }
    },
    EXACT(Peer.HYBRID + ", EXACT") {
        @Override
        CountedWork.Pass start(CallCostWork work, CountedWork.Pass pass) {
            return startOurs(work, pass, MethodTiming.EXACT);
        }
    },
    FLAT("a LongAdder for each method, by ByteBuddy") {
        @Override
        boolean isFor(CallCostWork work) {
            return work.calls() > 0;
        }

        @Override
        CountedWork.Pass start(CallCostWork work, CountedWork.Pass pass) throws Exception {
            return work.shapeOf(FlatCounters.copyOf(FourShapes.class, work.classes(), work.methods()));
        }
    },
    METHOD_TIMING(MethodTimingPeer.NAME) {
        @Override
        boolean isFor(CallCostWork work) {
            return MethodTimingPeer.isThere();
        }

        @Override
        CountedWork.Pass start(CallCostWork work, CountedWork.Pass pass) throws IOException {
            new MethodTimingPeer(String.join(";", work.classes())).start();
            return pass;
        }
    },
    TRACE(Peer.ASYNC + "'s trace, calls of 1 ms and more") {
        @Override
        CountedWork.Pass start(CallCostWork work, CountedWork.Pass pass) throws Exception {
            String targets = work.methods().isEmpty()
                    ? ",trace=" + work.filter() + ".*.*:1ms"
                    : work.methods().stream()
                            .map(method -> ",trace=" + FourShapes.class.getName() + "*." + method + ":1ms")
                            .collect(Collectors.joining());
            AsyncMethodsPeer.execute("start" + targets);
            return pass;
        }
    };

    private static final double NO_LIMIT = 100;

    private final String text;

    CallCostTool(String text) {
        this.text = text;
    }

    String text() {
        return text;
    }

    boolean isFor(CallCostWork work) {
        return true;
    }

    /** Starts the tool in this JVM. Returns the pass to run from now on. */
    abstract CountedWork.Pass start(CallCostWork work, CountedWork.Pass pass) throws Exception;

    private static CountedWork.Pass startOurs(CallCostWork work, CountedWork.Pass pass, MethodTiming timing) {
        new CountingPeer(work.roots(), work.filter(), NO_LIMIT).start(timing, Instrumentation.AUTO);
        return pass;
    }
}

// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.engine;

import java.util.List;

/**
 * The engine of a sampler that cannot sample here: it accepts every call, does nothing, and names the cause. So an
 * application with the sampler runs on every platform.
 *
 * <p>Threads: any.
 */
final class InertEngine implements Engine {

    private static final int READER = 1;

    private final String cause;
    private final long startMillis = System.currentTimeMillis();

    InertEngine(String cause) {
        this.cause = cause;
    }

    /** Creates inert engines; never fails. */
    static final class Source implements Engine.Source {

        private final String cause;

        /** @param cause why nothing is sampled, one line */
        Source(String cause) {
            this.cause = cause;
        }

        @Override
        public void require() {}

        @Override
        public Engine create(OptionValues options, NativeCallbacks callbacks) {
            return new InertEngine(cause);
        }

        @Override
        public void hideCurrentThread() {}

        @Override
        public ThreadGroup hide(ThreadGroup group) {
            return group;
        }
    }

    @Override
    public RawStatistics statistics() {
        return new RawStatistics(
                "NONE (" + cause + ")", List.of("INERT", "NOTHING_SAMPLED", cause), List.of(), List.of());
    }

    @Override
    public String dump() {
        return "threads-sampler, live state\nengine: NONE (" + cause + ")\n";
    }

    @Override
    public int openReader() {
        return READER;
    }

    @Override
    public Snapshot takeInterval(int reader) {
        return new InertSnapshot(startMillis, cause);
    }

    @Override
    public Snapshot takeWindow(int window) {
        return takeInterval(READER);
    }

    @Override
    public Snapshot currentReport() {
        return takeInterval(READER);
    }
}

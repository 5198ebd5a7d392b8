// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.engine;

/**
 * A running core as {@link Lifecycle} sees it; the native one is {@link NativeHandle}. The methods are those of
 * {@link NativeBridge}, without the handle.
 */
interface Engine {

    /** Makes engines. */
    interface Source {

        /**
         * Makes sure that engines can be made here.
         *
         * @throws UnsupportedOperationException with the reason
         */
        void require();

        /** Makes an engine that does not run yet. */
        Engine create(OptionValues options, NativeCallbacks callbacks);

        /** From now on the calling thread is not sampled. */
        void hideCurrentThread();

        /** No thread is sampled that is born into this group; the same group for all calls. */
        void hide(ThreadGroup group);
    }

    void start();

    void configure(OptionValues options);

    void select(Thread[] threads, boolean only);

    void pause();

    void resume();

    void report();

    void sampleOnce();

    void stop();

    RawStatistics statistics();

    /** @return a consumer of windows, see {@link NativeBridge#openConsumer} */
    int openConsumer();

    void closeConsumer(int consumer);

    /** @return everything since the consumer's last window, held by the caller */
    Snapshot takeWindow(int consumer);

    /** For the reporter thread, from within a callback. @return what is being reported, held by the caller */
    Snapshot currentReport();

    /** Frees everything. Idempotent; all other methods then throw {@link IllegalStateException}. */
    void destroy();
}

// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.engine;

/**
 * A sampling core. The native one is {@link NativeHandle}. The methods are those of {@link NativeBridge}, without the
 * handle. By default a method without a result does nothing, as in an engine that samples nothing.
 */
interface Engine {

    /** Creates engines. */
    interface Source {

        /** Checks that engines can be created here. @throws UnsupportedOperationException with the reason */
        void require();

        /** Creates an engine that does not run yet. */
        Engine create(OptionValues options, NativeCallbacks callbacks);

        /** Makes the calling thread an internal one, which is not sampled. */
        void hideCurrentThread();

        /**
         * Makes threads of one group internal ones, if they are created from now on.
         *
         * @param group offered for that
         * @return the group: the first that was offered in this JVM
         */
        ThreadGroup hide(ThreadGroup group);
    }

    default void start() {}

    default void configure(OptionValues options) {}

    default void filterThreads(Thread[] threads, boolean only) {}

    default void resetCounts() {}

    default void pause() {}

    default void resume() {}

    default void report() {}

    default void sampleOnce() {}

    default void stop() {}

    RawStatistics statistics();

    /** @return the live state as text for people; waits for no thread of the engine */
    String dump();

    /** @return a reader of intervals, see {@link NativeBridge#openReader} */
    int openReader();

    default void closeReader(int reader) {}

    /** @return the data since the reader's last interval, held by the caller */
    Snapshot takeInterval(int reader);

    /** Keeps windows from now on, see {@link NativeBridge#keepWindows}. */
    default void keepWindows() {}

    default void forgetWindows() {}

    /** @return the data of a window, see {@link NativeBridge#takeWindow}; held by the caller */
    Snapshot takeWindow(int window);

    /** For the reporter thread, from within a callback. @return the interval of the report, held by the caller */
    Snapshot currentReport();

    /** Frees everything. Idempotent; all other methods then throw {@link IllegalStateException}. */
    default void destroy() {}
}

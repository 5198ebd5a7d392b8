// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.engine;

/**
 * What an engine is configured with, as far as it can change while the engine runs.
 *
 * @param options the properties, as the core takes them
 * @param threads the threads that are sampled
 */
record EngineConfig(OptionValues options, ThreadFilter threads) {

    /* Not equals: that of a record is made by a method handle, which on JDK 17 holds our class loader for good. */
    boolean isSameAs(EngineConfig other) {
        return threads == other.threads && options.equals(other.options);
    }

    /** Hands to an engine that has another configuration what differs. */
    void apply(Engine engine, EngineConfig had) {
        if (!options.equals(had.options)) {
            engine.configure(options);
        }
        if (threads != had.threads) {
            applyThreads(engine);
        }
    }

    void applyThreads(Engine engine) {
        engine.filterThreads(threads.alive().toArray(new Thread[0]), threads.only());
    }
}

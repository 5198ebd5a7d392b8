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

    /**
     * Hands to an engine that has another configuration what differs. Where the engine refuses it, it has the other one
     * again.
     */
    void apply(Engine engine, EngineConfig had) {
        boolean configures = !options.equals(had.options);
        if (configures) {
            engine.configure(options);
        }
        if (threads == had.threads) {
            return;
        }
        try {
            applyThreads(engine);
        } catch (RuntimeException | Error e) {
            if (configures) {
                had.restoreOptions(engine, e);
            }
            throw e;
        }
    }

    private void restoreOptions(Engine engine, Throwable cause) {
        try {
            engine.configure(options);
        } catch (RuntimeException | Error e) {
            cause.addSuppressed(e);
        }
    }

    void applyThreads(Engine engine) {
        engine.filterThreads(threads.alive().toArray(new Thread[0]), threads.only());
    }
}

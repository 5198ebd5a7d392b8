// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.remote;

/**
 * Where a pusher's messages go.
 *
 * <p>Threads: any. Never fails.
 */
@FunctionalInterface
public interface PushLog {

    /**
     * Logs.
     *
     * @param level the level
     * @param text one line
     */
    void log(System.Logger.Level level, String text);
}

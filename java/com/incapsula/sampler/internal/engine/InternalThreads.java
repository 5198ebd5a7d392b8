// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.engine;

import com.incapsula.sampler.internal.report.LibraryLog;

/**
 * The thread group of the library's internal Java threads, which are not sampled, such as those of servers and of the
 * agent. All copies of the library in a JVM share one group.
 *
 * <p>Threads: any.
 */
public final class InternalThreads {

    private static final ThreadGroup OFFERED = makeGroup();

    private InternalThreads() {}

    /**
     * The group, whose threads are not sampled from now on. If this fails, its threads are sampled.
     *
     * @param lifecycle of any sampler
     * @return the same group for each call
     */
    public static ThreadGroup hidden(Lifecycle lifecycle) {
        try {
            return lifecycle.hide(OFFERED);
        } catch (RuntimeException | Error e) {
            LibraryLog.log(System.Logger.Level.DEBUG, "the library's own threads could not be hidden", e);
        }
        return OFFERED;
    }

    private static ThreadGroup makeGroup() {
        return new ThreadGroup(TopGroup.find(), "threads-sampler");
    }
}

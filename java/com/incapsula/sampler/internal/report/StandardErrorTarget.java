// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.report;

import org.jspecify.annotations.Nullable;

/** Prints messages on standard error, before the application has a log. */
final class StandardErrorTarget implements LogTarget {

    @Override
    public void log(System.Logger.Level level, String message, @Nullable Throwable cause) {
        System.err.println("threads-sampler: " + level + ": " + message);
        if (cause != null) {
            cause.printStackTrace();
        }
    }
}

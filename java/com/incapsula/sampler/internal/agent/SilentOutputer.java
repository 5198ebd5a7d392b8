// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.agent;

import com.incapsula.sampler.internal.report.LibraryLog;
import com.incapsula.sampler.outputer.SamplingOutputer;
import org.jspecify.annotations.Nullable;

/** For samplers whose reports are fetched: drops the periodic ones. */
final class SilentOutputer implements SamplingOutputer {

    @Override
    public void printIntervalTitle(String title) {}

    @Override
    public void printThreadRecord(String threadTitle, String record) {}

    @Override
    public void printError(String message, @Nullable Throwable cause) {
        LibraryLog.log(System.Logger.Level.ERROR, message, cause);
    }

    @Override
    public void flush() {}

    @Override
    public void close() {}
}

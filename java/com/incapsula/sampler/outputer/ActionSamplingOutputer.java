// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.outputer;

import com.incapsula.sampler.SamplingReport;
import com.incapsula.sampler.internal.report.LogTarget;
import com.incapsula.sampler.internal.report.WithoutText;
import java.io.IOException;
import java.io.UncheckedIOException;
import org.jspecify.annotations.Nullable;

/** Passes each report to an action. Threads: those of the sampler. */
final class ActionSamplingOutputer implements SamplingOutputer, WithoutText {

    private static final String LOGGER_NAME = SamplingOutputer.class.getName();

    private final ReportAction action;

    ActionSamplingOutputer(ReportAction action) {
        this.action = action;
    }

    @Override
    public void report(SamplingReport report) {
        try {
            action.accept(report);
        } catch (RuntimeException e) {
            throw e;
        } catch (IOException e) {
            throw new UncheckedIOException(e.getMessage(), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e.toString(), e);
        } catch (Exception e) {
            throw new IllegalStateException(e.toString(), e);
        }
    }

    /** Does nothing: the action has received the whole report. */
    @Override
    public void printIntervalTitle(String title) {}

    /** Does nothing: the action has received the whole report. */
    @Override
    public void printThreadRecord(String threadTitle, String record) {}

    /** Logs the deadlock as a warning, because it is not part of a report. */
    @Override
    public void printDeadlock(String title, String record) {
        LogTarget.of(LOGGER_NAME).log(System.Logger.Level.WARNING, title + "\n" + record, null);
    }

    /** @return true */
    @Override
    public boolean logsErrors() {
        return true;
    }

    @Override
    public void printError(String message, @Nullable Throwable cause) {
        LogTarget.of(LOGGER_NAME).log(System.Logger.Level.ERROR, message, cause);
    }

    @Override
    public void flush() {}

    @Override
    public void close() {}
}

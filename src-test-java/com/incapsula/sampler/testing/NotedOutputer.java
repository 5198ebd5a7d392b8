// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.testing;

import com.incapsula.sampler.SamplingReport;
import com.incapsula.sampler.outputer.SamplingOutputer;

/** Calls one method for each of its calls. */
public abstract class NotedOutputer implements SamplingOutputer {

    /** @param call the called method: starting, report, title, record, error, flush or close */
    protected abstract void note(String call);

    @Override
    public void starting() {
        note("starting");
    }

    @Override
    public void report(SamplingReport report) {
        note("report");
    }

    @Override
    public void printIntervalTitle(String title) {
        note("title");
    }

    @Override
    public void printThreadRecord(String threadTitle, String record) {
        note("record");
    }

    @Override
    public void printError(String message, Throwable cause) {
        note("error");
    }

    @Override
    public void flush() {
        note("flush");
    }

    @Override
    public void close() {
        note("close");
    }
}

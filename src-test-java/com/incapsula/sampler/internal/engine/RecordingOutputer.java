// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.engine;

import com.incapsula.sampler.outputer.SamplingOutputer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** Records every call; subclasses misbehave. */
class RecordingOutputer implements SamplingOutputer {

    final List<String> calls = Collections.synchronizedList(new ArrayList<>());
    final List<Throwable> errors = Collections.synchronizedList(new ArrayList<>());

    @Override
    public void printIntervalTitle(String title) {
        calls.add("title " + title);
    }

    @Override
    public void printThreadRecord(String threadTitle, String record) {
        calls.add("record " + threadTitle + "|" + record);
    }

    @Override
    public void printError(String message, Throwable cause) {
        calls.add("error " + message);
        errors.add(cause);
    }

    @Override
    public void flush() {
        calls.add("flush");
    }

    @Override
    public void close() {
        calls.add("close");
    }
}

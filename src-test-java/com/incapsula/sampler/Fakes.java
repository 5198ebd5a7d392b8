// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import com.incapsula.sampler.internal.engine.Lifecycle;
import com.incapsula.sampler.internal.engine.Snapshot;
import com.incapsula.sampler.outputer.PrintStreamSamplingOutputer;
import java.io.OutputStream;
import java.io.PrintStream;

/** Gives tests in other packages access to package-private constructors. */
public final class Fakes {

    private Fakes() {}

    /** A report of a snapshot, with standard options. */
    public static SamplingReport report(Snapshot snapshot) {
        return report(snapshot, ReportOptions.standard());
    }

    /** A report with options, from a snapshot that a test has made. */
    public static SamplingReport report(Snapshot snapshot, ReportOptions options) {
        return new SamplingReport(snapshot, options, SamplingStatus.NONE);
    }

    /** A sampler that prints nowhere. */
    public static ThreadsSampler sampler(Lifecycle lifecycle) {
        ThreadsSampler sampler = new ThreadsSampler(lifecycle);
        sampler.setSamplingOutputer(new PrintStreamSamplingOutputer(new PrintStream(OutputStream.nullOutputStream())));
        return sampler;
    }
}

// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import com.incapsula.sampler.internal.engine.Lifecycle;
import com.incapsula.sampler.internal.engine.Snapshot;
import com.incapsula.sampler.outputer.PrintStreamSamplingOutputer;
import java.io.OutputStream;
import java.io.PrintStream;

/** Opens for tests in other packages what only this one can make. */
public final class Fakes {

    private Fakes() {}

    /** A report of a snapshot, with standard options. */
    public static SamplingReport report(Snapshot snapshot) {
        return report(snapshot, ReportOptions.standard());
    }

    /** A report with options, of a snapshot that a test makes. */
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

// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import com.incapsula.sampler.internal.Snapshot;

/** Reports for tests in other packages. */
public final class Reports {

    private Reports() {
    }

    /** A report of a snapshot, with standard options. */
    public static SamplingReport of(Snapshot snapshot) {
        return new SamplingReport(snapshot, ReportOptions.standard());
    }
}

// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.engine;

import com.incapsula.sampler.ReportWeight;
import java.util.List;

/**
 * A line of code, with what its frames have themselves, over all thread groups of a snapshot.
 *
 * @param text the frame as it is printed
 * @param amounts of each measure, see {@link RawReport#measures}
 */
public record HotLine(String text, List<Long> amounts) {

    /**
     * One of its amounts.
     *
     * @param measure which
     * @return nanoseconds, or how many
     */
    public long of(ReportWeight measure) {
        return amounts.get(measure.ordinal());
    }
}

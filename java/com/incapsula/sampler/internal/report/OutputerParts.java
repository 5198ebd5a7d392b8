// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.report;

import com.incapsula.sampler.outputer.SamplingOutputer;
import java.util.List;

/** An outputer made of others. */
public interface OutputerParts {

    /**
     * What it is made of.
     *
     * @return none of which has parts itself; not modifiable
     */
    List<SamplingOutputer> parts();

    /**
     * The outputers that an outputer is made of.
     *
     * @param outputer any
     * @return its parts, or itself alone
     */
    static List<SamplingOutputer> of(SamplingOutputer outputer) {
        return outputer instanceof OutputerParts whole ? whole.parts() : List.of(outputer);
    }
}

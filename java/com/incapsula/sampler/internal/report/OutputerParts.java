// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.report;

import com.incapsula.sampler.outputer.SamplingOutputer;
import java.util.List;

/** An outputer that consists of other outputers. */
public interface OutputerParts {

    /** {@return the parts, which have no parts of their own; not modifiable} */
    List<SamplingOutputer> parts();

    /** {@return the parts of an outputer, or the outputer itself if it has none} */
    static List<SamplingOutputer> of(SamplingOutputer outputer) {
        return outputer instanceof OutputerParts whole ? whole.parts() : List.of(outputer);
    }
}

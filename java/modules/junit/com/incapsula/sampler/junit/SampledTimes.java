// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.junit;

/**
 * Where the time of a failed test went: suppressed in the test's own failure. Its message is all that it has; it was
 * thrown nowhere.
 *
 * @since 1.0
 */
public final class SampledTimes extends Exception {

    private static final long serialVersionUID = 1;

    SampledTimes(String text) {
        super(text, null, false, false);
    }
}

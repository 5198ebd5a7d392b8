// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.junit;

/**
 * The hottest lines of a failed test, as a suppressed exception of the test's failure. It only carries its message and
 * is never thrown.
 *
 * @since 1.0
 */
public final class SampledTimes extends Exception {

    private static final long serialVersionUID = 1;

    SampledTimes(String text) {
        super(text, null, false, false);
    }
}

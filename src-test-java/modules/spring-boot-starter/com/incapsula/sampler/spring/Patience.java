// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.spring;

import java.time.Duration;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;

/** Waits of these tests. */
final class Patience {

    private static final Duration LONG = Duration.ofMinutes(2);

    private Patience() {}

    /** @return a wait with a longer limit than the default of ten seconds, which may be too short on a busy machine */
    static ConditionFactory patiently() {
        return Awaitility.await().atMost(LONG);
    }
}

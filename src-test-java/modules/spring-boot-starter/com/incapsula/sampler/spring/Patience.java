// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.spring;

import java.time.Duration;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;

/** How these tests wait. */
final class Patience {

    private static final Duration LONG = Duration.ofMinutes(2);

    private Patience() {}

    /** @return waits longer than by default: ten seconds are few on a busy machine */
    static ConditionFactory patiently() {
        return Awaitility.await().atMost(LONG);
    }
}

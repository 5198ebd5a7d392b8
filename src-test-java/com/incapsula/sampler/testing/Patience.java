// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.testing;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** Lets each {@code await()} of a test wait for {@link Samplers#LONG}: Awaitility's ten seconds are few on a busy machine. */
public final class Patience implements BeforeAllCallback {

    @Override
    public void beforeAll(ExtensionContext context) {
        Awaitility.setDefaultTimeout(Samplers.LONG);
    }
}

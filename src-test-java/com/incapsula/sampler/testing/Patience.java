// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.testing;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Sets the default time limit of {@code await()} in all tests to {@link Samplers#LONG}, because Awaitility's ten
 * seconds may be too short on a busy machine.
 */
public final class Patience implements BeforeAllCallback {

    @Override
    public void beforeAll(ExtensionContext context) {
        Awaitility.setDefaultTimeout(Samplers.LONG);
    }
}

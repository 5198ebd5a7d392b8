// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.testing;

import java.util.concurrent.CountDownLatch;

/** Defined once more as a hidden class. */
public final class HiddenWork implements WithDefault {

    @Override
    public void work(CountDownLatch goHome) {
        while (goHome.getCount() > 0) {
            RedefinedWork.sum += goHome.hashCode();
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.testing;

import java.util.concurrent.CountDownLatch;

/** The interface's default method calls the method of the class. */
public interface WithDefault {

    void work(CountDownLatch goHome);

    /** Works. */
    default void workByDefault(CountDownLatch goHome) {
        NoIdsProgram.setDefaultLine(RedefinedWork.lineOfCaller() + 1);
        work(goHome);
    }
}

// SPDX-License-Identifier: Apache-2.0
package com.example.faults;

/** A service under load. */
@FunctionalInterface
public interface Service {

    /**
     * Runs it.
     *
     * @param seconds for so long
     * @return how much it has done
     */
    long run(long seconds) throws Exception;
}

// SPDX-License-Identifier: Apache-2.0
package com.example.faults;

/** A service under load. */
@FunctionalInterface
public interface Service {

    /**
     * Runs the service.
     *
     * @param seconds the run time
     * @return the amount of work done
     */
    long run(long seconds) throws Exception;
}

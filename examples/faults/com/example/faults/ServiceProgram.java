// SPDX-License-Identifier: Apache-2.0
package com.example.faults;

import com.incapsula.sampler.ThreadsSampler;

/**
 * Runs a service in a JVM of its own. Arguments: the class of the {@link Service}, seconds, and {@value #WITH_BEAN} if
 * it runs with a sampler.
 */
public final class ServiceProgram {

    static final String WITH_BEAN = "bean";

    private ServiceProgram() {}

    public static void main(String[] args) throws Exception {
        Service service =
                (Service) Class.forName(args[0]).getDeclaredConstructor().newInstance();
        long seconds = Long.parseLong(args[1]);
        System.exit((args.length > 2 ? runBesideBean(service, seconds) : service.run(seconds)) > 0 ? 0 : 1);
    }

    private static long runBesideBean(Service service, long seconds) throws Exception {
        try (ThreadsSampler sampler = new ThreadsSampler()) {
            sampler.init();
            return service.run(seconds);
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
/**
 * The sampler that stays on: shows where the time of every thread of a running HotSpot JVM goes.
 *
 * <p>Needs nothing but {@code java.base}. Used where they are present: SLF4J by
 * {@link com.incapsula.sampler.outputer.LoggerSamplingOutputer}, {@code java.management} and {@code jdk.jfr} to show the sampler
 * to the JVM's own tools, {@code java.logging} where reports and messages are logged without SLF4J,
 * {@code java.net.http} by {@link com.incapsula.sampler.remote.RemoteSamplingOutputer}, {@code jdk.attach} by the jar's
 * command line; JUnit, JMH and Micrometer by the packages with their names. Only compilers read JSpecify's
 * {@code @Nullable}.
 *
 * @since 1.0
 */
module com.incapsula.sampler {
    requires static java.logging;
    requires static java.management;
    requires static java.net.http;
    requires static jdk.attach;
    requires static jdk.jfr;
    requires static jmh.core;
    requires static micrometer.core;
    requires static org.jspecify;
    requires static org.junit.jupiter.api;
    requires static org.slf4j;

    exports com.incapsula.sampler;
    exports com.incapsula.sampler.jmh;
    exports com.incapsula.sampler.junit;
    exports com.incapsula.sampler.manipulate;
    exports com.incapsula.sampler.micrometer;
    exports com.incapsula.sampler.outputer;
    exports com.incapsula.sampler.remote;
}

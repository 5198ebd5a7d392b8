// SPDX-License-Identifier: Apache-2.0
/**
 * A sampler for production, which shows where the time of every thread of a running HotSpot JVM goes.
 *
 * <p>Needs only {@code java.base}. Optional modules: SLF4J for
 * {@link com.incapsula.sampler.outputer.LoggerSamplingOutputer}, {@code java.management} and {@code jdk.jfr} for JMX
 * and flight recordings, {@code java.logging} to log without SLF4J, {@code java.net.http} for
 * {@link com.incapsula.sampler.remote.RemoteSamplingOutputer}, {@code java.instrument} for the agent,
 * {@code jdk.attach} for the command line. Only compilers read JSpecify's annotations. The artifacts for JUnit, JMH and
 * Micrometer are separate modules.
 *
 * @since 1.0
 */
@SuppressWarnings("module") // modules that it exports to are compiled later
module com.incapsula.sampler {
    requires static java.instrument;
    requires static java.logging;
    requires static java.management;
    requires static java.net.http;
    requires static jdk.attach;
    requires static jdk.jfr;
    requires static org.jspecify;
    requires static org.slf4j;

    exports com.incapsula.sampler;
    exports com.incapsula.sampler.manipulate;
    exports com.incapsula.sampler.outputer;
    exports com.incapsula.sampler.remote;

    // Helpers of the other artifacts.
    exports com.incapsula.sampler.internal.engine to
            com.incapsula.sampler.micrometer,
            com.incapsula.sampler.spring;
    exports com.incapsula.sampler.internal.options to
            com.incapsula.sampler.spring;
    exports com.incapsula.sampler.internal.report to
            com.incapsula.sampler.jmh,
            com.incapsula.sampler.junit,
            com.incapsula.sampler.micrometer;
}

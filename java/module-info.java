// SPDX-License-Identifier: Apache-2.0
/**
 * The sampler that stays on: shows where the time of every thread of a running HotSpot JVM goes.
 *
 * <p>Needs nothing but {@code java.base}. Used where they are present: SLF4J by
 * {@link com.incapsula.sampler.outputer.LoggerSamplingOutputer}, {@code java.management} and {@code jdk.jfr} to show the sampler
 * to the JVM's own tools, {@code java.logging} where reports and messages are logged without SLF4J,
 * {@code java.net.http} by {@link com.incapsula.sampler.remote.RemoteSamplingOutputer}, {@code java.instrument} where the jar
 * is an agent, {@code jdk.attach} by its command line. Only compilers read JSpecify's annotations. The artifacts for JUnit, JMH and Micrometer are modules of their
 * own.
 *
 * @since 1.0
 */
@SuppressWarnings("module") // the artifacts that it exports to are compiled later
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

    // The other artifacts' helpers.
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

// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.spring;

import com.incapsula.sampler.Instrumentation;
import com.incapsula.sampler.MethodTiming;
import com.incapsula.sampler.ReportAccount;
import com.incapsula.sampler.ReportFormat;
import com.incapsula.sampler.ReportOrder;
import com.incapsula.sampler.SamplingClock;
import com.incapsula.sampler.SamplingEngine;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.boot.convert.DurationUnit;
import org.springframework.util.unit.DataSize;

/**
 * The properties {@code threads-sampler.*}. The names are those of the sampler's own properties, without units: a time
 * is a {@link Duration}, a size a {@link DataSize}. The sampler's setters check the values. A test compares the
 * defaults.
 *
 * @param enabled Whether there are a sampler, its endpoint and its meters.
 * @param autoStart Whether the sampler starts together with the application. If not, the endpoint starts it.
 * @param required Whether the application does not start where sampling is not possible or a property is wrong. If not,
 *     a warning says so.
 * @param active Whether threads are sampled. If not, the sampler runs at next to no cost.
 * @param monitoredPackages Prefixes of your packages. The time of a library call is added to the method that your code
 *     called. Empty: all.
 * @param samplingFrequency Mean time between two samples of a thread, 1ms to 1h.
 * @param skipDaemonThreads Whether daemon threads are not sampled.
 * @param sampleUnmountedVirtualThreads Whether virtual threads that are not mounted are sampled, too. Needs JDK 25.
 * @param clock Time that is sampled: WALL shows waiting and computing, CPU computing only.
 * @param engine Way in which stacks are walked. AUTO takes the exact ways that this JVM allows, JVMTI handshakes only.
 * @param samplingSignal Number of the real-time signal for running threads, 34 to 64.
 * @param idleLookback Longest time between two polls of an idle thread, 1ms to 1m.
 * @param overheadLimitPercent CPU time that the sampler may use, 0.1 to 100 percent of one core.
 * @param memoryLimit Native memory of the sampler, 4MB to 1TB.
 * @param maxDepthFrames Frames of one stack that are reported, 16 to 65536.
 * @param ioMethods Methods in which a waiting thread does I/O.
 * @param idleMethods Methods in which a waiting thread waits for work.
 * @param errorBars Whether reports have a 95 % confidence interval for each time.
 * @param closeTimeout Longest time that the end of the sampler waits for an output that blocks, at most one day. 0:
 *     without a limit.
 * @param jmxName Name of the sampler's MXBean. By default it has none.
 * @param jfrEvents Whether the sampler's events are in all flight recordings.
 */
@ConfigurationProperties(ThreadsSamplerProperties.PREFIX)
record ThreadsSamplerProperties(
        @DefaultValue("true") boolean enabled,
        @DefaultValue("true") boolean autoStart,
        boolean required,
        @DefaultValue("true") boolean active,
        @DefaultValue List<String> monitoredPackages,
        @DefaultValue("50ms") Duration samplingFrequency,
        boolean skipDaemonThreads,
        boolean sampleUnmountedVirtualThreads,
        @DefaultValue("wall") SamplingClock clock,
        @DefaultValue("auto") SamplingEngine engine,
        @DefaultValue("38") int samplingSignal,
        @DefaultValue("1s") Duration idleLookback,
        @DefaultValue("1.0") double overheadLimitPercent,
        @DefaultValue("64MB") DataSize memoryLimit,
        @DefaultValue("1024") int maxDepthFrames,
        @DefaultValue List<String> ioMethods,
        @DefaultValue List<String> idleMethods,
        @DefaultValue("true") boolean errorBars,

        @DefaultValue("60s") @DurationUnit(ChronoUnit.SECONDS)
        Duration closeTimeout,

        @Nullable String jmxName,
        boolean jfrEvents,
        @DefaultValue Report report,
        @DefaultValue Counting counting,
        @DefaultValue Output output,
        @DefaultValue Server server) {

    /** How the names of all properties begin. */
    static final String PREFIX = "threads-sampler";

    /**
     * When reports are made, and what is in them.
     *
     * @param frequency Time between two reports, at most one year. 0: one report, when the application ends.
     * @param order Order of the rows below the same row.
     * @param minPercent Rows of text reports below this share of their group's active time, in percent, are one row; 0
     *     shows all.
     * @param maxGroups How many thread groups a report shows, 1 to 20000; the others are one, [other threads].
     * @param account How much of the sampler's own account text reports have: SHORT or FULL.
     * @param summary Whether a report begins with a summary: where the active time went, by lines of your code.
     * @param cpuTime Whether rows of reports have a column with CPU time.
     * @param states Whether rows end with their time by state: running, runnable, blocked, I/O, waiting, idle.
     * @param percent Whether rows of reports have a column with their share of the group.
     * @param jvmThreads Whether the JVM's own threads are a group of the report.
     * @param zeroTimePackages Whether rows without own time are kept where the package changes.
     * @param foldRecursion Whether a recursion is one row with its depth in text reports and pages.
     */
    record Report(
            @DefaultValue("15m") @DurationUnit(ChronoUnit.SECONDS)
            Duration frequency,

            @DefaultValue("by-name") ReportOrder order,
            @DefaultValue("0.5") double minPercent,
            @DefaultValue("500") int maxGroups,
            @DefaultValue("short") ReportAccount account,
            @DefaultValue("true") boolean summary,
            boolean cpuTime,
            boolean states,
            boolean percent,
            @DefaultValue("true") boolean jvmThreads,
            boolean zeroTimePackages,
            @DefaultValue("true") boolean foldRecursion) {}

    /**
     * Calls that are counted, from root methods on.
     *
     * @param rootMethods Methods from which on calls are counted. Empty: none.
     * @param instrumentation Which methods below the root methods are counted, and from when on.
     * @param instrumentationFilter Prefixes of the classes with methods that are counted. One with a minus leaves
     *     classes out. Empty: all but those of the JDK.
     * @param methodTiming Source of the times of counted calls.
     * @param discardWarmUp Whether counted calls begin at zero once no method has newly been instrumented for three
     *     seconds.
     * @param maxCountedMethods Methods that are counted, 1 to 1048576.
     * @param maxCallNodes Nodes of a thread's tree of calls, 64 to 100000000.
     * @param maxCallDepth Depth of a thread's tree of calls, 1 to 1000000.
     */
    record Counting(
            @DefaultValue List<String> rootMethods,
            @DefaultValue("auto") Instrumentation instrumentation,
            @DefaultValue List<String> instrumentationFilter,
            @DefaultValue("sampled") MethodTiming methodTiming,
            boolean discardWarmUp,
            @DefaultValue("32768") int maxCountedMethods,
            @DefaultValue("100000") int maxCallNodes,
            @DefaultValue("1000") int maxCallDepth) {}

    /** The destination of reports. There may be several places at once. */
    record Output(
            @DefaultValue Log log,
            @DefaultValue File file,
            @DefaultValue Push push) {}

    /**
     * The application's log.
     *
     * @param enabled Whether reports are logged. By default they are if they go to no other place, except in tests.
     * @param format Form of logged reports, TEXT, TOP or CALLS.
     * @param loggerName Name of the logger. By default the full name of LoggerSamplingOutputer.
     * @param level Level of logged reports, one of TRACE, DEBUG, INFO, WARN and ERROR.
     * @param perGroup Whether each thread group is an event of the log. If not, each report is one event.
     */
    record Log(
            @Nullable Boolean enabled,
            @DefaultValue("text") ReportFormat format,
            @Nullable String loggerName,
            @DefaultValue("INFO") String level,
            @DefaultValue("true") boolean perGroup) {}

    /**
     * A file for each report.
     *
     * @param path Path of the files; %t is replaced by the time, %n by a number. Without it there are no files.
     * @param format Form of the files. By default what the extension says.
     * @param maxFiles Files that are kept, the newest.
     * @param maxTotalSize Size of the kept files together. The newest is kept in any case.
     */
    record File(
            @Nullable String path,
            @Nullable ReportFormat format,
            @DefaultValue("100") int maxFiles,
            @DefaultValue("256MB") DataSize maxTotalSize) {}

    /**
     * A server that keeps profiles.
     *
     * @param url URL of the server, such as otlp+http://collector:4318 or pyroscope+http://pyroscope:4040. Without it
     *     nothing is sent.
     * @param serviceName Name of the service. By default OTEL_SERVICE_NAME, else spring.application.name.
     * @param resourceAttributes Attributes of the service. By default OTEL_RESOURCE_ATTRIBUTES.
     * @param headers Headers of the requests. By default OTEL_EXPORTER_OTLP_PROFILES_HEADERS or
     *     OTEL_EXPORTER_OTLP_HEADERS for OTLP.
     * @param queueLimit Size of all reports that wait, 64KB to 1GB. Past it the oldest are dropped.
     * @param reportLimit Size of one report, packed, 4KB to 256MB. A longer one is not sent.
     * @param timeout Longest time of one attempt, 1ms to 10m. By default OTEL_EXPORTER_OTLP_PROFILES_TIMEOUT or
     *     OTEL_EXPORTER_OTLP_TIMEOUT for OTLP, else 10s.
     * @param spread Longest time, drawn at random, that a report waits before it is sent, at most 10m.
     * @param closeTimeout Longest time for which the end of the sampler sends what waits, at most 10m.
     */
    record Push(
            @Nullable String url,
            @Nullable String serviceName,
            @DefaultValue Map<String, String> resourceAttributes,
            @DefaultValue Map<String, String> headers,
            @DefaultValue("16MB") DataSize queueLimit,
            @DefaultValue("4MB") DataSize reportLimit,
            @DurationUnit(ChronoUnit.SECONDS) @Nullable Duration timeout,

            @DefaultValue("5s") @DurationUnit(ChronoUnit.SECONDS)
            Duration spread,

            @DefaultValue("5s") @DurationUnit(ChronoUnit.SECONDS)
            Duration closeTimeout) {}

    /**
     * The sampler's own server.
     *
     * @param enabled Whether the sampler has an HTTP server of its own.
     * @param host Address on which the server listens.
     * @param port Port on which the server listens. 0: a free one.
     * @param token Secret that each request must carry. By default none.
     * @param allowedHosts Names by which clients may call the server, besides its address.
     * @param maxTime Longest time that a request may ask to be sampled, 1s to 1h.
     * @param mcp Whether tools for language models are served.
     */
    record Server(
            boolean enabled,
            @DefaultValue("127.0.0.1") String host,
            int port,
            @Nullable String token,
            @DefaultValue List<String> allowedHosts,

            @DefaultValue("60s") @DurationUnit(ChronoUnit.SECONDS)
            Duration maxTime,

            boolean mcp) {}
}

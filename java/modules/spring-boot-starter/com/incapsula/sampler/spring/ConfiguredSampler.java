// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.spring;

import com.incapsula.sampler.ThreadsSampler;
import com.incapsula.sampler.ThreadsSamplerServer;
import java.util.List;

/**
 * Sets the values of {@code threads-sampler.*} on a sampler and its server.
 *
 * <p>Errors: an {@link IllegalArgumentException} names the property whose value is wrong.
 *
 * <p>Threads: one.
 */
final class ConfiguredSampler {

    private final ThreadsSampler sampler;

    ConfiguredSampler(ThreadsSampler sampler) {
        this.sampler = sampler;
    }

    void configure(ThreadsSamplerProperties properties) {
        whatIsSampled(properties);
        how(properties);
        reports(properties.report());
        counting(properties.counting());
    }

    private static String joined(List<String> parts) {
        return String.join(",", parts);
    }

    private void whatIsSampled(ThreadsSamplerProperties of) {
        Setting in = new Setting("");
        in.set("active", of.active(), sampler::setActive);
        in.set("required", of.required(), sampler::setRequired);
        in.set("monitored-packages", joined(of.monitoredPackages()), sampler::setMonitoredPackages);
        in.setMillis("sampling-frequency", of.samplingFrequency(), sampler::setSamplingFrequencyMillis);
        in.set("skip-daemon-threads", of.skipDaemonThreads(), sampler::setSkipDaemonThreads);
        in.set(
                "sample-unmounted-virtual-threads",
                of.sampleUnmountedVirtualThreads(),
                sampler::setSampleUnmountedVirtualThreads);
        in.set("io-methods", joined(of.ioMethods()), sampler::setIoMethods);
        in.set("idle-methods", joined(of.idleMethods()), sampler::setIdleMethods);
    }

    private void how(ThreadsSamplerProperties of) {
        Setting in = new Setting("");
        in.set("clock", of.clock(), sampler::setClock);
        in.set("engine", of.engine(), sampler::setEngine);
        in.set("sampling-signal", of.samplingSignal(), sampler::setSamplingSignal);
        in.setMillis("idle-lookback", of.idleLookback(), sampler::setIdleLookbackMillis);
        in.set("overhead-limit-percent", of.overheadLimitPercent(), sampler::setOverheadLimitPercent);
        in.set("memory-limit", of.memoryLimit().toBytes(), sampler::setMemoryLimitBytes);
        in.set("max-depth-frames", of.maxDepthFrames(), sampler::setMaxDepthFrames);
        in.set("error-bars", of.errorBars(), sampler::setErrorBars);
        in.setSeconds("close-timeout", of.closeTimeout(), sampler::setCloseTimeoutSeconds);
        in.setIfPresent("jmx-name", of.jmxName(), sampler::setJmxName);
        in.set("jfr-events", of.jfrEvents(), sampler::setJfrEvents);
    }

    private void reports(ThreadsSamplerProperties.Report report) {
        Setting in = new Setting("report.");
        in.setSeconds("frequency", report.frequency(), sampler::setReportFrequencySeconds);
        in.set("order", report.order(), sampler::setReportOrder);
        in.set("min-percent", report.minPercent(), sampler::setReportMinPercent);
        in.set("max-groups", report.maxGroups(), sampler::setMaxGroups);
        in.set("account", report.account(), sampler::setReportAccount);
        in.set("summary", report.summary(), sampler::setReportSummary);
        in.set("cpu-time", report.cpuTime(), sampler::setReportCpuTime);
        in.set("states", report.states(), sampler::setReportStates);
        in.set("percent", report.percent(), sampler::setReportPercent);
        in.set("jvm-threads", report.jvmThreads(), sampler::setReportJvmThreads);
        in.set("zero-time-packages", report.zeroTimePackages(), sampler::setReportZeroTimePackages);
        in.set("fold-recursion", report.foldRecursion(), sampler::setFoldRecursion);
    }

    private void counting(ThreadsSamplerProperties.Counting counting) {
        Setting in = new Setting("counting.");
        in.set("root-methods", joined(counting.rootMethods()), sampler::setRootMethods);
        in.set("instrumentation", counting.instrumentation(), sampler::setInstrumentation);
        in.set("instrumentation-filter", joined(counting.instrumentationFilter()), sampler::setInstrumentationFilter);
        in.set("method-timing", counting.methodTiming(), sampler::setMethodTiming);
        in.set("discard-warm-up", counting.discardWarmUp(), sampler::setDiscardWarmUp);
        in.set("max-counted-methods", counting.maxCountedMethods(), sampler::setMaxCountedMethods);
        in.set("max-call-nodes", counting.maxCallNodes(), sampler::setMaxCallNodes);
        in.set("max-call-depth", counting.maxCallDepth(), sampler::setMaxCallDepth);
    }

    /** @return a server for the sampler that is not started */
    ThreadsSamplerServer server(ThreadsSamplerProperties.Server settings) {
        ThreadsSamplerServer server = new ThreadsSamplerServer();
        server.setSampler(sampler);
        Setting in = new Setting("server.");
        in.set("host", settings.host(), server::setHost);
        in.set("port", settings.port(), server::setPort);
        in.setIfPresent("token", settings.token(), server::setToken);
        in.set("allowed-hosts", joined(settings.allowedHosts()), server::setAllowedHosts);
        in.setIntSeconds("max-time", settings.maxTime(), server::setMaxSeconds);
        in.set("mcp", settings.mcp(), server::setMcp);
        return server;
    }
}

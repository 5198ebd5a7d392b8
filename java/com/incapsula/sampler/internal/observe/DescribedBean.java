// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.observe;

import com.incapsula.sampler.ThreadsSamplerMXBean;
import java.util.List;
import java.util.Map;
import javax.management.MBeanAttributeInfo;
import javax.management.MBeanFeatureInfo;
import javax.management.MBeanInfo;
import javax.management.MBeanOperationInfo;
import javax.management.MBeanParameterInfo;
import javax.management.StandardMBean;

/**
 * The sampler's MXBean with texts for JMX tools: descriptions with units, names of parameters, and the impact of
 * operations. Needs the module {@code java.management}.
 */
final class DescribedBean extends StandardMBean {

    /* Descriptions by the JMX names of attributes and operations; JmxTest compares them with the interface. */
    private static final Map<String, String> DESCRIPTIONS = Map.ofEntries(
            Map.entry("Mode", "How stacks are walked: OWN, ASYNC_GET_CALL_TRACE, JVMTI or INERT"),
            Map.entry("Inert", "Whether nothing is sampled"),
            Map.entry("Limitations", "What the sampler cannot do here, or does in a worse way: codes, comma-separated"),
            Map.entry("Engine", "Mode and limitations in one line, for people"),
            Map.entry("Clock", "Which time is sampled: WALL or CPU"),
            Map.entry("Paused", "Whether sampling is paused"),
            Map.entry("Active", "Whether sampling is switched on"),
            Map.entry("SamplingFrequencyMillis", "Mean time between two samples of a thread, milliseconds"),
            Map.entry("ReportFrequencySeconds", "Time between two reports, seconds; 0: one report, at the end"),
            Map.entry("MonitoredPackages", "Packages of interest, prefixes separated by commas; empty: all"),
            Map.entry("RootMethods", "From which methods down calls are counted; empty: none"),
            Map.entry("Instrumentation", "Which methods below the roots are counted: LAZY, EAGER or TOTAL"),
            Map.entry("MethodTiming", "Where the times of counted calls come from: SAMPLED, EXACT or NONE"),
            Map.entry("Threads", "Threads sampled in the last tick"),
            Map.entry("Polls", "Checks of a thread since the start, each with one outcome"),
            Map.entry("ReportsWritten", "Reports the outputer took without failing, since the start"),
            Map.entry("MemoryUsedBytes", "Native memory in use, bytes"),
            Map.entry("MemoryLimitBytes", "Limit of native memory, bytes"),
            Map.entry("OwnCpuNanos", "CPU time of the sampler itself since the start, nanoseconds"),
            Map.entry("ElapsedNanos", "Time since the start without pauses, nanoseconds"),
            Map.entry("pause", "Pauses sampling: no time is credited until resume"),
            Map.entry("resume", "Ends a pause"),
            Map.entry("report", "Ends the interval and writes its report to the outputer; returns when it is written"),
            Map.entry("resetCollectedResults", "Counted calls of the running interval, and their times, begin at zero"),
            Map.entry("set", "Changes one property of the sampler, from the next tick on"),
            Map.entry(
                    "statistics", "What was counted since the start (total.) and in the current interval (interval.)"),
            Map.entry("limitations", "Why each of the limitations is there, by code"),
            Map.entry("dump", "The sampler's live state, for people: threads, queues, memory, throttle, options"),
            Map.entry("top", "Waits and gives the hottest lines of your code, and the hottest methods, of that time"),
            Map.entry("states", "Waits and gives how long the threads of each group were in each state, nanoseconds"),
            Map.entry("summary", "Waits and gives the summary of that time"),
            Map.entry("hotSpots", "Waits and gives the lines of your code with the most active time, nanoseconds"));

    /* Names and descriptions of the parameters, by operation. */
    private static final Map<String, List<Map.Entry<String, String>>> PARAMETERS = Map.of(
            "set",
                    List.of(
                            Map.entry("name", "A property of ThreadsSampler, such as samplingFrequencyMillis"),
                            Map.entry("value", "Its new value, such as 20ms, true, BY_TIME or com.acme,org.example")),
            "top", List.of(Map.entry("seconds", "How long to wait, 1 to 60 seconds")),
            "states", List.of(Map.entry("seconds", "How long to wait, 1 to 60 seconds")),
            "summary", List.of(Map.entry("seconds", "How long to wait, 1 to 60 seconds")),
            "hotSpots", List.of(Map.entry("seconds", "How long to wait, 1 to 60 seconds")));

    /** @param bean the sampler */
    DescribedBean(ThreadsSamplerMXBean bean) {
        super(bean, ThreadsSamplerMXBean.class, true);
    }

    @Override
    protected String getDescription(MBeanInfo info) {
        return "A running threads-sampler: what it counted, and a switch";
    }

    @Override
    protected String getDescription(MBeanFeatureInfo info) {
        return DESCRIPTIONS.getOrDefault(info.getName(), info.getDescription());
    }

    @Override
    protected String getDescription(MBeanAttributeInfo info) {
        return getDescription((MBeanFeatureInfo) info);
    }

    @Override
    protected String getDescription(MBeanOperationInfo info) {
        return getDescription((MBeanFeatureInfo) info);
    }

    @Override
    protected int getImpact(MBeanOperationInfo info) {
        return info.getReturnType().equals("void") ? MBeanOperationInfo.ACTION : MBeanOperationInfo.INFO;
    }

    @Override
    protected String getParameterName(MBeanOperationInfo operation, MBeanParameterInfo parameter, int sequence) {
        return parameterOf(operation, sequence).getKey();
    }

    @Override
    protected String getDescription(MBeanOperationInfo operation, MBeanParameterInfo parameter, int sequence) {
        return parameterOf(operation, sequence).getValue();
    }

    private static Map.Entry<String, String> parameterOf(MBeanOperationInfo operation, int sequence) {
        return PARAMETERS.getOrDefault(operation.getName(), List.of()).get(sequence);
    }
}

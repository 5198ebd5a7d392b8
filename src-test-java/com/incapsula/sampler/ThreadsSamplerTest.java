// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import com.incapsula.sampler.manipulate.MapBasedThreadNameManipulator;
import com.incapsula.sampler.manipulate.RegexThreadNameManipulator;
import com.incapsula.sampler.outputer.LoggerSamplingOutputer;
import com.incapsula.sampler.outputer.PrintStreamSamplingOutputer;
import java.beans.BeanInfo;
import java.beans.Introspector;
import java.beans.PropertyDescriptor;
import java.io.IOException;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** The bean before it is started; needs no native library. */
class ThreadsSamplerTest {

    private final ThreadsSampler sampler = new ThreadsSampler();

    @Test
    void isABeanWithASetterAndAGetterPerProperty() throws Exception {
        BeanInfo bean = Introspector.getBeanInfo(ThreadsSampler.class, Object.class);
        Map<String, PropertyDescriptor> properties = Arrays.stream(bean.getPropertyDescriptors())
                .collect(Collectors.toMap(PropertyDescriptor::getName, Function.identity()));

        assertThat(properties)
                .containsOnlyKeys(
                        "rootMethods",
                        "instrumentation",
                        "instrumentationFilter",
                        "methodTiming",
                        "discardWarmUp",
                        "errorBars",
                        "maxCountedMethods",
                        "maxCallNodes",
                        "maxCallDepth",
                        "maxGroups",
                        "samplingFrequencyMillis",
                        "reportFrequencySeconds",
                        "monitoredPackages",
                        "threadToBeSampled",
                        "sampleTheseThreadsOnly",
                        "skipDaemonThreads",
                        "reportZeroTimePackages",
                        "active",
                        "samplingOutputer",
                        "threadNameManipulator",
                        "reportOrder",
                        "memoryLimitBytes",
                        "maxDepthFrames",
                        "engine",
                        "clock",
                        "samplingSignal",
                        "idleLookbackMillis",
                        "overheadLimitPercent",
                        "reportCpuTime",
                        "reportStates",
                        "ioMethods",
                        "idleMethods",
                        "reportJvmThreads",
                        "sampleUnmountedVirtualThreads",
                        "reportPercent",
                        "reportMinPercent",
                        "reportAccount",
                        "reportSummary",
                        "foldRecursion",
                        "jmxName",
                        "jfrEvents",
                        "required",
                        "closeTimeoutSeconds",
                        "closeOutputer",
                        "samplingFrequency",
                        "reportFrequency",
                        "idleLookback",
                        "closeTimeout",
                        "paused",
                        "running",
                        "statistics");
        properties.forEach((name, property) -> {
            assertThat(property.getReadMethod()).as("getter of " + name).isNotNull();
            if (!List.of("paused", "running", "statistics").contains(name)) {
                assertThat(property.getWriteMethod()).as("setter of " + name).isNotNull();
            }
        });
    }

    @Test
    void noMethodIsOverloaded() {
        assertThat(Arrays.stream(ThreadsSampler.class.getDeclaredMethods())
                        .filter(method -> !method.isSynthetic())
                        .map(Method::getName))
                .doesNotHaveDuplicates();
    }

    @Test
    void defaults() {
        assertThat(sampler.isRequired()).isFalse();
        assertThat(sampler.getCloseTimeoutSeconds()).isEqualTo(60);
        assertThat(sampler.getSamplingFrequencyMillis()).isEqualTo(50);
        assertThat(sampler.getReportFrequencySeconds()).isEqualTo(900);
        assertThat(sampler.getMonitoredPackages()).isEmpty();
        assertThat(sampler.getThreadToBeSampled()).isNull();
        assertThat(sampler.getSampleTheseThreadsOnly()).isEmpty();
        assertThat(sampler.isSkipDaemonThreads()).isFalse();
        assertThat(sampler.isReportZeroTimePackages()).isFalse();
        assertThat(sampler.isActive()).isTrue();
        assertThat(sampler.isPaused()).isFalse();
        assertThat(sampler.getReportOrder()).isEqualTo(ReportOrder.BY_NAME);
        assertThat(sampler.isReportPercent()).isFalse();
        assertThat(sampler.getReportMinPercent()).isEqualTo(0.5);
        assertThat(sampler.getReportAccount()).isEqualTo(ReportAccount.SHORT);
        assertThat(sampler.isReportSummary()).isTrue();
        assertThat(sampler.isFoldRecursion()).isTrue();
        assertThat(sampler.isErrorBars()).isTrue();
        assertThat(sampler.getJmxName()).isNull();
        assertThat(sampler.isJfrEvents()).isFalse();
        assertThat(sampler.getMemoryLimitBytes()).isEqualTo(64L * 1024 * 1024);
        assertThat(sampler.getMaxDepthFrames()).isEqualTo(1024);
        assertThat(sampler.getEngine()).isEqualTo(SamplingEngine.AUTO);
        assertThat(sampler.getSamplingSignal()).isEqualTo(38);
        assertThat(sampler.getClock()).isEqualTo(SamplingClock.WALL);
        assertThat(sampler.getIdleLookbackMillis()).isEqualTo(1000);
        assertThat(sampler.getOverheadLimitPercent()).isEqualTo(1.0);
        assertThat(sampler.isReportCpuTime()).isFalse();
        assertThat(sampler.isReportStates()).isFalse();
        assertThat(sampler.getIoMethods()).isEmpty();
        assertThat(sampler.getIdleMethods()).isEmpty();
        assertThat(sampler.isReportJvmThreads()).isTrue();
        assertThat(sampler.isSampleUnmountedVirtualThreads()).isFalse();
        assertThat(sampler.getRootMethods()).isEmpty();
        assertThat(sampler.getInstrumentation()).isEqualTo(Instrumentation.AUTO);
        assertThat(sampler.getInstrumentationFilter()).isEmpty();
        assertThat(sampler.getMethodTiming()).isEqualTo(MethodTiming.SAMPLED);
        assertThat(sampler.isDiscardWarmUp()).isFalse();
        assertThat(sampler.getMaxCountedMethods()).isEqualTo(32_768);
        assertThat(sampler.getMaxCallNodes()).isEqualTo(100_000);
        assertThat(sampler.getMaxCallDepth()).isEqualTo(1000);
        assertThat(sampler.getMaxGroups()).isEqualTo(500);
        assertThat(sampler.getSamplingOutputer()).isInstanceOf(PrintStreamSamplingOutputer.class);
        assertThat(sampler.getThreadNameManipulator()).isInstanceOf(RegexThreadNameManipulator.class);
    }

    @Test
    void propertiesThatWereSetCanBeRead() {
        LoggerSamplingOutputer outputer = new LoggerSamplingOutputer();
        MapBasedThreadNameManipulator manipulator = new MapBasedThreadNameManipulator();
        sampler.setSamplingFrequencyMillis(25);
        sampler.setReportFrequencySeconds(0);
        sampler.setMonitoredPackages("com.imperva, com.mprv");
        sampler.setSkipDaemonThreads(true);
        sampler.setReportZeroTimePackages(true);
        sampler.setActive(false);
        sampler.setReportOrder(ReportOrder.BY_TIME);
        sampler.setReportMinPercent(12.3);
        sampler.setReportAccount(ReportAccount.FULL);
        sampler.setMemoryLimitBytes(1L << 40);
        sampler.setMaxDepthFrames(65_536);
        sampler.setEngine(SamplingEngine.JVMTI);
        sampler.setSamplingSignal(64);
        sampler.setClock(SamplingClock.CPU);
        sampler.setIdleLookbackMillis(60_000);
        sampler.setOverheadLimitPercent(2.5);
        sampler.setReportCpuTime(true);
        sampler.setReportStates(true);
        sampler.setReportSummary(false);
        sampler.setFoldRecursion(false);
        sampler.setIoMethods("com.acme.Driver.read, org.db");
        sampler.setIdleMethods("com.acme.Loop.next");
        sampler.setReportJvmThreads(false);
        sampler.setSampleUnmountedVirtualThreads(true);
        sampler.setRootMethods("com.acme.Shop.handle, com.acme.jobs.**");
        sampler.setInstrumentation(Instrumentation.TOTAL);
        sampler.setInstrumentationFilter("com.acme, -com.acme.util");
        sampler.setMethodTiming(MethodTiming.EXACT);
        sampler.setDiscardWarmUp(true);
        sampler.setMaxCountedMethods(1);
        sampler.setMaxCallNodes(64);
        sampler.setMaxCallDepth(1_000_000);
        sampler.setMaxGroups(20_000);
        sampler.setSamplingOutputer(outputer);
        sampler.setThreadNameManipulator(manipulator);

        assertThat(sampler.getSamplingFrequencyMillis()).isEqualTo(25);
        assertThat(sampler.getReportFrequencySeconds()).isZero();
        assertThat(sampler.getMonitoredPackages()).isEqualTo("com.imperva,com.mprv");
        assertThat(sampler.isSkipDaemonThreads()).isTrue();
        assertThat(sampler.isReportZeroTimePackages()).isTrue();
        assertThat(sampler.isActive()).isFalse();
        assertThat(sampler.getReportOrder()).isEqualTo(ReportOrder.BY_TIME);
        assertThat(sampler.getReportMinPercent()).isEqualTo(12.3);
        assertThat(sampler.getReportAccount()).isEqualTo(ReportAccount.FULL);
        assertThat(sampler.getMemoryLimitBytes()).isEqualTo(1L << 40);
        assertThat(sampler.getMaxDepthFrames()).isEqualTo(65_536);
        assertThat(sampler.getEngine()).isEqualTo(SamplingEngine.JVMTI);
        assertThat(sampler.getSamplingSignal()).isEqualTo(64);
        assertThat(sampler.getClock()).isEqualTo(SamplingClock.CPU);
        assertThat(sampler.getIdleLookbackMillis()).isEqualTo(60_000);
        assertThat(sampler.getOverheadLimitPercent()).isEqualTo(2.5);
        assertThat(sampler.isReportCpuTime()).isTrue();
        assertThat(sampler.isReportStates()).isTrue();
        assertThat(sampler.isReportSummary()).isFalse();
        assertThat(sampler.isFoldRecursion()).isFalse();
        assertThat(sampler.getIoMethods()).isEqualTo("com.acme.Driver.read,org.db");
        assertThat(sampler.getIdleMethods()).isEqualTo("com.acme.Loop.next");
        assertThat(sampler.isReportJvmThreads()).isFalse();
        assertThat(sampler.isSampleUnmountedVirtualThreads()).isTrue();
        assertThat(sampler.getRootMethods()).isEqualTo("com.acme.Shop.handle,com.acme.jobs.**");
        assertThat(sampler.getInstrumentation()).isEqualTo(Instrumentation.TOTAL);
        assertThat(sampler.getInstrumentationFilter()).isEqualTo("com.acme,-com.acme.util");
        assertThat(sampler.getMethodTiming()).isEqualTo(MethodTiming.EXACT);
        assertThat(sampler.isDiscardWarmUp()).isTrue();
        assertThat(sampler.getMaxCountedMethods()).isEqualTo(1);
        assertThat(sampler.getMaxCallNodes()).isEqualTo(64);
        assertThat(sampler.getMaxCallDepth()).isEqualTo(1_000_000);
        assertThat(sampler.getMaxGroups()).isEqualTo(20_000);
        assertThat(sampler.getSamplingOutputer()).isSameAs(outputer);
        assertThat(sampler.getThreadNameManipulator()).isSameAs(manipulator);
    }

    @Test
    void chosenThreadsAddUpUntilTheyAreCleared() {
        Thread other = new Thread();
        sampler.setThreadToBeSampled(Thread.currentThread());
        sampler.setSampleTheseThreadsOnly(List.of(other, Thread.currentThread()));
        assertThat(sampler.getSampleTheseThreadsOnly()).containsExactly(Thread.currentThread(), other);
        assertThat(sampler.getThreadToBeSampled()).isSameAs(other);
        sampler.setSampleTheseThreadsOnly(List.of());
        assertThat(sampler.getSampleTheseThreadsOnly()).isEmpty();
        assertThat(sampler.getThreadToBeSampled()).isNull();
    }

    @Test
    void wrongValuesAreRefusedWithPropertyValueAndRange() {
        assertRefused(
                () -> sampler.setSamplingFrequencyMillis(0),
                "samplingFrequencyMillis must be between 1 and 3600000, got 0");
        assertRefused(
                () -> sampler.setSamplingFrequencyMillis(3_600_001),
                "samplingFrequencyMillis must be between 1 and 3600000, got 3600001");
        assertRefused(
                () -> sampler.setReportFrequencySeconds(-1),
                "reportFrequencySeconds must be between 0 and 31536000, got -1");
        assertRefused(
                () -> sampler.setMemoryLimitBytes(4_194_303),
                "memoryLimitBytes must be between 4194304 and 1099511627776, got 4194303");
        assertRefused(() -> sampler.setMaxDepthFrames(15), "maxDepthFrames must be between 16 and 65536, got 15");
        assertRefused(() -> sampler.setEngine(null), "engine must not be null");
        assertRefused(() -> sampler.setClock(null), "clock must not be null");
        assertRefused(() -> sampler.setSamplingSignal(33), "samplingSignal must be between 34 and 64, got 33");
        assertRefused(() -> sampler.setSamplingSignal(65), "samplingSignal must be between 34 and 64, got 65");
        assertRefused(() -> sampler.setIdleLookbackMillis(0), "idleLookbackMillis must be between 1 and 60000, got 0");
        assertRefused(
                () -> sampler.setOverheadLimitPercent(0.09),
                "overheadLimitPercent must be between 0.1 and 100, in steps of 0.1, got 0.09");
        assertRefused(
                () -> sampler.setOverheadLimitPercent(100.1),
                "overheadLimitPercent must be between 0.1 and 100, in steps of 0.1, got 100.1");
        assertRefused(
                () -> sampler.setOverheadLimitPercent(Double.NaN),
                "overheadLimitPercent must be between 0.1 and 100, in steps of 0.1, got NaN");
        assertRefused(() -> sampler.setMonitoredPackages(null), "monitoredPackages must not be null");
        assertRefused(
                () -> sampler.setMonitoredPackages("com acme"),
                "monitoredPackages must be package prefixes"
                        + " separated by commas, without white space or control characters inside, got \"com acme\"");
        assertRefused(() -> sampler.setReportOrder(null), "reportOrder must not be null");
        assertRefused(
                () -> sampler.setReportMinPercent(-0.1),
                "reportMinPercent must be between 0 and 100, in steps of 0.1, got -0.1");
        assertRefused(
                () -> sampler.setReportMinPercent(100.1),
                "reportMinPercent must be between 0 and 100, in steps of 0.1, got 100.1");
        assertRefused(
                () -> sampler.setReportMinPercent(Double.NaN),
                "reportMinPercent must be between 0 and 100, in steps of 0.1, got NaN");
        assertRefused(
                () -> sampler.setReportMinPercent(0.04),
                "reportMinPercent must be between 0 and 100, in steps of 0.1, got 0.04");
        assertRefused(() -> sampler.setReportAccount(null), "reportAccount must not be null");
        assertRefused(() -> sampler.setRootMethods(null), "rootMethods must not be null");
        assertRefused(
                () -> sampler.setRootMethods("com.acme.Shop.handle, run"),
                "rootMethods must be methods separated by commas, as com.acme.OrderHandler.handle, com.acme.jobs.*.run,"
                        + " com.acme.batch.**, com.acme.Order.<init> or com.acme.Order.add(int, String);"
                        + " got \"run\": no class before the method; for a class write CLASS.*");
        assertRefused(() -> sampler.setInstrumentationFilter(null), "instrumentationFilter must not be null");
        assertRefused(
                () -> sampler.setInstrumentationFilter("com/acme"),
                "instrumentationFilter must be package prefixes separated by commas, with a minus before those to leave"
                        + " out, as in com.acme, -com.acme.util; got \"com/acme\": a character that no package in Java"
                        + " source has");
        assertRefused(() -> sampler.setInstrumentation(null), "instrumentation must not be null");
        assertRefused(() -> sampler.setMethodTiming(null), "methodTiming must not be null");
        assertRefused(() -> sampler.setMaxCountedMethods(0), "maxCountedMethods must be between 1 and 1048576, got 0");
        assertRefused(() -> sampler.setMaxCallNodes(63), "maxCallNodes must be between 64 and 100000000, got 63");
        assertRefused(() -> sampler.setMaxCallDepth(0), "maxCallDepth must be between 1 and 1000000, got 0");
        assertRefused(() -> sampler.setThreadToBeSampled(null), "threadToBeSampled must not be null");
        assertRefused(() -> sampler.setSampleTheseThreadsOnly(null), "sampleTheseThreadsOnly must not be null");
        assertRefused(
                () -> sampler.setSampleTheseThreadsOnly(Collections.singletonList(null)),
                "sampleTheseThreadsOnly[0] must not be null");
        assertRefused(() -> sampler.setSamplingOutputer(null), "samplingOutputer must not be null");
        assertRefused(() -> sampler.setThreadNameManipulator(null), "threadNameManipulator must not be null");
        defaults();
    }

    private static void assertRefused(Runnable setter, String message) {
        assertThatIllegalArgumentException().isThrownBy(setter::run).withMessage(message);
    }

    @Test
    void wrongCombinationIsRefusedByInit() {
        sampler.setReportFrequencySeconds(1);
        sampler.setSamplingFrequencyMillis(1001);
        assertThatIllegalArgumentException()
                .isThrownBy(sampler::init)
                .withMessage("reportFrequencySeconds must be 0 or not shorter than samplingFrequencyMillis,"
                        + " got 1 s and 1001 ms");
    }

    @Test
    void beforeInitOnlyTheEndIsHarmless() throws IOException {
        sampler.close();
        sampler.shutdown();
        assertThatIllegalStateException()
                .isThrownBy(sampler::printReport)
                .withMessage("printReport() needs a running sampler: init() comes first");
        assertThatIllegalStateException()
                .isThrownBy(sampler::sampleOnceAndPrint)
                .withMessage("sampleOnceAndPrint() needs a running sampler: init() comes first");
        assertThatIllegalStateException()
                .isThrownBy(sampler::pauseSampling)
                .withMessage("pauseSampling() needs a running sampler: init() comes first");
        assertThatIllegalStateException()
                .isThrownBy(sampler::resumeSampling)
                .withMessage("resumeSampling() needs a running sampler: init() comes first");
    }

    @Test
    void timesAreDurationsAsWell() {
        sampler.setSamplingFrequency(Duration.ofMillis(25));
        sampler.setReportFrequency(Duration.ofMinutes(10));
        sampler.setIdleLookback(Duration.ofSeconds(2));
        sampler.setCloseTimeout(Duration.ZERO);
        assertThat(sampler.getSamplingFrequencyMillis()).isEqualTo(25);
        assertThat(sampler.getReportFrequencySeconds()).isEqualTo(600);
        assertThat(sampler.getIdleLookbackMillis()).isEqualTo(2000);
        assertThat(sampler.getCloseTimeoutSeconds()).isZero();
        assertThat(sampler.getSamplingFrequency()).isEqualTo(Duration.ofMillis(25));
        assertThat(sampler.getReportFrequency()).isEqualTo(Duration.ofMinutes(10));
        assertThat(sampler.getIdleLookback()).isEqualTo(Duration.ofSeconds(2));
        assertThat(sampler.getCloseTimeout()).isZero();
        assertThatIllegalArgumentException()
                .isThrownBy(() -> sampler.setSamplingFrequency(Duration.ZERO))
                .withMessageStartingWith("samplingFrequencyMillis must be between 1 and 3600000");
    }
}

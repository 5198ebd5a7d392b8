// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import com.incapsula.sampler.internal.engine.FakeSampler;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import javax.management.InstanceNotFoundException;
import javax.management.JMX;
import javax.management.MBeanAttributeInfo;
import javax.management.MBeanInfo;
import javax.management.MBeanOperationInfo;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import javax.management.RuntimeMBeanException;
import org.assertj.core.api.ThrowableAssertAlternative;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The MXBean in the platform's MBean server, with a fake core. */
class JmxTest {

    private final MBeanServer server = ManagementFactory.getPlatformMBeanServer();
    private final FakeSampler fake = new FakeSampler();
    private final ThreadsSampler sampler = Fakes.sampler(fake.lifecycle());

    @BeforeEach
    void name() {
        sampler.setJmxName("shop");
    }

    @AfterEach
    void nothingIsLeft() throws Exception {
        sampler.close();
        assertThat(registered()).isEmpty();
    }

    private Set<ObjectName> registered() throws Exception {
        return server.queryNames(new ObjectName("com.incapsula.sampler:*"), null);
    }

    private static ObjectName nameOf(String name) throws Exception {
        return new ObjectName("com.incapsula.sampler:type=ThreadsSampler,name=" + name);
    }

    @Test
    void isThereFromInitToClose() throws Exception {
        assertThat(registered()).isEmpty();
        sampler.init();
        assertThat(registered()).containsExactly(nameOf("shop"));
        sampler.close();
        assertThat(registered()).isEmpty();
        sampler.init();
        sampler.shutdown();
        assertThat(registered()).isEmpty();
    }

    @Test
    void withoutANameIsNotThere() throws Exception {
        sampler.setJmxName(null);
        sampler.init();
        assertThat(registered()).isEmpty();
    }

    @Test
    void failingStartLeavesNoBean() throws Exception {
        fake.failToStart(new OutOfMemoryError("no thread"));
        sampler.setRequired(true);
        assertThatThrownBy(sampler::init).isInstanceOf(OutOfMemoryError.class);
        assertThat(registered()).isEmpty();
    }

    @Test
    void takenNameGetsANumber() throws Exception {
        ThreadsSampler second = Fakes.sampler(new FakeSampler().lifecycle());
        second.setJmxName("shop");
        sampler.init();
        second.init();
        assertThat(registered()).containsExactlyInAnyOrder(nameOf("shop"), nameOf("shop-2"));
        second.close();
        assertThat(registered()).containsExactly(nameOf("shop"));
    }

    @Test
    void nameWithSpecialCharactersIsQuoted() throws Exception {
        sampler.setJmxName("a,b=\"c*\"");
        sampler.init();
        assertThat(registered()).containsExactly(nameOf(ObjectName.quote("a,b=\"c*\"")));
    }

    @Test
    void everyPartHasADescriptionAndParametersHaveNames() throws Exception {
        sampler.init();
        MBeanInfo info = server.getMBeanInfo(nameOf("shop"));
        assertThat(info.getDescription()).startsWith("A running threads-sampler");
        for (MBeanAttributeInfo attribute : info.getAttributes()) {
            assertThat(attribute.getDescription())
                    .as(attribute.getName())
                    .isNotEqualTo(attribute.getName())
                    .contains(" ");
        }
        for (MBeanOperationInfo operation : info.getOperations()) {
            assertThat(operation.getDescription())
                    .as(operation.getName())
                    .isNotEqualTo(operation.getName())
                    .contains(" ");
            assertThat(operation.getImpact())
                    .as(operation.getName())
                    .isEqualTo(
                            List.of("limitations", "statistics", "dump", "top", "states", "summary", "hotSpots")
                                            .contains(operation.getName())
                                    ? MBeanOperationInfo.INFO
                                    : MBeanOperationInfo.ACTION);
        }
        assertThat(parametersOf(info, "top")).containsExactly("seconds: How long to wait, 1 to 60 seconds");
        assertThat(parametersOf(info, "set"))
                .containsExactly(
                        "name: A property of ThreadsSampler, such as samplingFrequencyMillis",
                        "value: Its new value, such as 20ms, true, BY_TIME or com.acme,org.example");
    }

    private static List<String> parametersOf(MBeanInfo info, String operation) {
        return Arrays.stream(info.getOperations())
                .filter(each -> each.getName().equals(operation))
                .flatMap(each -> Arrays.stream(each.getSignature()))
                .map(parameter -> parameter.getName() + ": " + parameter.getDescription())
                .toList();
    }

    @Test
    void attributesAndOperations() throws Exception {
        sampler.setMonitoredPackages("com.acme");
        sampler.init();
        ThreadsSamplerMXBean bean = JMX.newMXBeanProxy(server, nameOf("shop"), ThreadsSamplerMXBean.class);

        assertThat(bean.getEngine()).isEqualTo("fake");
        assertThat(bean.getMode()).isEqualTo("OWN");
        assertThat(bean.isInert()).isFalse();
        assertThat(bean.getLimitations()).isEmpty();
        assertThat(bean.getClock()).isEqualTo("WALL");
        assertThat(bean.isActive()).isTrue();
        assertThat(bean.getSamplingFrequencyMillis()).isEqualTo(50);
        assertThat(bean.getReportFrequencySeconds()).isEqualTo(900);
        assertThat(bean.getMonitoredPackages()).isEqualTo("com.acme");
        assertThat(bean.getPolls()).isZero();
        bean.pause();
        assertThat(bean.isPaused()).isTrue();
        bean.resume();
        bean.report();
        bean.resetCollectedResults();
        assertThat(bean.getRootMethods()).isEmpty();
        assertThat(bean.getInstrumentation()).isEqualTo("AUTO");
        assertThat(bean.getMethodTiming()).isEqualTo("SAMPLED");
        assertThat(bean.statistics()).isEmpty();
        assertThat(bean.top(1)).startsWith("TOP");
        assertThat(fake.calls())
                .containsExactly(
                        "start", "pause", "resume", "report", "resetCounts", "takeInterval 2", "closeReader 2");
    }

    @Test
    void limitationsHaveCodesAndReasons() throws Exception {
        sampler.init();
        fake.haveStatus("JVMTI", "ASYNC_WALK_REFUSED", "no symbols", "CALLS_NOT_COUNTED", "no hook");
        ThreadsSamplerMXBean bean = JMX.newMXBeanProxy(server, nameOf("shop"), ThreadsSamplerMXBean.class);
        assertThat(bean.getMode()).isEqualTo("JVMTI");
        assertThat(bean.getLimitations()).isEqualTo("ASYNC_WALK_REFUSED,CALLS_NOT_COUNTED");
        assertThat(bean.limitations())
                .containsExactlyInAnyOrderEntriesOf(
                        Map.of("ASYNC_WALK_REFUSED", "no symbols", "CALLS_NOT_COUNTED", "no hook"));
        fake.haveStatus("INERT", "NOTHING_SAMPLED", "no Linux");
        assertThat(bean.isInert()).isTrue();
    }

    @Test
    void wrongUseIsRefused() throws Exception {
        sampler.init();
        for (int seconds : new int[] {0, 61}) {
            assertThatExceptionOfType(RuntimeMBeanException.class)
                    .isThrownBy(
                            () -> server.invoke(nameOf("shop"), "top", new Object[] {seconds}, new String[] {"int"}))
                    .withCauseInstanceOf(IllegalArgumentException.class);
        }
        sampler.close();
        assertThatExceptionOfType(InstanceNotFoundException.class)
                .isThrownBy(() -> server.getAttribute(nameOf("shop"), "Engine"));
    }

    private void set(Object... nameAndValue) throws Exception {
        String text = String.class.getName();
        server.invoke(nameOf("shop"), "set", nameAndValue, new String[] {text, text});
    }

    @Test
    void setChangesOneProperty() throws Exception {
        sampler.init();
        set("samplingFrequencyMillis", "20ms");
        assertThat(server.getAttribute(nameOf("shop"), "SamplingFrequencyMillis"))
                .isEqualTo(20L);
        set("reportOrder", "by_time");
        assertThat(sampler.getReportOrder()).isEqualTo(ReportOrder.BY_TIME);
        set("monitoredPackages", "com.acme,org.example");
        assertThat(server.getAttribute(nameOf("shop"), "MonitoredPackages")).isEqualTo("com.acme,org.example");
        assertThat(fake.calls()).containsExactly("start", "configure", "configure", "configure");
    }

    @Test
    void setRefusesWithTheReason() throws Exception {
        sampler.init();
        assertSetFails(IllegalArgumentException.class, "samplingFrequency", "5")
                .withMessageStartingWith("there is no property \"samplingFrequency\"; there are active, clock, ")
                .withMessageContaining(", samplingFrequencyMillis, ");
        assertSetFails(IllegalArgumentException.class, "samplingOutputer", "x")
                .withMessageStartingWith("there is no property ");
        assertSetFails(IllegalArgumentException.class, "samplingFrequencyMillis", "0")
                .withMessage("samplingFrequencyMillis must be between 1 and 3600000, got 0");
        assertSetFails(IllegalArgumentException.class, "samplingFrequencyMillis", "soon")
                .withMessage("samplingFrequencyMillis must be a time such as 20ms, 10s, 5m or 1h, got \"soon\"");
        assertSetFails(IllegalStateException.class, "clock", "CPU")
                .withMessage("clock cannot be changed while the sampler runs");
        assertSetFails(IllegalStateException.class, "jmxName", "other")
                .withMessage("jmxName cannot be changed while the sampler runs");
        assertSetFails(IllegalArgumentException.class, null, "5").withMessage("name and value must not be null");
        assertSetFails(IllegalArgumentException.class, "active", null).withMessage("name and value must not be null");
        assertThat(sampler.getSamplingFrequencyMillis()).isEqualTo(50);
    }

    private ThrowableAssertAlternative<?> assertSetFails(Class<? extends Throwable> type, String name, String value) {
        return assertThatExceptionOfType(RuntimeMBeanException.class)
                .isThrownBy(() -> set(name, value))
                .havingCause()
                .isInstanceOf(type);
    }

    @Test
    void oneTopAtATime() {
        sampler.init();
        SamplerBean bean = new SamplerBean(sampler);
        AtomicReference<Throwable> second = new AtomicReference<>();
        fake.onInterval(() -> second.set(catchThrowable(() -> bean.top(1))));
        bean.top(1);

        assertThat(second.get())
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("another call that waits is in progress; try again");
        fake.onInterval(() -> {});
        assertThat(bean.top(1)).startsWith("TOP");
    }

    @Test
    void everythingIsOfOpenTypes() throws Exception {
        sampler.init();
        assertThat(server.getMBeanInfo(nameOf("shop")).getAttributes())
                .extracting(MBeanAttributeInfo::getType)
                .containsOnly("java.lang.String", "long", "boolean");
        assertThat(server.getMBeanInfo(nameOf("shop")).getOperations())
                .extracting(MBeanOperationInfo::getName)
                .containsExactlyInAnyOrder(
                        "pause",
                        "resume",
                        "report",
                        "resetCollectedResults",
                        "set",
                        "limitations",
                        "statistics",
                        "dump",
                        "top",
                        "states",
                        "summary",
                        "hotSpots");
        assertThat(Arrays.stream(server.getMBeanInfo(nameOf("shop")).getOperations())
                        .flatMap(operation -> Arrays.stream(operation.getSignature())))
                .extracting(p -> p.getType())
                .containsOnly("int", "java.lang.String");
    }

    @Test
    void attributesCanBeReadWhileItIsBeingClosed() throws IOException {
        sampler.init();
        SamplerBean bean = new SamplerBean(sampler);
        sampler.close();
        assertThat(bean.isPaused()).isFalse();
        assertThat(bean.getThreads()).isZero();
        assertThat(bean.getReportsWritten()
                        + bean.getMemoryUsedBytes()
                        + bean.getMemoryLimitBytes()
                        + bean.getOwnCpuNanos()
                        + bean.getElapsedNanos())
                .isZero();
    }
}

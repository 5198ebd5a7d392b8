// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.options;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.incapsula.sampler.ReportOrder;
import com.incapsula.sampler.SamplingClock;
import com.incapsula.sampler.ThreadsSampler;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Test;

/** Properties of the sampler by their names. */
class BeanPropertiesTest {

    private final ThreadsSampler sampler = new ThreadsSampler();

    private Object get(String name) throws ReflectiveOperationException {
        String end = name.substring(0, 1).toUpperCase(Locale.ROOT) + name.substring(1);
        Method getter = Arrays.stream(ThreadsSampler.class.getMethods())
                .filter(method -> List.of("get" + end, "is" + end).contains(method.getName()))
                .findFirst()
                .orElseThrow();
        return getter.invoke(sampler);
    }

    /** The text of a getter's value is a valid value for the setter. */
    @Test
    void eachPropertyTakesItsDefault() throws Exception {
        assertThat(BeanProperties.names()).hasSizeGreaterThan(25);
        for (String name : BeanProperties.names()) {
            Object before = get(name);
            if (before != null) {
                BeanProperties.set(sampler, name, before.toString());
                assertThat(get(name)).as(name).isEqualTo(before);
            }
        }
    }

    @Test
    void objectsAreNoTexts() {
        assertThat(BeanProperties.names())
                .doesNotContain(
                        "samplingOutputer",
                        "threadNameManipulator",
                        "threadToBeSampled",
                        "sampleTheseThreadsOnly",
                        "closeOutputer");
    }

    @Test
    void valuesAreReadByTheirType() throws Exception {
        BeanProperties.set(sampler, "clock", "cpu");
        assertThat(sampler.getClock()).isEqualTo(SamplingClock.CPU);
        BeanProperties.set(sampler, "reportFrequencySeconds", "2m");
        assertThat(sampler.getReportFrequencySeconds()).isEqualTo(120);
        BeanProperties.set(sampler, "idleLookbackMillis", "2s");
        assertThat(sampler.getIdleLookbackMillis()).isEqualTo(2000);
        BeanProperties.set(sampler, "skipDaemonThreads", "TRUE");
        assertThat(sampler.isSkipDaemonThreads()).isTrue();
    }

    @Test
    void namesAndChoicesMayHaveHyphens() {
        BeanProperties.set(sampler, "report-order", "by-time");
        assertThat(sampler.getReportOrder()).isEqualTo(ReportOrder.BY_TIME);
        BeanProperties.set(sampler, "sampling-frequency-millis", "30ms");
        assertThat(sampler.getSamplingFrequencyMillis()).isEqualTo(30);
        assertThat(BeanProperties.find("report-orders")).isNull();
        assertThatExceptionOfType(IllegalArgumentException.class)
                .isThrownBy(() -> BeanProperties.set(sampler, "close-outputer", "false"))
                .withMessageStartingWith("there is no property \"close-outputer\"");
    }

    @Test
    void sizesHaveUnits() {
        long megabytes = 9L << 20;
        for (String size : List.of("9437184", "9216KB", "9216kib", "9MB", "9 MiB")) {
            sampler.setMemoryLimitBytes(8L << 20);
            BeanProperties.set(sampler, "memoryLimitBytes", size);
            assertThat(sampler.getMemoryLimitBytes()).as(size).isEqualTo(megabytes);
        }
        for (String wrong : List.of("", "MB", "9X", "-9MB", "99999999999TB", "1.5GB")) {
            assertThatExceptionOfType(IllegalArgumentException.class)
                    .isThrownBy(() -> BeanProperties.set(sampler, "memoryLimitBytes", wrong))
                    .withMessage(
                            "memoryLimitBytes must be a size such as 65536, 64KB, 64MB or 1GB, got \"" + wrong + "\"");
        }
    }

    @Test
    void theSettersRefuseWhatIsWrong() {
        assertThatExceptionOfType(IllegalArgumentException.class)
                .isThrownBy(() -> BeanProperties.set(sampler, "samplingSignal", "9"))
                .withMessage("samplingSignal must be between 34 and 64, got 9");
        assertThatExceptionOfType(IllegalArgumentException.class)
                .isThrownBy(() -> BeanProperties.set(sampler, "maxCallDepth", "1e3"))
                .withMessage("maxCallDepth must be a whole number, got \"1e3\"");
    }
}

// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.spring;

import static com.incapsula.sampler.spring.Patience.patiently;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.incapsula.sampler.ReportFormat;
import com.incapsula.sampler.ThreadsSampler;
import com.incapsula.sampler.manipulate.ThreadNameManipulator;
import com.incapsula.sampler.outputer.FileSamplingOutputer;
import com.incapsula.sampler.outputer.LoggerSamplingOutputer;
import com.incapsula.sampler.outputer.SamplingOutputer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.SpringBootVersion;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** The sampler of an application, from its properties and its beans. */
@ExtendWith(OutputCaptureExtension.class)
class ThreadsSamplerAutoConfigurationIT {

    private static final String WARNING = "threads-sampler does not sample, and the application runs on: ";

    /* A value for each property, other than the default. */
    private static final Map<String, String> VALUES = values();

    @TempDir
    Path folder;

    private final ApplicationContextRunner application = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(ThreadsSamplerAutoConfiguration.class));

    private static Map<String, String> values() {
        Map<String, String> values = new HashMap<>();
        values.put("active", "false");
        values.put("clock", "cpu");
        values.put("discardWarmUp", "true");
        values.put("engine", "jvmti");
        values.put("errorBars", "false");
        values.put("idleLookbackMillis", "500");
        values.put("idleMethods", "com.acme.Loop.next");
        values.put("foldRecursion", "false");
        values.put("instrumentation", "eager");
        values.put("closeTimeoutSeconds", "5");
        values.put("instrumentationFilter", "com.acme,-com.acme.util");
        values.put("ioMethods", "com.acme.Driver.read");
        values.put("jfrEvents", "true");
        values.put("jmxName", "orders");
        values.put("maxCallDepth", "7");
        values.put("maxGroups", "70");
        values.put("maxCallNodes", "70");
        values.put("maxCountedMethods", "700");
        values.put("maxDepthFrames", "70");
        values.put("memoryLimitBytes", "10000000");
        values.put("methodTiming", "none");
        values.put("monitoredPackages", "com.acme,org.example");
        values.put("overheadLimitPercent", "0.5");
        values.put("reportCpuTime", "true");
        values.put("reportFrequencySeconds", "60");
        values.put("reportJvmThreads", "false");
        values.put("reportAccount", "full");
        values.put("reportMinPercent", "2.5");
        values.put("reportOrder", "by-time");
        values.put("reportPercent", "true");
        values.put("reportStates", "true");
        values.put("reportSummary", "false");
        values.put("reportZeroTimePackages", "true");
        values.put("required", "true");
        values.put("rootMethods", "com.acme.OrderHandler.handle");
        values.put("sampleUnmountedVirtualThreads", "true");
        values.put("samplingFrequencyMillis", "20");
        values.put("samplingSignal", "40");
        values.put("skipDaemonThreads", "true");
        return values;
    }

    private static String plain(Object value) {
        return value.toString().replaceAll("[-_]", "").toLowerCase(Locale.ROOT);
    }

    private static int warnings(CapturedOutput output) {
        return output.getAll().split(WARNING, -1).length - 1;
    }

    @Test
    void theseTestsRunWithTheVersionOfBootThatTheBuildNames() {
        assertThat(SpringBootVersion.getVersion()).isEqualTo(System.getProperty("boot.version"));
    }

    @Test
    void theSamplerRunsWhileTheApplicationDoes() {
        ThreadsSampler[] seen = new ThreadsSampler[1];
        application.run(context -> {
            assertThat(context).hasNotFailed().hasSingleBean(ThreadsSampler.class);
            seen[0] = context.getBean(ThreadsSampler.class);
            assertThat(seen[0].isRunning()).isTrue();
            assertThat(seen[0].getStatistics().getEngine()).doesNotStartWith("NONE");
            assertThat(seen[0].getSamplingOutputer()).isInstanceOf(LoggerSamplingOutputer.class);
        });
        assertThat(seen[0].isRunning()).isFalse();
    }

    @Test
    void everyPropertyIsSet() {
        assertThat(new SamplerSettings(new ThreadsSampler()).values()).containsOnlyKeys(VALUES.keySet());
        String[] properties = VALUES.entrySet().stream()
                .map(value -> "threads-sampler." + kebab(value.getKey()) + "=" + value.getValue())
                .toArray(String[]::new);
        application
                .withPropertyValues(properties)
                .withPropertyValues("threads-sampler.auto-start=false")
                .run(context -> {
                    Map<String, String> set = new TreeMap<>();
                    new SamplerSettings(context.getBean(ThreadsSampler.class))
                            .values()
                            .forEach((name, value) -> set.put(name, plain(value)));
                    Map<String, String> expected = new TreeMap<>();
                    VALUES.forEach((name, value) -> expected.put(name, plain(value)));
                    assertThat(set).isEqualTo(expected);
                });
    }

    static String kebab(String name) {
        return name.replaceAll("([A-Z])", "-$1").toLowerCase(Locale.ROOT);
    }

    @Test
    void aValueOutOfRangeIsOneWarningAndTheApplicationRuns(CapturedOutput output) {
        application
                .withPropertyValues("threads-sampler.sampling-frequency-millis=0")
                .run(context -> {
                    assertThat(context).hasNotFailed();
                    assertThat(context.getBean(ThreadsSampler.class).isRunning())
                            .isFalse();
                });
        assertThat(warnings(output)).isEqualTo(1);
        assertThat(output.getAll())
                .contains(WARNING + "threads-sampler: samplingFrequencyMillis must be between 1 and 3600000, got 0");
    }

    @Test
    void textThatIsNoValueIsOneWarningAndTheApplicationRuns(CapturedOutput output) {
        application
                .withPropertyValues("threads-sampler.output.format=poster")
                .run(context -> assertThat(context).hasNotFailed());
        assertThat(warnings(output)).isEqualTo(1);
        assertThat(output.getAll()).contains("threads-sampler.output.format", "poster");
    }

    @Test
    void aFileThatCannotBeWrittenIsOneWarningAndTheApplicationRuns(CapturedOutput output) throws IOException {
        Path noFolder = Files.createFile(folder.resolve("file"));
        application
                .withPropertyValues("threads-sampler.output.file=" + noFolder.resolve("report.html"))
                .run(context -> {
                    assertThat(context).hasNotFailed();
                    assertThat(context.getBean(ThreadsSampler.class).isRunning())
                            .isFalse();
                });
        assertThat(warnings(output)).isEqualTo(1);
        assertThat(output.getAll()).contains("cannot open " + noFolder.resolve("report.html"));
    }

    @Test
    void propertiesThatDoNotGoTogetherAreOneWarning(CapturedOutput output) {
        application
                .withPropertyValues("threads-sampler.output.format=html")
                .run(context -> assertThat(context).hasNotFailed());
        application
                .withPropertyValues("threads-sampler.output.to=file")
                .run(context -> assertThat(context).hasNotFailed());
        assertThat(warnings(output)).isEqualTo(2);
        assertThat(output.getAll())
                .contains("output.format must be TEXT, TOP or CALLS where reports are logged, got HTML")
                .contains("output.to FILE needs output.file");
    }

    @Test
    void whereTheSamplerIsRequiredAFailureStopsTheStart() {
        application
                .withPropertyValues("threads-sampler.required=true", "threads-sampler.sampling-frequency-millis=0")
                .run(context -> assertThat(context).hasFailed());
    }

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration(ThreadsSamplerAutoConfiguration.class)
    static class WithoutWeb {}

    /** As Boot says it of its own properties. */
    @Test
    void aFailureThatStopsTheStartIsExplainedWithoutAStackTrace(CapturedOutput output) {
        SpringApplication required = new SpringApplicationBuilder(WithoutWeb.class)
                .web(WebApplicationType.NONE)
                .build();
        assertThatThrownBy(() -> required.run(
                        "--threads-sampler.required=true", "--threads-sampler.report-frequency-seconds=often"))
                .hasStackTraceContaining("threads-sampler.report-frequency-seconds");
        assertThat(output.getAll())
                .contains(
                        "APPLICATION FAILED TO START",
                        "threads-sampler cannot sample, and threads-sampler.required is true: "
                                + "threads-sampler.report-frequency-seconds: ",
                        "remove threads-sampler.required")
                .doesNotContain("\tat ");
    }

    @Test
    void listsTimesAndSizesAreWrittenAsElsewhereInBoot() {
        application
                .withPropertyValues(
                        "threads-sampler.auto-start=false",
                        "acme.root=com.acme",
                        "acme.minutes=10m",
                        "threads-sampler.monitored-packages[0]=${acme.root}",
                        "threads-sampler.monitoredPackages[1]=org.example",
                        "threads-sampler.root-methods[0]=com.acme.A.a",
                        "threads-sampler.report-frequency-seconds=${acme.minutes}",
                        "threads-sampler.close-timeout-seconds=PT90S",
                        "threads-sampler.sampling-frequency-millis=1s",
                        "threads-sampler.idle-lookback-millis=500ms",
                        "threads-sampler.memory-limit-bytes=16MB")
                .run(context -> {
                    ThreadsSampler sampler = context.getBean(ThreadsSampler.class);
                    assertThat(sampler.getMonitoredPackages()).isEqualTo("com.acme,org.example");
                    assertThat(sampler.getRootMethods()).isEqualTo("com.acme.A.a");
                    assertThat(sampler.getReportFrequencySeconds()).isEqualTo(600);
                    assertThat(sampler.getCloseTimeoutSeconds()).isEqualTo(90);
                    assertThat(sampler.getSamplingFrequencyMillis()).isEqualTo(1000);
                    assertThat(sampler.getIdleLookbackMillis()).isEqualTo(500);
                    assertThat(sampler.getMemoryLimitBytes()).isEqualTo(16 << 20);
                });
    }

    @Test
    void aListInYamlIsOne(CapturedOutput output) throws IOException {
        Path yaml = Files.writeString(folder.resolve("application.yaml"), """
                threads-sampler:
                  auto-start: false
                  monitored-packages:
                    - com.acme
                    - org.example
                  report-frequency-seconds: 10m
                """);
        try (ConfigurableApplicationContext context = new SpringApplicationBuilder(WithoutWeb.class)
                .web(WebApplicationType.NONE)
                .run("--spring.config.location=" + yaml.toUri())) {
            ThreadsSampler sampler = context.getBean(ThreadsSampler.class);
            assertThat(sampler.getMonitoredPackages()).isEqualTo("com.acme,org.example");
            assertThat(sampler.getReportFrequencySeconds()).isEqualTo(600);
        }
        assertThat(output.getAll()).doesNotContain(WARNING, "there is no property");
    }

    @Test
    void aTimeThatIsNoWholeSecondIsOneWarning(CapturedOutput output) {
        application
                .withPropertyValues("threads-sampler.report-frequency-seconds=1500ms")
                .run(context -> assertThat(context).hasNotFailed());
        assertThat(warnings(output)).isEqualTo(1);
        assertThat(output.getAll()).contains("threads-sampler.report-frequency-seconds", "1500ms");
    }

    @Test
    void aNameThatThereIsNotIsAWarningWithTheNearestOne(CapturedOutput output) {
        application
                .withPropertyValues(
                        "threads-sampler.monitored-package=com.acme",
                        "threads-sampler.report-frequency=10m",
                        "threads-sampler.output.max-file=3",
                        "threads-sampler.output.maxFiles=3",
                        "threads-sampler.sampling_frequency_millis=20",
                        "threads-sampler.enabled=true")
                .run(context -> assertThat(context.getBean(ThreadsSampler.class).isRunning())
                        .isTrue());
        assertThat(output.getAll().split("there is no property ", -1)).hasSize(1 + 3);
        assertThat(output.getAll())
                .contains(
                        "there is no property threads-sampler.monitored-package; did you mean"
                                + " threads-sampler.monitored-packages?",
                        "there is no property threads-sampler.report-frequency; did you mean"
                                + " threads-sampler.report-frequency-seconds?",
                        "there is no property threads-sampler.output.max-file; did you mean"
                                + " threads-sampler.output.max-files?");
    }

    @Test
    void disabledThereIsNothing() {
        application
                .withPropertyValues("threads-sampler.enabled=false")
                .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean(ThreadsSampler.class));
    }

    @Test
    void withoutAutoStartTheSamplerWaits() {
        application.withPropertyValues("threads-sampler.auto-start=false").run(context -> {
            ThreadsSampler sampler = context.getBean(ThreadsSampler.class);
            assertThat(sampler.isRunning()).isFalse();
            sampler.init();
            assertThat(sampler.isRunning()).isTrue();
        });
    }

    @Configuration(proxyBeanMethods = false)
    static class OwnSampler {
        @Bean
        ThreadsSampler mine() {
            ThreadsSampler sampler = new ThreadsSampler();
            sampler.setMonitoredPackages("my.own");
            return sampler;
        }
    }

    @Test
    void theApplicationsOwnSamplerWins() {
        application
                .withUserConfiguration(OwnSampler.class)
                .withPropertyValues("threads-sampler.monitored-packages=com.acme")
                .run(context -> {
                    assertThat(context).hasSingleBean(ThreadsSampler.class).hasBean("mine");
                    ThreadsSampler sampler = context.getBean(ThreadsSampler.class);
                    assertThat(sampler.getMonitoredPackages()).isEqualTo("my.own");
                    assertThat(sampler.isRunning()).isFalse();
                });
    }

    @Configuration(proxyBeanMethods = false)
    static class OwnParts {
        @Bean
        SamplingOutputer outputer() {
            return SamplingOutputer.of(report -> {});
        }

        @Bean
        ThreadNameManipulator manipulator() {
            return thread -> "all";
        }
    }

    @Test
    void theApplicationsOwnOutputerAndManipulatorAreUsed() {
        application
                .withUserConfiguration(OwnParts.class)
                .withPropertyValues("threads-sampler.output.file=" + folder.resolve("report.html"))
                .run(context -> {
                    ThreadsSampler sampler = context.getBean(ThreadsSampler.class);
                    assertThat(sampler.getSamplingOutputer()).isSameAs(context.getBean(SamplingOutputer.class));
                    assertThat(sampler.getThreadNameManipulator())
                            .isSameAs(context.getBean(ThreadNameManipulator.class));
                });
        assertThat(folder).isEmptyDirectory();
    }

    @Configuration(proxyBeanMethods = false)
    static class SeveralOutputers {
        @Bean
        SamplingOutputer first() {
            return SamplingOutputer.of(report -> {});
        }

        @Bean
        SamplingOutputer second() {
            return SamplingOutputer.of(report -> {});
        }
    }

    @Test
    void ofSeveralOutputersNoneIsUsedWhichAWarningSays(CapturedOutput output) {
        application
                .withUserConfiguration(SeveralOutputers.class)
                .run(context -> assertThat(context.getBean(ThreadsSampler.class).getSamplingOutputer())
                        .isInstanceOf(LoggerSamplingOutputer.class));
        assertThat(output.getAll())
                .containsOnlyOnce("there are 2 beans of type SamplingOutputer and none is primary, so the sampler uses"
                        + " none of them")
                .doesNotContain("ThreadNameManipulator");
    }

    @Test
    void reportsGoToFiles() throws IOException {
        application
                .withPropertyValues(
                        "threads-sampler.output.file=" + folder.resolve("report-%n.html"),
                        "threads-sampler.output.max-files=3",
                        "threads-sampler.output.max-total-size=1MB",
                        "threads-sampler.sampling-frequency-millis=5")
                .run(context -> {
                    ThreadsSampler sampler = context.getBean(ThreadsSampler.class);
                    FileSamplingOutputer files = (FileSamplingOutputer) sampler.getSamplingOutputer();
                    assertThat(files.getFormat()).isEqualTo(ReportFormat.HTML);
                    assertThat(files.getMaxFiles()).isEqualTo(3);
                    assertThat(files.getMaxTotalBytes()).isEqualTo(1 << 20);
                    patiently().until(() -> sampler.getStatistics().getPolls() > 0);
                });
        try (Stream<Path> written = Files.list(folder)) {
            assertThat(written)
                    .singleElement()
                    .satisfies(file -> assertThat(file).content().startsWith("<!DOCTYPE html>"));
        }
    }

    @Test
    void theShortFormIsOneEventOfTheLog(CapturedOutput output) {
        application
                .withPropertyValues(
                        "threads-sampler.output.format=top",
                        "threads-sampler.output.logger-name=the.sampler",
                        "threads-sampler.output.level=warn",
                        "threads-sampler.sampling-frequency-millis=5")
                .run(context -> {
                    ThreadsSampler sampler = context.getBean(ThreadsSampler.class);
                    assertThat(sampler.getSamplingOutputer())
                            .as("known as one that logs: it gets no warning that is in the log already")
                            .isInstanceOf(LoggerSamplingOutputer.class);
                    patiently().until(() -> sampler.getStatistics().getPolls() > 0);
                });
        assertThat(output.getAll())
                .containsPattern("WARN .*the\\.sampler .*From .* till ")
                .doesNotContain("Sampler account.");
    }

    @Test
    void noReportsWhereNoneAreWanted(CapturedOutput output) {
        application
                .withPropertyValues("threads-sampler.output.to=none", "threads-sampler.sampling-frequency-millis=5")
                .run(context -> {
                    ThreadsSampler sampler = context.getBean(ThreadsSampler.class);
                    patiently().until(() -> sampler.getStatistics().getPolls() > 0);
                });
        assertThat(output.getAll()).doesNotContain("Report interval");
    }
}

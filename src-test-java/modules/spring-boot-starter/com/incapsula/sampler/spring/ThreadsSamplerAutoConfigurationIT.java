// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.spring;

import static com.incapsula.sampler.spring.Patience.patiently;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.incapsula.sampler.ReportFormat;
import com.incapsula.sampler.ThreadsSampler;
import com.incapsula.sampler.ThreadsSamplerServer;
import com.incapsula.sampler.manipulate.ThreadNameManipulator;
import com.incapsula.sampler.micrometer.ThreadsSamplerMetrics;
import com.incapsula.sampler.outputer.FileSamplingOutputer;
import com.incapsula.sampler.outputer.LoggerSamplingOutputer;
import com.incapsula.sampler.outputer.SamplingOutputer;
import com.incapsula.sampler.remote.RemoteSamplingOutputer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.SpringBootVersion;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.test.annotation.DirtiesContext;
import org.springframework.test.context.ContextConfiguration;
import org.springframework.test.context.TestContext;
import org.springframework.test.context.TestContextManager;
import org.springframework.test.context.TestPropertySource;

/** The sampler that an application's properties and beans configure. */
@ExtendWith(OutputCaptureExtension.class)
class ThreadsSamplerAutoConfigurationIT {

    private static final String WARNING = "threads-sampler does not sample, and the application runs on: ";

    /*
     * A value other than the default for each property of the sampler: as the user writes it, and as the sampler
     * returns it.
     */
    private static final Map<String, Value> VALUES = values();

    private record Value(String written, String option, String set) {}

    @TempDir
    Path folder;

    private final ApplicationContextRunner application = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(ThreadsSamplerAutoConfiguration.class));

    private static Map<String, Value> values() {
        Map<String, Value> values = new HashMap<>();
        put(values, "active", "false", "active");
        put(values, "clock", "cpu", "clock");
        put(values, "counting.discard-warm-up", "true", "discardWarmUp");
        put(values, "engine", "jvmti", "engine");
        put(values, "error-bars", "false", "errorBars");
        put(values, "idle-lookback", "500ms", "idleLookbackMillis", "500");
        put(values, "idle-methods", "com.acme.Loop.next", "idleMethods");
        put(values, "counting.instrumentation", "eager", "instrumentation");
        put(values, "close-timeout", "5s", "closeTimeoutSeconds", "5");
        put(values, "counting.instrumentation-filter", "com.acme,-com.acme.util", "instrumentationFilter");
        put(values, "io-methods", "com.acme.Driver.read", "ioMethods");
        put(values, "jfr-events", "true", "jfrEvents");
        put(values, "jmx-name", "orders", "jmxName");
        put(values, "counting.max-call-depth", "7", "maxCallDepth");
        put(values, "report.max-groups", "70", "maxGroups");
        put(values, "counting.max-call-nodes", "70", "maxCallNodes");
        put(values, "counting.max-counted-methods", "700", "maxCountedMethods");
        put(values, "max-depth-frames", "70", "maxDepthFrames");
        put(values, "memory-limit", "8MB", "memoryLimitBytes", "8388608");
        put(values, "counting.method-timing", "none", "methodTiming");
        put(values, "monitored-packages", "com.acme,org.example", "monitoredPackages");
        put(values, "overhead-limit-percent", "0.5", "overheadLimitPercent");
        put(values, "report.cpu-time", "true", "reportCpuTime");
        put(values, "report.fold-recursion", "false", "foldRecursion");
        put(values, "report.frequency", "1m", "reportFrequencySeconds", "60");
        put(values, "report.jvm-threads", "false", "reportJvmThreads");
        put(values, "report.account", "full", "reportAccount");
        put(values, "report.min-percent", "2.5", "reportMinPercent");
        put(values, "report.order", "by-time", "reportOrder");
        put(values, "report.percent", "true", "reportPercent");
        put(values, "report.states", "true", "reportStates");
        put(values, "report.summary", "false", "reportSummary");
        put(values, "report.zero-time-packages", "true", "reportZeroTimePackages");
        put(values, "required", "true", "required");
        put(values, "counting.root-methods", "com.acme.OrderHandler.handle", "rootMethods");
        put(values, "sample-unmounted-virtual-threads", "true", "sampleUnmountedVirtualThreads");
        put(values, "sampling-frequency", "20ms", "samplingFrequencyMillis", "20");
        put(values, "sampling-signal", "40", "samplingSignal");
        put(values, "skip-daemon-threads", "true", "skipDaemonThreads");
        return values;
    }

    private static void put(Map<String, Value> values, String name, String value, String option) {
        put(values, name, value, option, value);
    }

    private static void put(Map<String, Value> values, String name, String value, String option, String set) {
        values.put(name, new Value(value, option, set));
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
        Map<String, String> expected = new TreeMap<>();
        VALUES.values().forEach(value -> expected.put(value.option(), plain(value.set())));
        assertThat(options(new ThreadsSampler())).containsOnlyKeys(expected.keySet());
        application
                .withPropertyValues(VALUES.entrySet().stream()
                        .map(value -> "threads-sampler." + value.getKey() + "="
                                + value.getValue().written())
                        .toArray(String[]::new))
                .withPropertyValues("threads-sampler.auto-start=false")
                .run(context -> assertThat(options(context.getBean(ThreadsSampler.class)))
                        .isEqualTo(expected));
    }

    @Test
    void theEndpointTakesEachPropertyByItsNameAndWithItsValue() {
        Map<String, String> expected = new TreeMap<>();
        VALUES.values().forEach(value -> expected.put(value.option(), plain(value.set())));
        for (String prefix : List.of("", "threads-sampler.")) {
            ThreadsSampler sampler = new ThreadsSampler();
            SamplerSettings settings = new SamplerSettings(sampler);
            VALUES.forEach((name, value) -> settings.set(prefix + name, value.written()));
            assertThat(options(sampler)).isEqualTo(expected);
        }
    }

    private static Map<String, String> options(ThreadsSampler sampler) {
        Map<String, String> options = new TreeMap<>();
        new SamplerSettings(sampler)
                .values()
                .forEach((name, value) -> options.put(name, value == null ? "" : plain(value)));
        return options;
    }

    @Test
    void thereAreNoOtherPropertiesThanTheOptionsAndThoseOfTheStarter() {
        assertThat(UnknownSettings.known())
                .filteredOn(name -> !name.matches("(output|server)\\..*"))
                .containsExactlyInAnyOrderElementsOf(
                        Stream.concat(Stream.of("enabled", "auto-start"), VALUES.keySet().stream())
                                .toList());
    }

    @Test
    void theDefaultsAreThoseOfTheSampler() {
        application
                .withPropertyValues("threads-sampler.auto-start=false")
                .run(context -> assertThat(options(context.getBean(ThreadsSampler.class)))
                        .isEqualTo(options(new ThreadsSampler())));
    }

    @Test
    void theDefaultsOfPushAndServerAreTheirs() {
        application
                .withPropertyValues(
                        "threads-sampler.auto-start=false",
                        "threads-sampler.output.push.url=http://127.0.0.1:1/",
                        "threads-sampler.server.enabled=true")
                .run(context -> {
                    assertThat(context.getBean(ThreadsSampler.class).getSamplingOutputer())
                            .usingRecursiveComparison()
                            .comparingOnlyFields(
                                    "queueLimitBytes",
                                    "reportLimitBytes",
                                    "timeoutMillis",
                                    "closeMillis",
                                    "spreadMillis",
                                    "headers",
                                    "resourceAttributes",
                                    "serviceName")
                            .isEqualTo(new RemoteSamplingOutputer());
                    assertThat(context.getBean(ThreadsSamplerServer.class))
                            .usingRecursiveComparison()
                            .comparingOnlyFields("host", "port", "token", "allowedHosts", "maxSeconds", "mcp")
                            .isEqualTo(new ThreadsSamplerServer());
                });
    }

    @Test
    void aValueOutOfRangeIsOneWarningAndTheApplicationRuns(CapturedOutput output) {
        application.withPropertyValues("threads-sampler.sampling-frequency=0").run(context -> {
            assertThat(context).hasNotFailed();
            assertThat(context.getBean(ThreadsSampler.class).isRunning()).isFalse();
        });
        assertThat(warnings(output)).isEqualTo(1);
        assertThat(output.getAll())
                .contains(WARNING + "threads-sampler.sampling-frequency: samplingFrequencyMillis must be between 1 and"
                        + " 3600000, got 0");
    }

    @Test
    void aTimeThatNoNumberHoldsIsOneWarningAndTheApplicationRuns(CapturedOutput output) {
        application
                .withPropertyValues("threads-sampler.sampling-frequency=PT9223372036854775807S")
                .run(context -> assertThat(context).hasNotFailed());
        assertThat(warnings(output)).isEqualTo(1);
        assertThat(output.getAll())
                .contains(WARNING + "threads-sampler.sampling-frequency: sampling-frequency is too long: PT");
    }

    @Test
    void textThatIsNoValueIsOneWarningAndTheApplicationRuns(CapturedOutput output) {
        application
                .withPropertyValues("threads-sampler.output.log.format=poster")
                .run(context -> assertThat(context).hasNotFailed());
        assertThat(warnings(output)).isEqualTo(1);
        assertThat(output.getAll()).contains("threads-sampler.output.log.format", "poster");
    }

    @Test
    void aFileThatCannotBeWrittenIsOneWarningAndTheApplicationRuns(CapturedOutput output) throws IOException {
        Path noFolder = Files.createFile(folder.resolve("file"));
        application
                .withPropertyValues("threads-sampler.output.file.path=" + noFolder.resolve("report.html"))
                .run(context -> {
                    assertThat(context).hasNotFailed();
                    assertThat(context.getBean(ThreadsSampler.class).isRunning())
                            .isFalse();
                });
        assertThat(warnings(output)).isEqualTo(1);
        assertThat(output.getAll()).contains("cannot open " + noFolder.resolve("report.html"));
    }

    @Test
    void aFormThatIsNotForTheLogIsOneWarning(CapturedOutput output) {
        application
                .withPropertyValues("threads-sampler.output.log.format=html")
                .run(context -> assertThat(context).hasNotFailed());
        assertThat(warnings(output)).isEqualTo(1);
        assertThat(output.getAll())
                .contains(WARNING + "threads-sampler.output.log.format: must be TEXT, TOP or CALLS, got HTML");
    }

    /** One warning names each of them. Wrong properties of other programs fail as they do without the sampler. */
    @Test
    void severalWrongValuesAreOneWarning(CapturedOutput output) {
        application
                .withPropertyValues(
                        "threads-sampler.report.frequency=often",
                        "threads-sampler.counting.max-call-depth=deep",
                        "threads-sampler.output.push.queue-limit=large")
                .run(context -> assertThat(context.getBean(ThreadsSampler.class).isRunning())
                        .isFalse());
        assertThat(warnings(output)).isEqualTo(1);
        assertThat(output.getAll())
                .contains(
                        "threads-sampler.report.frequency: ",
                        "threads-sampler.counting.max-call-depth: ",
                        "threads-sampler.output.push.queue-limit: ");
    }

    @ConfigurationProperties("acme")
    record Acme(int size) {}

    @Configuration(proxyBeanMethods = false)
    @EnableConfigurationProperties(Acme.class)
    static class WithProperties {}

    @Test
    void aWrongValueOfTheApplicationEndsItAsBefore() {
        application
                .withUserConfiguration(WithProperties.class)
                .withPropertyValues("acme.size=large")
                .run(context -> assertThat(context).hasFailed());
    }

    @Test
    void aFailureStopsTheStartIfTheSamplerIsRequired() {
        application
                .withPropertyValues("threads-sampler.required=true", "threads-sampler.sampling-frequency=0")
                .run(context -> assertThat(context).hasFailed());
    }

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration(ThreadsSamplerAutoConfiguration.class)
    static class WithoutWeb {}

    /** Boot reports errors of its own properties in the same way. */
    @Test
    void aFailureThatStopsTheStartIsExplainedWithoutAStackTrace(CapturedOutput output) {
        SpringApplication required = new SpringApplicationBuilder(WithoutWeb.class)
                .web(WebApplicationType.NONE)
                .build();
        assertThatThrownBy(() ->
                        required.run("--threads-sampler.required=true", "--threads-sampler.report.frequency=often"))
                .hasStackTraceContaining("threads-sampler.report.frequency");
        assertThat(output.getAll())
                .contains(
                        "APPLICATION FAILED TO START",
                        "threads-sampler cannot sample, and threads-sampler.required is true: "
                                + "threads-sampler.report.frequency: ",
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
                        "threads-sampler.counting.root-methods[0]=com.acme.A.a",
                        "threads-sampler.report.frequency=${acme.minutes}",
                        "threads-sampler.close-timeout=PT90S",
                        "threads-sampler.sampling-frequency=1s",
                        "threads-sampler.idle-lookback=500",
                        "threads-sampler.memory-limit=16MB")
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
    void aListInYamlIsAccepted(CapturedOutput output) throws IOException {
        Path yaml = Files.writeString(folder.resolve("application.yaml"), """
                threads-sampler:
                  auto-start: false
                  monitored-packages:
                    - com.acme
                    - org.example
                  report:
                    frequency: 600
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
                .withPropertyValues("threads-sampler.report.frequency=1500ms")
                .run(context -> assertThat(context).hasNotFailed());
        assertThat(warnings(output)).isEqualTo(1);
        assertThat(output.getAll())
                .contains("threads-sampler.report.frequency: frequency must be whole seconds, got PT1.5S");
    }

    @Test
    void anUnknownPropertyIsAWarningWithTheNearestName(CapturedOutput output) {
        Map<String, String> near = new TreeMap<>();
        near.put("monitored-package", "monitored-packages");
        near.put("sampling-frequency-millis", "sampling-frequency");
        near.put("report-frequency-seconds", "report.frequency");
        near.put("report-cpu-time", "report.cpu-time");
        near.put("max-groups", "report.max-groups");
        near.put("memory-limit-bytes", "memory-limit");
        near.put("close-timeout-seconds", "close-timeout");
        near.put("root-methods", "counting.root-methods");
        near.put("max-counted-methods", "counting.max-counted-methods");
        near.put("output.max-file", "output.file.max-files");
        near.put("output.max-total-size", "output.file.max-total-size");
        near.put("output.logger-name", "output.log.logger-name");
        near.put("output.level", "output.log.level");
        near.put("server.max-seconds", "server.max-time");
        application
                .withPropertyValues(near.keySet().stream()
                        .map(name -> "threads-sampler." + name + "=1")
                        .toArray(String[]::new))
                .withPropertyValues(
                        "threads-sampler.output.file.maxFiles=3",
                        "threads-sampler.sampling_frequency=20",
                        "threads-sampler.output.push.headers.X-Scope-OrgID=team",
                        "threads-sampler.output.push.resource-attributes[service.version]=1.2",
                        "threads-sampler.enabled=true")
                .run(context -> assertThat(context.getBean(ThreadsSampler.class).isRunning())
                        .isTrue());
        assertThat(output.getAll().split("there is no property ", -1)).hasSize(1 + near.size());
        near.forEach((wrong, right) -> assertThat(output.getAll())
                .contains("there is no property threads-sampler." + wrong + "; did you mean threads-sampler." + right
                        + "?"));
    }

    @Test
    void noSamplerExistsIfItIsDisabled() {
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
                .withPropertyValues("threads-sampler.output.file.path=" + folder.resolve("report.html"))
                .run(context -> {
                    ThreadsSampler sampler = context.getBean(ThreadsSampler.class);
                    assertThat(sampler.getSamplingOutputer()).isSameAs(context.getBean(SamplingOutputer.class));
                    assertThat(sampler.getThreadNameManipulator())
                            .isSameAs(context.getBean(ThreadNameManipulator.class));
                });
        assertThat(folder).isEmptyDirectory();
    }

    private static final AtomicInteger CLOSES = new AtomicInteger();

    private static class Counting implements SamplingOutputer {
        @Override
        public void printIntervalTitle(String title) {}

        @Override
        public void printThreadRecord(String threadTitle, String record) {}

        @Override
        public void printError(String message, Throwable cause) {}

        @Override
        public void flush() {}

        @Override
        public void close() {
            CLOSES.incrementAndGet();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class ClosedBySpring {
        @Bean
        SamplingOutputer outputer() {
            return new Counting();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class NotClosedBySpring {
        @Bean(destroyMethod = "")
        SamplingOutputer outputer() {
            return new Counting();
        }
    }

    @Test
    void anOutputerThatIsABeanIsClosedOnce() {
        for (Class<?> each : List.of(ClosedBySpring.class, NotClosedBySpring.class)) {
            CLOSES.set(0);
            application.withUserConfiguration(each).run(context -> {
                assertThat(context.getBean(ThreadsSampler.class).isRunning()).isTrue();
                assertThat(CLOSES).hasValue(0);
            });
            assertThat(CLOSES).as(each.getSimpleName()).hasValue(1);
        }
    }

    @Test
    void anOutputerOfTheParentIsClosedOnceByIt() {
        CLOSES.set(0);
        try (ConfigurableApplicationContext parent = new AnnotationConfigApplicationContext(ClosedBySpring.class)) {
            application
                    .withParent(parent)
                    .run(context -> assertThat(
                                    context.getBean(ThreadsSampler.class).getSamplingOutputer())
                            .isInstanceOf(Counting.class));
            assertThat(CLOSES).hasValue(0);
        }
        assertThat(CLOSES).hasValue(1);
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
    void severalOutputersAreOneWarningAndNoneIsUsed(CapturedOutput output) {
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
                        "threads-sampler.output.file.path=" + folder.resolve("report-%n.html"),
                        "threads-sampler.output.file.max-files=3",
                        "threads-sampler.output.file.max-total-size=1MB",
                        "threads-sampler.sampling-frequency=5")
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
    void reportsGoToSeveralPlacesAtOnce(CapturedOutput output) throws IOException {
        application
                .withPropertyValues(
                        "threads-sampler.output.file.path=" + folder.resolve("report.collapsed"),
                        "threads-sampler.output.log.enabled=true",
                        "threads-sampler.output.push.url=http://127.0.0.1:1/",
                        "threads-sampler.output.push.close-timeout=0",
                        "threads-sampler.sampling-frequency=5ms")
                .run(context -> {
                    ThreadsSampler sampler = context.getBean(ThreadsSampler.class);
                    patiently().until(() -> sampler.getStatistics().getPolls() > 0);
                });
        assertThat(folder.resolve("report.collapsed")).isNotEmptyFile();
        assertThat(output.getAll()).contains("Report interval: ", "reports were not sent");
    }

    @Test
    void aReportThatGoesElsewhereIsNotLogged() {
        for (String property : List.of("file.path=" + folder.resolve("a.html"), "push.url=http://127.0.0.1:1/")) {
            application
                    .withPropertyValues("threads-sampler.auto-start=false", "threads-sampler.output." + property)
                    .run(context -> assertThat(
                                    context.getBean(ThreadsSampler.class).getSamplingOutputer())
                            .isInstanceOfAny(FileSamplingOutputer.class, RemoteSamplingOutputer.class));
        }
    }

    @Test
    void theServerThatReportsArePushedToIsAsThePropertiesSay() {
        application
                .withPropertyValues(
                        "spring.application.name=orders",
                        "threads-sampler.auto-start=false",
                        "threads-sampler.output.push.url=otlp+http://collector:4318",
                        "threads-sampler.output.push.headers.Authorization=Bearer a,b=c+d",
                        "threads-sampler.output.push.resource-attributes.service.version=1.2",
                        "threads-sampler.output.push.queue-limit=1MB",
                        "threads-sampler.output.push.report-limit=8KB",
                        "threads-sampler.output.push.timeout=1",
                        "threads-sampler.output.push.spread=2",
                        "threads-sampler.output.push.close-timeout=3")
                .run(context -> {
                    RemoteSamplingOutputer push = (RemoteSamplingOutputer)
                            context.getBean(ThreadsSampler.class).getSamplingOutputer();
                    assertThat(push.getUrl()).isEqualTo("otlp+http://collector:4318");
                    assertThat(push.getServiceName()).isEqualTo("orders");
                    assertThat(push.getHeaders()).isEqualTo("Authorization=Bearer%20a%2Cb%3Dc%2Bd");
                    assertThat(push.getResourceAttributes()).isEqualTo("service.version=1.2");
                    assertThat(push.getQueueLimitBytes()).isEqualTo(1 << 20);
                    assertThat(push.getReportLimitBytes()).isEqualTo(8 << 10);
                    assertThat(push.getTimeoutMillis()).isEqualTo(1000);
                    assertThat(push.getSpreadMillis()).isEqualTo(2000);
                    assertThat(push.getCloseMillis()).isEqualTo(3000);
                });
    }

    @Test
    void theServersStartAndEndWithTheApplication() {
        ThreadsSamplerServer[] seen = new ThreadsSamplerServer[1];
        application
                .withPropertyValues("threads-sampler.server.enabled=true", "threads-sampler.server.max-time=2m")
                .run(context -> {
                    seen[0] = context.getBean(ThreadsSamplerServer.class);
                    assertThat(seen[0].getUrl()).hasScheme("http").hasHost("127.0.0.1");
                    assertThat(seen[0].getMaxSeconds()).isEqualTo(120);
                });
        assertThat(seen[0].getUrl()).isNull();
    }

    @Test
    void aServerThatCannotStartIsOneWarningAndTheSamplerRuns(CapturedOutput output) throws IOException {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            application
                    .withPropertyValues(
                            "threads-sampler.server.enabled=true",
                            "threads-sampler.server.port=" + taken.getLocalPort())
                    .run(context -> assertThat(
                                    context.getBean(ThreadsSampler.class).isRunning())
                            .isTrue());
        }
        assertThat(output.getAll()).containsOnlyOnce("the sampler has no server: ");
    }

    @Test
    void aWrongValueOfTheServerIsOneWarning(CapturedOutput output) {
        application
                .withPropertyValues("threads-sampler.server.enabled=true", "threads-sampler.server.port=70000")
                .run(context -> assertThat(context).hasNotFailed());
        assertThat(warnings(output)).isEqualTo(1);
        assertThat(output.getAll()).contains(WARNING + "threads-sampler.server.port: port must be between 0 and 65535");
    }

    /** Spring stops and starts an application for a checkpoint of its JVM, or on request. */
    @Test
    void theSamplerStopsAndStartsWithItsContext() {
        application.run(context -> {
            ThreadsSampler sampler = context.getBean(ThreadsSampler.class);
            context.getSourceApplicationContext(ConfigurableApplicationContext.class)
                    .stop();
            assertThat(sampler.isRunning()).isFalse();
            context.getSourceApplicationContext(ConfigurableApplicationContext.class)
                    .start();
            assertThat(sampler.isRunning()).isTrue();
        });
    }

    @Configuration(proxyBeanMethods = false)
    static class StartsTheSampler {
        @Bean
        SmartInitializingSingleton starter(ThreadsSampler sampler) {
            return sampler::init;
        }
    }

    @Test
    void aSamplerThatABeanStartsHasItsServer() {
        ThreadsSamplerServer[] seen = new ThreadsSamplerServer[1];
        application
                .withUserConfiguration(StartsTheSampler.class)
                .withPropertyValues("threads-sampler.server.enabled=true")
                .run(context -> {
                    seen[0] = context.getBean(ThreadsSamplerServer.class);
                    assertThat(seen[0].getUrl()).isNotNull();
                    assertThat(context.getBean(ThreadsSampler.class).isRunning())
                            .isTrue();
                });
        assertThat(seen[0].getUrl()).isNull();
    }

    @Configuration(proxyBeanMethods = false)
    static class ServerThatRuns {
        @Bean(initMethod = "init")
        ThreadsSamplerServer server(ThreadsSampler sampler) {
            ThreadsSamplerServer server = new ThreadsSamplerServer();
            server.setSampler(sampler);
            return server;
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class ServerOfAnotherSampler {
        @Bean
        ThreadsSamplerServer server() {
            ThreadsSamplerServer server = new ThreadsSamplerServer();
            server.setSampler(new ThreadsSampler());
            return server;
        }
    }

    @Test
    void aServerOfTheApplicationsOwnIsLeftAlone(CapturedOutput output) {
        application.withUserConfiguration(ServerThatRuns.class).run(context -> {
            ThreadsSamplerServer server = context.getBean(ThreadsSamplerServer.class);
            assertThat(server.getUrl()).isNotNull();
            context.getBean(SamplerLifecycle.class).stop();
            assertThat(server.getUrl()).isNotNull();
        });
        application.withUserConfiguration(ServerOfAnotherSampler.class).run(context -> {
            assertThat(context.getBean(ThreadsSampler.class).isRunning()).isTrue();
            assertThat(context.getBean(ThreadsSamplerServer.class).getUrl()).isNull();
        });
        assertThat(output.getAll()).doesNotContain("the sampler has no server");
    }

    /** Spring then starts all beans, also those without auto-start. */
    @Test
    void aContextThatIsStartedStartsOnlyASamplerThatItHasStopped() {
        for (String property : List.of("auto-start=false", "sampling-frequency=0")) {
            application.withPropertyValues("threads-sampler." + property).run(context -> {
                ConfigurableApplicationContext started =
                        context.getSourceApplicationContext(ConfigurableApplicationContext.class);
                ThreadsSampler sampler = context.getBean(ThreadsSampler.class);
                started.start();
                assertThat(sampler.isRunning()).as(property).isFalse();
                sampler.init();
                started.stop();
                assertThat(sampler.isRunning()).isFalse();
                started.start();
                assertThat(sampler.isRunning()).as(property).isTrue();
            });
        }
    }

    @Test
    void anOutputThatCannotBeClosedEndsNothingElse(CapturedOutput output) {
        application.withPropertyValues("threads-sampler.server.enabled=true").run(context -> {
            ThreadsSampler sampler = context.getBean(ThreadsSampler.class);
            sampler.setSamplingOutputer(new LoggerSamplingOutputer() {
                @Override
                public void close() {
                    throw new IllegalStateException("no end");
                }
            });
            AtomicInteger calls = new AtomicInteger();
            context.getBean(SamplerLifecycle.class).stop(calls::incrementAndGet);
            assertThat(calls).hasValue(1);
            assertThat(sampler.isRunning()).isFalse();
            assertThat(context.getBean(ThreadsSamplerServer.class).getUrl()).isNull();
        });
        assertThat(output.getAll()).contains("the sampler has not ended as it should: ");
    }

    /** As with a copy of the starter without its meters, or with Micrometer alone. */
    @Test
    void withoutTheClassOfTheMetersThereAreNone() {
        application
                .withConfiguration(AutoConfigurations.of(ThreadsSamplerMetricsAutoConfiguration.class))
                .withClassLoader(new FilteredClassLoader(ThreadsSamplerMetrics.class))
                .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean("threadsSamplerMetrics"));
    }

    private static final List<String> ORDER = new CopyOnWriteArrayList<>();

    @Configuration(proxyBeanMethods = false)
    static class EarlyServer {
        @Bean
        SmartLifecycle early(ThreadsSampler sampler) {
            return new SmartLifecycle() {
                private boolean runs;

                @Override
                public void start() {
                    ORDER.add("start, sampler " + sampler.isRunning());
                    runs = true;
                }

                @Override
                public void stop() {
                    ORDER.add("stop, sampler " + sampler.isRunning());
                    runs = false;
                }

                @Override
                public boolean isRunning() {
                    return runs;
                }

                @Override
                public int getPhase() {
                    return -1;
                }
            };
        }
    }

    @Test
    void theSamplerStartsBeforeServersAndEndsAfterThem() {
        ORDER.clear();
        application
                .withUserConfiguration(EarlyServer.class)
                .run(context -> assertThat(context).hasNotFailed());
        assertThat(ORDER).containsExactly("start, sampler true", "stop, sampler true");
    }

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration(ThreadsSamplerAutoConfiguration.class)
    static class Tested {}

    /** As for a test class: the framework creates the context, and closes it after all tests. */
    @Test
    void inATestNoReportIsLoggedUnlessTheApplicationWantsIt() {
        assertThat(outputerInATest(AsATest.class)).isNotInstanceOf(LoggerSamplingOutputer.class);
        assertThat(outputerInATest(AsATestThatWantsReports.class)).isInstanceOf(LoggerSamplingOutputer.class);
    }

    private static SamplingOutputer outputerInATest(Class<?> test) {
        TestContextManager manager = new TestContextManager(test);
        ConfigurableApplicationContext context =
                (ConfigurableApplicationContext) manager.getTestContext().getApplicationContext();
        SamplingOutputer outputer = context.getBean(ThreadsSampler.class).getSamplingOutputer();
        manager.getTestContext().markApplicationContextDirty(DirtiesContext.HierarchyMode.EXHAUSTIVE);
        return outputer;
    }

    @ContextConfiguration(classes = Tested.class)
    static class AsATest {}

    @ContextConfiguration(classes = Tested.class)
    @TestPropertySource(properties = "threads-sampler.output.log.enabled=true")
    static class AsATestThatWantsReports {}

    @Test
    void twoTestsOfOneConfigurationHaveOneContext() {
        ApplicationContext first =
                new TestContextManager(AsATest.class).getTestContext().getApplicationContext();
        TestContext second = new TestContextManager(AlsoATest.class).getTestContext();
        assertThat(second.getApplicationContext()).isSameAs(first);
        second.markApplicationContextDirty(DirtiesContext.HierarchyMode.EXHAUSTIVE);
    }

    @ContextConfiguration(classes = Tested.class)
    static class AlsoATest {}

    @Test
    void theShortFormIsOneEventOfTheLog(CapturedOutput output) {
        application
                .withPropertyValues(
                        "threads-sampler.output.log.format=top",
                        "threads-sampler.output.log.logger-name=the.sampler",
                        "threads-sampler.output.log.level=warn",
                        "threads-sampler.sampling-frequency=5")
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
                .withPropertyValues("threads-sampler.output.log.enabled=false", "threads-sampler.sampling-frequency=5")
                .run(context -> {
                    ThreadsSampler sampler = context.getBean(ThreadsSampler.class);
                    patiently().until(() -> sampler.getStatistics().getPolls() > 0);
                });
        assertThat(output.getAll()).doesNotContain("Report interval");
    }
}

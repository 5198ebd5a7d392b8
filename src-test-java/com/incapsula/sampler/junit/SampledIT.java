// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.junit;

import static com.incapsula.sampler.testing.Samplers.patiently;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import com.incapsula.sampler.ReportFormat;
import com.incapsula.sampler.testing.NothingLeft;
import com.incapsula.sampler.testing.Samplers;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionConfigurationException;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.reporting.FileEntry;
import org.junit.platform.engine.reporting.ReportEntry;
import org.junit.platform.launcher.LauncherConstants;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/** Tests with the annotation, run by JUnit's launcher. The sampler ends together with the launcher. */
@ExtendWith(NothingLeft.class)
@Timeout(Samplers.HANG_SECONDS)
class SampledIT {

    private static final int SLOW_MILLIS = 100;

    @TempDir
    Path folder;

    // ---- the tests that are sampled ----

    private static void waits() {
        try {
            new CountDownLatch(1).await(SLOW_MILLIS, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @Sampled(samplingFrequencyMillis = 5)
    static class Failing {
        @Test
        void fails() {
            waits();
            throw new IllegalStateException("its own failure");
        }
    }

    static class NoPath {
        @Test
        @Sampled(samplingFrequencyMillis = 5, folder = "no\0path")
        void fails() {
            waits();
            throw new IllegalStateException("its own failure");
        }
    }

    @Sampled(slowerThanMillis = 1, samplingFrequencyMillis = 5, lines = 3, format = ReportFormat.COLLAPSED)
    static class Slow {
        @Test
        void passes() {
            waits();
        }

        @Test
        @Sampled(slowerThanMillis = 3_600_000, samplingFrequencyMillis = 5)
        void isQuickEnough() {
            waits();
        }

        @ParameterizedTest
        @ValueSource(ints = {7, 8})
        void withParameter(int number) {
            waits();
        }

        @TestFactory
        Stream<DynamicTest> dynamic() {
            return Stream.of(dynamicTest("one", SampledIT::waits), dynamicTest("two", SampledIT::waits));
        }

        @Nested
        class Inner {
            @Test
            void passes() {
                waits();
            }
        }
    }

    @ExtendWith(SampledExtension.class)
    static class Defaults {
        @Test
        void passes() {
            waits();
        }
    }

    @Sampled(slowerThanMillis = 0)
    static class Every {
        @Test
        void passes() {}

        @Test
        void isAborted() {
            Assumptions.abort("not here");
        }
    }

    @Sampled(slowerThanMillis = 0, format = ReportFormat.COLLAPSED)
    static class Overloaded {
        @Test
        void passes() {}

        @Test
        void passes(TestInfo info) {}

        @ParameterizedTest
        @ValueSource(ints = {7, 8})
        void passes(int number) {}
    }

    static class Timed {
        @Test
        @Timeout(value = 2, unit = TimeUnit.MINUTES)
        @Sampled(slowerThanMillis = 0, samplingFrequencyMillis = 5)
        void passes() {
            assertThat(isInsideOfATimeout()).isTrue();
        }

        @Test
        @Timeout(value = 50, unit = TimeUnit.MILLISECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
        @Sampled(samplingFrequencyMillis = 5)
        void hangs() throws InterruptedException {
            new CountDownLatch(1).await();
        }
    }

    static class Wrong {
        @Test
        @Sampled(samplingFrequencyMillis = 0)
        void frequency() {}

        @Test
        @Sampled(lines = 0)
        void lines() {}

        @Test
        @Sampled(slowerThanMillis = -1)
        void slowerThan() {}
    }

    private static boolean isInsideOfATimeout() {
        return StackWalker.getInstance()
                .walk(frames ->
                        frames.anyMatch(frame -> frame.getClassName().startsWith("org.junit.jupiter.engine.extension.")
                                && frame.getClassName().endsWith("TimeoutInvocation")));
    }

    // ---- running them ----

    /** The results of the tests of a class. */
    private static final class Outcomes implements TestExecutionListener {

        private final List<String> entries = new ArrayList<>();
        private final List<FileEntry> files = new ArrayList<>();
        private final List<Throwable> failures = new ArrayList<>();
        private final List<Boolean> insideOfATimeout = new ArrayList<>(); // one for each entry
        private int passed;

        @Override
        public void executionFinished(TestIdentifier test, TestExecutionResult result) {
            if (test.isTest() && result.getStatus() == TestExecutionResult.Status.SUCCESSFUL) {
                passed++;
            }
            if (result.getStatus() == TestExecutionResult.Status.FAILED) {
                failures.add(result.getThrowable().orElseThrow());
            }
        }

        @Override
        public void fileEntryPublished(TestIdentifier test, FileEntry file) {
            files.add(file);
        }

        @Override
        public void reportingEntryPublished(TestIdentifier test, ReportEntry entry) {
            entries.add(entry.getKeyValuePairs().get(SampledExtension.ENTRY));
            insideOfATimeout.add(isInsideOfATimeout());
        }
    }

    private Outcomes run(Class<?> tests) {
        return run(tests, folder);
    }

    private static Outcomes run(Class<?> tests, Path to) {
        return run(tests, SampledExtension.FOLDER_PARAMETER, to);
    }

    private static Outcomes run(Class<?> tests, String parameter, Path value) {
        Outcomes outcomes = new Outcomes();
        LauncherFactory.create()
                .execute(
                        LauncherDiscoveryRequestBuilder.request()
                                .selectors(selectClass(tests))
                                .configurationParameter(parameter, value.toString())
                                .build(),
                        outcomes);
        return outcomes;
    }

    private List<String> files() throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.map(file -> file.getFileName().toString().replace(SampledIT.class.getName() + "$", ""))
                    .sorted()
                    .toList();
        }
    }

    @Test
    void aFailureHasTheHottestLinesAndTheFile() {
        patiently().until(() -> {
            Outcomes outcomes = run(Failing.class);
            assertThat(outcomes.failures).singleElement().satisfies(failure -> {
                assertThat(failure).isInstanceOf(IllegalStateException.class).hasMessage("its own failure");
                assertThat(failure.getSuppressed()).hasSize(1);
                assertThat(failure.getSuppressed()[0]).isInstanceOf(SampledTimes.class);
                assertThat(failure.getSuppressed()[0].getStackTrace()).isEmpty();
                assertThat(failure.getSuppressed()[0].getMessage())
                        .startsWith("the test ran for ")
                        .endsWith("the whole report: " + folder.resolve(Failing.class.getName() + ".fails.html"))
                        .isEqualTo(outcomes.entries.get(0));
            });
            return outcomes.entries.get(0).contains(" <- " + SampledIT.class.getName() + ".waits(SampledIT.java:");
        });
        assertThat(folder.resolve(Failing.class.getName() + ".fails.html"))
                .content()
                .contains("threads-sampler/1");
    }

    @Test
    void aSlowTestIsReportedAndPasses() throws IOException {
        Outcomes outcomes = run(Slow.class);
        assertThat(outcomes.failures).isEmpty();
        assertThat(outcomes.passed).isEqualTo(7);
        assertThat(outcomes.entries).hasSize(6).allMatch(entry -> entry.startsWith("the test ran for "));
        assertThat(outcomes.entries)
                .allSatisfy(entry -> assertThat(entry.lines()).hasSizeLessThanOrEqualTo(5));
        assertThat(files())
                .containsExactly(
                        "Slow$Inner.passes.collapsed",
                        "Slow.dynamic-1.collapsed",
                        "Slow.dynamic-2.collapsed",
                        "Slow.passes.collapsed",
                        "Slow.withParameter-1.collapsed",
                        "Slow.withParameter-2.collapsed");
        assertThat(folder.resolve(Slow.class.getName() + ".passes.collapsed"))
                .content()
                .contains("java.lang.Thread.run(");
    }

    @Test
    void withoutTheAnnotationOnlyFailuresAreReported() throws IOException {
        Outcomes outcomes = run(Defaults.class);
        assertThat(outcomes.passed).isEqualTo(1);
        assertThat(outcomes.entries).isEmpty();
        assertThat(files()).isEmpty();
    }

    @Test
    void atZeroEveryTestIsReportedButOneThatIsAborted() throws IOException {
        Outcomes outcomes = run(Every.class);
        assertThat(outcomes.failures).isEmpty();
        assertThat(outcomes.entries).hasSize(1);
        assertThat(files()).containsExactly("Every.passes.html");
    }

    @Test
    void theReportIsMadeOutsideOfTheTestsTimeout() {
        patiently().until(() -> {
            // Runs in another thread, because this test itself has a timeout.
            Outcomes outcomes =
                    CompletableFuture.supplyAsync(() -> run(Timed.class)).join();
            assertThat(outcomes.passed).isEqualTo(1);
            assertThat(outcomes.insideOfATimeout).hasSize(2).containsOnly(false);
            assertThat(outcomes.failures)
                    .singleElement()
                    .satisfies(failure -> assertThat(failure).isInstanceOf(TimeoutException.class));
            List<Throwable> times = Arrays.stream(outcomes.failures.get(0).getSuppressed())
                    .filter(each -> each instanceof SampledTimes)
                    .toList();
            assertThat(times).hasSize(1);
            // Repeated if the time was over before the thread of the test had a CPU.
            return times.get(0).getMessage().contains("of the threads junit-timeout-thread-");
        });
    }

    @Test
    void withoutAFolderJUnitPublishesTheFile() {
        Outcomes outcomes = run(Every.class, LauncherConstants.OUTPUT_DIR_PROPERTY_NAME, folder);
        assertThat(outcomes.files).singleElement().satisfies(file -> {
            assertThat(file.getMediaType()).hasValue("text/html; charset=utf-8");
            assertThat(file.getPath()).startsWith(folder).content().contains("threads-sampler/1");
            assertThat(outcomes.entries.get(0)).endsWith("the whole report: " + file.getPath());
        });
    }

    @Test
    void overloadedTestsHaveFilesOfTheirOwn() throws IOException {
        assertThat(run(Overloaded.class).passed).isEqualTo(4);
        assertThat(files())
                .containsExactly(
                        "Overloaded.passes(int)-1.collapsed",
                        "Overloaded.passes(int)-2.collapsed",
                        "Overloaded.passes(org.junit.jupiter.api.TestInfo).collapsed",
                        "Overloaded.passes.collapsed");
    }

    @Test
    void optionsOutOfRangeFailTheTest() {
        Outcomes outcomes = run(Wrong.class);
        assertThat(outcomes.failures)
                .hasSize(3)
                .allMatch(failure -> failure instanceof ExtensionConfigurationException)
                .extracting(Throwable::getMessage)
                .containsExactlyInAnyOrder(
                        "@Sampled: samplingFrequencyMillis must be between 1 and 3600000, got 0",
                        "@Sampled: lines must be at least 1, got 0",
                        "@Sampled: slowerThanMillis must not be negative, got -1");
    }

    @Test
    void aFileThatCannotBeWrittenChangesNothingElse() throws IOException {
        Path noFolder = Files.createFile(folder.resolve("file"));
        Outcomes outcomes = run(Failing.class, noFolder);
        assertThat(outcomes.failures).singleElement().satisfies(failure -> {
            assertThat(failure).hasMessage("its own failure");
            assertThat(failure.getSuppressed()[0].getMessage())
                    .contains("the whole report could not be written: java.nio.file.FileAlreadyExistsException");
        });
        assertThat(noFolder).isEmptyFile();
    }

    /* In a JVM whose file names are ASCII, any other letter in a test's name has the same effect. */
    @Test
    void aNameThatNoFileCanHaveChangesNothingElse() {
        Outcomes outcomes = run(NoPath.class);
        assertThat(outcomes.failures).singleElement().satisfies(failure -> {
            assertThat(failure).hasMessage("its own failure");
            assertThat(failure.getSuppressed()[0].getMessage())
                    .startsWith("the test ran for ")
                    .contains("the whole report could not be written: java.nio.file.InvalidPathException");
        });
    }
}

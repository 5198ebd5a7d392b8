// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import static com.incapsula.sampler.testing.NothingLeft.assertNothingLeft;
import static com.incapsula.sampler.testing.NothingLeft.liveBytes;
import static com.incapsula.sampler.testing.NothingLeft.samplerThreads;
import static com.incapsula.sampler.testing.Samplers.awaitTicks;
import static com.incapsula.sampler.testing.Samplers.patiently;
import static com.incapsula.sampler.testing.Samplers.quick;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.incapsula.sampler.outputer.PrintStreamSamplingOutputer;
import com.incapsula.sampler.testing.ChildJvm;
import com.incapsula.sampler.testing.NothingLeft;
import com.incapsula.sampler.testing.Preload;
import com.incapsula.sampler.testing.Recorder;
import com.incapsula.sampler.testing.SpringXml;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.ref.WeakReference;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.core.NestedExceptionUtils;

/** A sampler that cannot start says why and leaves nothing behind. */
@ExtendWith(NothingLeft.class)
class BadInputIT {

    @TempDir
    Path folder;

    // ---- wrong values, as in a configuration file ----

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "samplingFrequencyMillis | 0             | samplingFrequencyMillis must be between 1 and 3600000, got 0",
                "samplingFrequencyMillis | 3600001       | samplingFrequencyMillis must be between 1 and 3600000, got 3600001",
                "reportFrequencySeconds  | -1            | reportFrequencySeconds must be between 0 and 31536000, got -1",
                "memoryLimitBytes        | 1             | memoryLimitBytes must be between 4194304 and 1099511627776, got 1",
                "maxDepthFrames          | 65537         | maxDepthFrames must be between 16 and 65536, got 65537",
                "maxCallDepth            | 0             | maxCallDepth must be between 1 and 1000000, got 0",
                "maxGroups               | 0             | maxGroups must be between 1 and 20000, got 0",
                "reportMinPercent        | 100.1         | reportMinPercent must be between 0 and 100, in steps of 0.1, got 100.1",
                "rootMethods             | run           | rootMethods must be methods separated by commas, as"
                        + " com.acme.OrderHandler.handle, com.acme.jobs.*.run, com.acme.batch.**, com.acme.Order.<init>"
                        + " or com.acme.Order.add(int, String); got \"run\": no class before the method; for a class write CLASS.*",
                "instrumentationFilter   | -             | instrumentationFilter must be package prefixes separated by"
                        + " commas, with a minus before those to leave out, as in com.acme, -com.acme.util; got \"-\":"
                        + " a minus without a prefix",
                "monitoredPackages       | com.a, com b  | monitoredPackages must be package prefixes separated by commas,"
                        + " without white space or control characters inside, got \"com b\"",
            })
    void wrongValuesInSpringAreRefusedByTheSetter(String property, String value, String message) {
        String bean = "<property name='" + property + "' value='" + value + "'/>";
        assertThatThrownBy(() -> start(bean))
                .hasMessageEndingWith(
                        "Property '" + property + "' threw exception: java.lang.IllegalArgumentException: " + message);
        assertThat(samplerThreads()).isEmpty();
        assertThat(liveBytes()).isZero();
    }

    @Test
    void valuesThatDoNotGoTogetherAreRefusedByInit() {
        String bean = "<property name='reportFrequencySeconds' value='2'/>"
                + "<property name='samplingFrequencyMillis' value='2001'/>";
        assertThatThrownBy(() -> start(bean))
                .satisfies(failure -> assertThat(NestedExceptionUtils.getMostSpecificCause(failure))
                        .isInstanceOf(IllegalArgumentException.class)
                        .hasMessage("reportFrequencySeconds must be 0 or not shorter than samplingFrequencyMillis,"
                                + " got 2 s and 2001 ms"));
        assertThat(samplerThreads()).isEmpty();
        assertThat(liveBytes()).isZero();
    }

    private static void start(String properties) {
        SpringXml.start("<bean class='com.incapsula.sampler.ThreadsSampler' init-method='init'>" + properties
                        + "</bean>")
                .close();
    }

    // ---- files ----

    @Test
    void aFileThatIsAFolderIsRefusedWithPathAndReason() {
        assertThatThrownBy(() -> new PrintStreamSamplingOutputer(folder.toString()))
                .isInstanceOf(UncheckedIOException.class)
                .hasMessage("cannot open " + folder + " for writing: " + folder + " (Is a directory)");
    }

    @Test
    void aFileInAFileIsRefusedWithPathAndReason() throws IOException {
        Path file = Files.createFile(folder.resolve("file"));
        Path wanted = file.resolve("sub/report.log");
        assertThatThrownBy(() -> new PrintStreamSamplingOutputer(wanted.toString()))
                .isInstanceOf(UncheckedIOException.class)
                .hasMessageStartingWith("cannot open " + wanted + " for writing: ")
                .hasMessageContaining("" + file);
        assertThat(folder.toFile().list()).as("nothing is made").containsExactly("file");
    }

    /** In /proc not even root can create a file. */
    @Test
    void aFileThatMayNotBeMadeIsRefusedWithPathAndReason() {
        assertThatThrownBy(() -> new PrintStreamSamplingOutputer("/proc/report.log"))
                .isInstanceOf(UncheckedIOException.class)
                .hasMessageStartingWith("cannot open /proc/report.log for writing: /proc/report.log (");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", " "})
    void aBlankFileIsRefused(String file) {
        assertThatThrownBy(() -> new PrintStreamSamplingOutputer(file))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("file must not be blank");
        assertThatThrownBy(() -> new PrintStreamSamplingOutputer((String) null))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("file must not be null");
    }

    // ---- nothing is left behind ----

    /** A shutdown hook left behind would keep the outputer reachable. */
    @Test
    void aSamplerThatCouldNotStartCanBeCollected() {
        WeakReference<Recorder> outputer = failToStart();
        assertThat(samplerThreads()).isEmpty();
        assertThat(liveBytes()).isZero();
        awaitCollected(outputer);
    }

    private static void awaitCollected(WeakReference<?> reference) {
        patiently().until(() -> {
            System.gc();
            return reference.get() == null;
        });
    }

    private static WeakReference<Recorder> failToStart() {
        Recorder recorder = new Recorder();
        ThreadsSampler sampler = quick(recorder);
        sampler.setSamplingFrequencyMillis(2000);
        sampler.setReportFrequencySeconds(1);
        assertThatThrownBy(sampler::init).isInstanceOf(IllegalArgumentException.class);
        return new WeakReference<>(recorder);
    }

    /** A sampler that fails to start, because the system refuses to create a thread, and starts later. */
    static final class Program {

        private Program() {}

        public static void main(String[] arguments) throws Exception {
            awaitCollected(run());
            System.out.println("collected");
        }

        private static WeakReference<Recorder> run() throws IOException {
            Recorder recorder = new Recorder();
            ThreadsSampler sampler = quick(recorder);
            sampler.setRequired(true);
            try {
                sampler.init();
                System.out.println("it started");
            } catch (OutOfMemoryError e) {
                System.out.println("init: " + e.getMessage());
            }
            assertNothingLeft();
            System.out.println("calls: " + recorder.calls() + ", paused: " + sampler.isPaused());
            sampler.close();
            sampler.init();
            awaitTicks(sampler, 3);
            sampler.close();
            assertNothingLeft();
            System.out.println("calls: " + recorder.calls().get(0) + " ... "
                    + recorder.calls().get(recorder.calls().size() - 1));
            return new WeakReference<>(recorder);
        }
    }

    @ParameterizedTest
    /*
     * The second thread tries walks, the third writes reports, the fourth samples. Without the first one, which makes
     * the stacks that our own walk is compared with, the sampler still starts.
     */
    @ValueSource(strings = {"2", "3", "4"})
    void nothingIsLeftIfNoThreadCanBeStartedAndTheNextInitWorks(String failing) throws Exception {
        String output = ChildJvm.of(Program.class)
                .withTestLibraries()
                .environment(
                        "LD_PRELOAD",
                        Preload.compile("failing_threads.c", folder).toString())
                .environment("FAILING_THREAD", failing)
                .run()
                .assertFine()
                .output();
        assertThat(output)
                .isEqualTo("init: a thread could not be started\ncalls: [], paused: false\n"
                        + "calls: title ... close\ncollected\n");
    }
}

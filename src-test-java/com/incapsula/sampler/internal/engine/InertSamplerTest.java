// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import com.incapsula.sampler.Fakes;
import com.incapsula.sampler.ReportFormat;
import com.incapsula.sampler.SamplerStatistics;
import com.incapsula.sampler.SamplingClock;
import com.incapsula.sampler.SamplingCursor;
import com.incapsula.sampler.SamplingDiff;
import com.incapsula.sampler.SamplingLimitation;
import com.incapsula.sampler.SamplingMode;
import com.incapsula.sampler.SamplingReport;
import com.incapsula.sampler.ThreadsSampler;
import com.incapsula.sampler.internal.json.JsonParser;
import com.incapsula.sampler.manipulate.ThreadNameManipulator;
import com.incapsula.sampler.outputer.FileSamplingOutputer;
import com.incapsula.sampler.outputer.LoggerSamplingOutputer;
import com.incapsula.sampler.testing.Logged;
import io.opentelemetry.proto.profiles.v1development.ProfilesData;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A sampler in a JVM where sampling is not possible: all methods work, and nothing stops the application. */
class InertSamplerTest {

    private static final String CAUSE = "threads-sampler needs Linux, this is Mac OS X";
    private static final String WARNING = "threads-sampler does not sample: " + CAUSE;

    private final FakeEngine.FakeSource source = new FakeEngine.FakeSource();
    private boolean exiting;
    private final Lifecycle lifecycle = new Lifecycle(source, () -> exiting);
    private final Options options = lifecycle.options();
    private final ThreadsSampler sampler = Fakes.sampler(lifecycle);
    private final RecordingOutputer outputer = new RecordingOutputer();

    InertSamplerTest() {
        sampler.setSamplingOutputer(outputer);
        source.unavailable = new UnsupportedOperationException(CAUSE);
    }

    @AfterEach
    void close() throws IOException {
        sampler.close();
    }

    @Test
    void theLogAndTheOutputerGetOneWarning() throws IOException {
        try (Logged log = new Logged()) {
            sampler.init();
            sampler.printReport();
            sampler.close();
            assertThat(log.messages()).containsExactly("WARN " + WARNING);
        }
        assertThat(outputer.calls).containsExactly("error " + WARNING, "close");
        assertThat(source.made).isEmpty();
    }

    @Test
    void reportsInTheLogGetOneWarningToo() {
        sampler.setSamplingOutputer(new LoggerSamplingOutputer());
        try (Logged log = new Logged();
                Logged reports = new Logged(LoggerSamplingOutputer.class.getName())) {
            sampler.init();
            assertThat(log.messages()).containsExactly("WARN " + WARNING);
            assertThat(reports.messages()).isEmpty();
        }
    }

    @Test
    void joinedOutputersThatDoNotLogGetTheWarning() {
        sampler.setSamplingOutputer(outputer.and(new LoggerSamplingOutputer()));
        try (Logged log = new Logged();
                Logged reports = new Logged(LoggerSamplingOutputer.class.getName())) {
            sampler.init();
            assertThat(log.messages()).containsExactly("WARN " + WARNING);
            assertThat(reports.messages()).isEmpty();
        }
        assertThat(outputer.calls).containsExactly("error " + WARNING);
    }

    @Test
    void aFileThatCannotBeWrittenIsNoReasonToFail() {
        sampler.setSamplingOutputer(new FileSamplingOutputer());
        sampler.init();
        assertThat(sampler.getStatistics().getEngine()).contains(CAUSE);
    }

    @Test
    void everyMethodDoesWhatItSaysWithNothingSampled() throws Exception {
        sampler.init();
        assertThatIllegalStateException().isThrownBy(sampler::init);
        sampler.setSamplingFrequencyMillis(10);
        sampler.setThreadToBeSampled(Thread.currentThread());
        sampler.setThreadNameManipulator(Thread::getName);
        sampler.pauseSampling();
        assertThat(sampler.isPaused()).isTrue();
        sampler.sampleOnceAndPrint();
        sampler.resumeSampling();
        assertThat(sampler.isPaused()).isFalse();
        sampler.printReport();
        ThreadGroup server = new ThreadGroup("server");
        assertThat(lifecycle.hide(server)).isSameAs(server);
        SamplerStatistics statistics = sampler.getStatistics();
        assertThat(statistics.getEngine()).isEqualTo("NONE (" + CAUSE + ")");
        assertThat(statistics.isInert()).isTrue();
        assertThat(statistics.getLimitations())
                .containsExactly(new SamplingLimitation(SamplingLimitation.Code.NOTHING_SAMPLED, CAUSE));
        try (SamplingReport report = sampler.snapshot()) {
            assertThat(report.isInert()).isTrue();
            assertThat(report.getMode()).isEqualTo(SamplingMode.INERT);
            assertThat(report.getLimitations()).isEqualTo(statistics.getLimitations());
        }
        assertThat(statistics.getPolls()).isZero();
        assertThat(statistics.getElapsedNanos()).isZero();
        assertThat(sampler.dump()).isEqualTo("threads-sampler, live state\nengine: NONE (" + CAUSE + ")\n");
        assertThat(statistics.getOutcomes()).isEmpty();
        try (SamplingReport snapshot = sampler.snapshot();
                SamplingCursor cursor = sampler.openCursor();
                SamplingReport next = cursor.next();
                SamplingReport both = SamplingReport.merge(snapshot, next)) {
            assertThat(both.getGroups()).isEmpty();
            assertThat(both.getCountedGroups()).isEmpty();
            assertThat(both.getWallNanos()).isZero();
            assertThat(both.getAccount()).containsOnlyKeys("nothing is sampled: " + CAUSE);
            try (SamplingDiff diff = SamplingReport.diff(snapshot, next)) {
                assertThat(written(diff, ReportFormat.COLLAPSED)).isEmpty();
                assertThat(written(diff, ReportFormat.JSON))
                        .startsWith("{\"before\":{\"format\":\"threads-sampler/1\"");
                assertThat(written(diff, ReportFormat.HTML)).contains("\n,\"difference\":{\"frames\":[],");
            }
        }
        sampler.close();
        sampler.close();
        assertThat(sampler.getStatistics().getEngine()).isEqualTo("NONE (" + CAUSE + ")");
        assertThatIllegalStateException().isThrownBy(sampler::snapshot);
        assertThat(outputer.calls).containsExactly("error " + WARNING, "close");
    }

    private static String written(SamplingDiff diff, ReportFormat format) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        diff.writeTo(format, out);
        return out.toString(java.nio.charset.StandardCharsets.UTF_8);
    }

    @Test
    void neitherOutputerNorManipulatorIsPrepared() {
        sampler.init();
        List<String> prepared = new ArrayList<>();
        sampler.setSamplingOutputer(new RecordingOutputer() {
            @Override
            public void starting() {
                prepared.add("outputer");
            }
        });
        sampler.setThreadNameManipulator(new ThreadNameManipulator() {
            @Override
            public String getManipulatedThreadName(Thread thread) {
                return "group";
            }

            @Override
            public void init() {
                prepared.add("manipulator");
            }
        });
        assertThat(prepared).isEmpty();
    }

    @Test
    void everyFormOfTheEmptyReportIsValidAndSaysTheCause() throws IOException {
        sampler.init();
        String line = "nothing is sampled: " + CAUSE;
        try (SamplingReport report = sampler.snapshot()) {
            assertThat(report.toString(ReportFormat.TEXT)).isEqualTo(line + "\n");
            assertThat(report.toString(ReportFormat.TOP)).isEqualTo(line + "\n");
            assertThat(report.toString(ReportFormat.COLLAPSED)).isEmpty();
            assertThat(report.toString(ReportFormat.JSON))
                    .startsWith("{\"format\":\"threads-sampler/1\"")
                    .contains("\"counters\":{\"" + line + "\":1}")
                    .endsWith("\"groups\":[]}\n");
            assertThat(report.toString(ReportFormat.SPEEDSCOPE)).contains("\"name\":\"" + line + "\"");
            assertThat(report.toString(ReportFormat.HTML)).contains(line);
            ByteArrayOutputStream otlp = new ByteArrayOutputStream();
            report.writeTo(ReportFormat.OTLP, otlp);
            assertThat(ProfilesData.parseFrom(otlp.toByteArray())
                            .getResourceProfiles(0)
                            .getScopeProfilesCount())
                    .isZero();
            ByteArrayOutputStream packed = new ByteArrayOutputStream();
            report.writeTo(ReportFormat.PPROF, packed);
            byte[] profile = new GZIPInputStream(new ByteArrayInputStream(packed.toByteArray())).readAllBytes();
            assertThat(new String(profile, java.nio.charset.StandardCharsets.UTF_8))
                    .contains("wall", "nanoseconds", line);
        }
    }

    /** A page has the JSON in a script element, which "</script>" would end. */
    @Test
    void anyCharacterOfTheCauseIsValidInJson() throws Exception {
        String cause = "no \"lib\" in C:\\x</script>\ty";
        source.unavailable = new UnsupportedOperationException(cause);
        sampler.init();
        try (SamplingReport report = sampler.snapshot()) {
            String json = report.toString(ReportFormat.JSON);
            assertThat(json).doesNotContain("<", "\t");
            assertThat(JsonParser.parse(json))
                    .extracting("account.counters")
                    .isEqualTo(Map.of("nothing is sampled: " + cause, 1L));
            assertThat(JsonParser.parse(report.toString(ReportFormat.SPEEDSCOPE)))
                    .extracting("name")
                    .isEqualTo("nothing is sampled: " + cause);
        }
    }

    @Test
    void anEmptyReportHasNeitherLinesNorRows() {
        InertSnapshot empty = new InertSnapshot(0, CAUSE);
        assertThat(empty.hotLines(10)).isEmpty();
        assertThat(empty.children(0)).isEmpty();
        InertSnapshot other = new InertSnapshot(0, "other");
        assertThat(empty.mergedWith(other)).isSameAs(other);
    }

    @Test
    void aClockThatThisJvmDoesNotHaveIsNoReasonToFail() {
        source.unavailable = null;
        source.prepare = engine -> engine.onStart = () -> {
            throw new UnsupportedOperationException("clock CPU needs ...");
        };
        sampler.setClock(SamplingClock.CPU);
        try (Logged log = new Logged()) {
            sampler.init();
            assertThat(log.messages()).containsExactly("WARN threads-sampler does not sample: clock CPU needs ...");
        }
        assertThat(source.last().destroyed).isTrue();
        assertThat(sampler.getStatistics().getEngine()).isEqualTo("NONE (clock CPU needs ...)");
    }

    @Test
    void exceptionsOfTheUsersOwnCodeAreThrown() {
        source.unavailable = null;
        UnsupportedOperationException ofTheUser = new UnsupportedOperationException("mine");
        sampler.setSamplingOutputer(new RecordingOutputer() {
            @Override
            public void starting() {
                throw ofTheUser;
            }
        });
        assertThatExceptionOfType(UnsupportedOperationException.class)
                .isThrownBy(sampler::init)
                .isSameAs(ofTheUser);
    }

    @Test
    void theCauseIsThrownIfTheSamplerIsRequired() throws IOException {
        sampler.setRequired(true);
        assertThatExceptionOfType(UnsupportedOperationException.class)
                .isThrownBy(sampler::init)
                .withMessage(CAUSE);
        assertThat(outputer.calls).isEmpty();
        source.unavailable = null;
        sampler.init();
        assertThat(sampler.getStatistics().getEngine()).isEqualTo("fake");
    }

    @Test
    void inAJvmThatIsGoneAStartIsInertAndSilent() {
        source.unavailable = null;
        source.prepare = engine -> engine.onStart = () -> {
            throw new IllegalStateException("the JVM is not live");
        };
        assertThatIllegalStateException().isThrownBy(sampler::init).withMessage("the JVM is not live");
        exiting = true;
        sampler.setRequired(true);
        try (Logged log = new Logged()) {
            sampler.init();
            assertThat(log.messages()).isEmpty();
        }
        assertThat(sampler.getStatistics().getEngine()).isEqualTo("NONE (the JVM is exiting)");
        assertThat(outputer.calls).isEmpty();
    }

    @Test
    void aChosenThreadThatHasEndedSaysSo() throws Exception {
        source.unavailable = null;
        Thread ended = new Thread(() -> {}, "over");
        ended.start();
        ended.join();
        try (Logged log = new Logged()) {
            sampler.setSampleTheseThreadsOnly(List.of(ended));
            sampler.init();
            assertThat(log.messages())
                    .containsExactly(
                            "WARN sampleTheseThreadsOnly: thread \"over\" has ended, so it is not sampled",
                            "WARN threads-sampler does not sample: all chosen threads have ended");
        }
        assertThat(outputer.calls)
                .containsExactly("error threads-sampler does not sample: all chosen threads have ended");
    }
}

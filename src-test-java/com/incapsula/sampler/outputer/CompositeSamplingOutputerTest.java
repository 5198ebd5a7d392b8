// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.outputer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.catchThrowable;

import com.incapsula.sampler.SamplingReport;
import com.incapsula.sampler.testing.Logged;
import com.incapsula.sampler.testing.NotedOutputer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Joined outputers, called as the sampler calls them. */
class CompositeSamplingOutputerTest {

    private static final List<String> ALL_CALLS = List.of("report", "title", "record", "flush");

    /** Records its calls, and fails in one of them. */
    private static class Noting extends NotedOutputer {

        final List<String> calls = new ArrayList<>();
        final List<Throwable> errors = new ArrayList<>();
        private final Throwable failure;
        private final String failsIn;

        Noting() {
            this("nothing", null);
        }

        Noting(String failsIn, Throwable failure) {
            this.failsIn = failsIn;
            this.failure = failure;
        }

        @Override
        protected void note(String call) {
            calls.add(call);
            if (call.equals(failsIn)) {
                CompositeSamplingOutputerTest.<RuntimeException>throwAny(failure);
            }
        }

        @Override
        public void printError(String message, Throwable cause) {
            errors.add(cause);
            super.printError(message, cause);
        }
    }

    @SuppressWarnings("unchecked")
    private static <T extends Throwable> void throwAny(Throwable failure) throws T {
        throw (T) failure;
    }

    /** @return the exception that failed the report, or null */
    private static Throwable send(SamplingOutputer outputer) {
        return catchThrowable(() -> {
            outputer.report(null);
            outputer.printIntervalTitle("title");
            outputer.printThreadRecord("thread", "row\n");
            outputer.flush();
        });
    }

    @Test
    void eachCallGoesToAllInOrder() {
        Noting first = new Noting();
        Noting second = new Noting();
        Noting third = new Noting();
        SamplingOutputer all = first.and(second).and(third);
        all.starting();
        assertThat(send(all)).isNull();
        Exception cause = new Exception("cause");
        all.printError("message", cause);
        all.close();
        for (Noting each : List.of(first, second, third)) {
            assertThat(each.calls).containsExactly("starting", "report", "title", "record", "flush", "error", "close");
            assertThat(each.errors).containsExactly(cause);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"report", "title", "record", "flush"})
    void aFailureOfOneDoesNotKeepTheOtherFromItsReport(String failsIn) {
        Error failure = new StackOverflowError(failsIn);
        Noting failing = new Noting(failsIn, failure);
        Noting healthy = new Noting();
        for (SamplingOutputer both :
                List.of(failing.and(healthy), new Noting().and(healthy).and(failing))) {
            failing.calls.clear();
            failing.errors.clear();
            healthy.calls.clear();
            assertThat(send(both)).isSameAs(failure);
            both.printError("Report could not be printed", failure);
            assertThat(healthy.calls).isEqualTo(ALL_CALLS);
            assertThat(failing.calls).isEqualTo(upTo(failsIn, "error"));
            assertThat(failing.errors).containsExactly(failure);
        }
    }

    private static List<String> upTo(String last, String then) {
        List<String> calls = new ArrayList<>(ALL_CALLS.subList(0, ALL_CALLS.indexOf(last) + 1));
        calls.add(then);
        return calls;
    }

    @Test
    void theNextReportGoesToBothAgain() {
        Noting failing = new Noting("record", new IllegalStateException("full"));
        Noting healthy = new Noting();
        SamplingOutputer both = failing.and(healthy);
        assertThat(send(both)).hasMessage("full");
        assertThat(send(both)).hasMessage("full");
        assertThat(failing.calls).containsExactly("report", "title", "record", "report", "title", "record");
        assertThat(healthy.calls).hasSize(2 * ALL_CALLS.size());
    }

    /** Outputers that do not take whole reports are called this way. */
    @Test
    void aReportThatBeginsWithItsTitleBeginsAnew() {
        Noting failing = new Noting("title", new IllegalStateException("full"));
        Noting healthy = new Noting();
        SamplingOutputer both = failing.and(healthy);
        for (int i = 0; i < 2; i++) {
            both.printIntervalTitle("title");
            assertThatIllegalStateException().isThrownBy(both::flush);
        }
        assertThat(failing.calls).containsExactly("title", "title");
        assertThat(healthy.calls).containsExactly("title", "flush", "title", "flush");
    }

    @Test
    void onceAllHaveFailedTheReportEnds() {
        Noting first = new Noting("report", new IllegalStateException("first"));
        Noting second = new Noting("title", new IllegalStateException("second"));
        SamplingOutputer both = first.and(second);
        Throwable thrown = send(both);
        assertThat(thrown).hasMessage("first");
        assertThat(thrown.getSuppressed()).extracting(Throwable::getMessage).containsExactly("second");
        both.printError("Report could not be printed", thrown);
        assertThat(first.errors).extracting(Throwable::getMessage).containsExactly("first");
        assertThat(second.errors).extracting(Throwable::getMessage).containsExactly("second");
        assertThat(second.calls).containsExactly("report", "title", "error");
    }

    @Test
    void otherMessagesGoToAllAfterAFailure() {
        Noting failing = new Noting("title", new IllegalStateException("full"));
        Noting healthy = new Noting();
        SamplingOutputer both = failing.and(healthy);
        assertThat(send(both)).isNotNull();
        both.printError("a warning", null);
        assertThat(failing.errors).hasSize(1).containsOnlyNulls();
        assertThat(healthy.errors).hasSize(1).containsOnlyNulls();
    }

    @Test
    void oneThatCannotPrintAnErrorKeepsItFromNone() {
        Noting failing = new Noting("error", new IllegalStateException("no log"));
        Noting healthy = new Noting();
        assertThatIllegalStateException()
                .isThrownBy(() -> failing.and(healthy).printError("message", null))
                .withMessage("no log");
        assertThat(healthy.calls).containsExactly("error");
    }

    @Test
    void bothAreClosed() {
        Noting failing = new Noting("close", new UncheckedIOException(new IOException("no space")));
        Noting second = new Noting("close", new IllegalStateException("second"));
        Noting healthy = new Noting();
        Throwable thrown = catchThrowable(() -> failing.and(second).and(healthy).close());
        assertThat(thrown).isInstanceOf(UncheckedIOException.class);
        assertThat(thrown.getSuppressed()).extracting(Throwable::getMessage).containsExactly("second");
        assertThat(healthy.calls).containsExactly("close");
    }

    @Test
    void anUndeclaredExceptionIsAFailureToo() {
        Exception failure = new IOException("from another language");
        Noting healthy = new Noting();
        SamplingOutputer both = new Noting("title", failure).and(healthy);
        assertThat(send(both)).isSameAs(failure);
        assertThat(healthy.calls).isEqualTo(ALL_CALLS);
    }

    @Test
    void theSamplerDoesNotStartWhereOneCannot() {
        Noting failing = new Noting("starting", new IllegalStateException("no folder"));
        assertThatIllegalStateException()
                .isThrownBy(() -> new Noting().and(failing).starting())
                .withMessage("no folder");
    }

    @Test
    void nothingAndItselfAreRefused() {
        Noting one = new Noting();
        assertThatIllegalArgumentException().isThrownBy(() -> one.and(null)).withMessage("other must not be null");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> one.and(one))
                .withMessage("an outputer must not be joined with itself");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> one.and(new Noting()).and(new Noting().and(one)));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> SamplingOutputer.of(null))
                .withMessage("action must not be null");
    }

    // ---- actions ----

    @Test
    void anActionReceivesReportsAndNothingElse() throws IOException {
        List<SamplingReport> received = new ArrayList<>();
        SamplingOutputer outputer = SamplingOutputer.of(received::add);
        outputer.starting();
        assertThat(send(outputer)).isNull();
        outputer.close();
        assertThat(received).hasSize(1);
    }

    @Test
    void anExceptionOfAnActionFailsTheReport() {
        RuntimeException unchecked = new IllegalStateException("unchecked");
        assertThat(send(SamplingOutputer.of(report -> {
                    throw unchecked;
                })))
                .isSameAs(unchecked);
        assertThatExceptionOfType(UncheckedIOException.class)
                .isThrownBy(() -> SamplingOutputer.of(report -> {
                            throw new IOException("no space");
                        })
                        .report(null))
                .withMessage("no space");
        assertThatIllegalStateException()
                .isThrownBy(() -> SamplingOutputer.of(report -> {
                            throw new InterruptedException("while it was sent");
                        })
                        .report(null))
                .withMessage("java.lang.InterruptedException: while it was sent")
                .withCauseInstanceOf(InterruptedException.class);
    }

    @Test
    void errorsOfAnActionGoToTheLog() {
        try (Logged logged = new Logged(SamplingOutputer.class.getName())) {
            SamplingOutputer.of(report -> {}).printError("what failed", new IOException("why"));
            assertThat(logged.messages()).anyMatch(message -> message.contains("what failed"));
        }
    }
}

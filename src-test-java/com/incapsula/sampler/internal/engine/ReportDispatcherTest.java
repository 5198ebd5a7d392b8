// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.engine;

import static org.assertj.core.api.Assertions.assertThat;

import com.incapsula.sampler.manipulate.RegexThreadNameManipulator;
import com.incapsula.sampler.testing.Logged;
import java.util.Date;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class ReportDispatcherTest {

    private static final long FROM = 1_700_000_000_000L;
    private static final long TILL = 1_700_000_900_000L;
    private static final String TITLE = "Report interval: from " + new Date(FROM) + " till " + new Date(TILL);

    private final ReportDispatcher dispatcher = new ReportDispatcher();
    private final RecordingOutputer outputer = new RecordingOutputer();
    private ReportRun run;

    @BeforeEach
    void useOutputer() {
        dispatcher.setOutputer(outputer);
        run = dispatcher.begin(getClass().getClassLoader());
    }

    private static final class Failing extends RecordingOutputer {

        private final String where;

        Failing(String where) {
            this.where = where;
        }

        private void failIn(String method) {
            if (where.contains(method)) {
                throw new StackOverflowError(method);
            }
        }

        @Override
        public void printIntervalTitle(String title) {
            super.printIntervalTitle(title);
            failIn("title");
        }

        @Override
        public void printThreadRecord(String threadTitle, String record) {
            super.printThreadRecord(threadTitle, record);
            failIn("record");
        }

        @Override
        public void printError(String message, Throwable cause) {
            super.printError(message, cause);
            failIn("error");
        }

        @Override
        public void flush() {
            super.flush();
            failIn("flush");
        }
    }

    @Test
    void reportGoesToTheOutputerInOrder() {
        assertThat(run.title(FROM, TILL)).isTrue();
        assertThat(run.record("thread", "row\n")).isTrue();
        assertThat(run.flush()).isTrue();
        assertThat(outputer.calls).containsExactly("title " + TITLE, "record thread|row\n", "flush");
    }

    @Test
    void failureIsReportedOnceAndTheNextReportIsTried() {
        for (String where : List.of("title", "record", "flush")) {
            Failing failing = new Failing(where);
            dispatcher.setOutputer(failing);
            boolean written = run.title(FROM, TILL) && run.record("t", "r") && run.flush();

            assertThat(written).as(where).isFalse();
            assertThat(failing.calls)
                    .as(where)
                    .filteredOn(call -> call.startsWith("error"))
                    .containsExactly("error Report could not be printed: " + TITLE);
            assertThat(failing.errors).singleElement().isInstanceOf(StackOverflowError.class);
        }
        dispatcher.setOutputer(outputer);
        assertThat(run.title(FROM, TILL)).isTrue();
    }

    @Test
    void aDeadlockIsARecordBetweenReports() {
        run.deadlock("Deadlock: 2 threads [a, b]", "a waits\n");
        assertThat(outputer.calls).containsExactly("record Deadlock: 2 threads [a, b]|a waits\n", "flush");
        assertThat(run.isInCallback()).isFalse();
        Failing failing = new Failing("record");
        dispatcher.setOutputer(failing);
        run.deadlock("Deadlock: 2 threads [a, b]", "a waits\n");
        assertThat(failing.calls)
                .filteredOn(call -> call.startsWith("error"))
                .containsExactly("error A deadlock could not be printed: Deadlock: 2 threads [a, b]");
        dispatcher.setOutputer(outputer);
        run.abandon();
        run.deadlock("Deadlock: 2 threads [a, b]", "a waits\n");
        assertThat(outputer.calls).hasSize(2);
    }

    @Test
    void failingPrintErrorIsLogged() {
        dispatcher.setOutputer(new Failing("record error"));
        assertThat(run.title(FROM, TILL)).isTrue();
        List<String> logged = logged(() -> assertThat(run.record("t", "r")).isFalse());
        assertThat(logged)
                .containsExactly("WARN Report could not be printed: " + TITLE
                        + " (and printError failed: java.lang.StackOverflowError: error)");
    }

    @Test
    void newOutputerGetsTheNextReportNotTheRestOfThisOne() {
        RecordingOutputer next = new RecordingOutputer();
        run.title(FROM, TILL);
        dispatcher.setOutputer(next);
        run.record("t", "r");
        run.flush();
        run.title(FROM, TILL);

        assertThat(outputer.calls).hasSize(3);
        assertThat(next.calls).hasSize(1);
    }

    @Test
    void userCodeSeesTheContextClassLoaderOfTheStarter() throws InterruptedException {
        ClassLoader[] seen = new ClassLoader[2];
        ClassLoader starter = new ClassLoader() {};
        run = dispatcher.begin(starter);
        dispatcher.setOutputer(new RecordingOutputer() {
            @Override
            public void printIntervalTitle(String title) {
                seen[0] = Thread.currentThread().getContextClassLoader();
            }
        });
        dispatcher.setManipulator(thread -> {
            seen[1] = Thread.currentThread().getContextClassLoader();
            return "g";
        });
        Thread reporter = new Thread(() -> run.title(FROM, TILL));
        reporter.start();
        reporter.join();
        Thread sampler = new Thread(() -> name(new Thread("a")));
        sampler.start();
        sampler.join();
        assertThat(seen).containsExactly(starter, starter);
    }

    private record Named(String[] names, boolean[] failed) {}

    private Named name(Thread... threads) {
        String[] names = new String[threads.length + 1];
        boolean[] failed = new boolean[threads.length + 1];
        names[threads.length] = "not ours";
        names[0] = "left over";
        failed[0] = true;
        run.groupNames(threads, threads.length, names, failed);
        return new Named(names, failed);
    }

    @Test
    void namesComeFromTheManipulator() {
        dispatcher.setManipulator(new RegexThreadNameManipulator());
        Named named = name(new Thread("a-1"), new Thread("7"));
        assertThat(named.names()).containsExactly("a-", "[unnamed]", "not ours");
        assertThat(named.failed()).containsExactly(false, false, false);
    }

    @Test
    void nullNameMeansNotSampledAndEmptyUnnamed() {
        dispatcher.setManipulator(thread -> thread.getName().equals("a") ? null : "");
        Named named = name(new Thread("a"), new Thread("b"));
        assertThat(named.names()).containsExactly(null, "[unnamed]", "not ours");
        assertThat(named.failed()).containsExactly(false, false, false);
    }

    @Test
    void failureForOneThreadDoesNotAffectOthersAndIsReportedOncePerInterval() {
        dispatcher.setManipulator(thread -> {
            if (thread.getName().equals("bad")) {
                throw new LinkageError("bad");
            }
            return "good";
        });
        for (int tick = 0; tick < 3; tick++) {
            Named named = name(new Thread("x"), new Thread("bad"), new Thread("y"));
            assertThat(named.names()).containsExactly("good", null, "good", "not ours");
            assertThat(named.failed()).containsExactly(false, true, false, false);
        }
        assertThat(outputer.calls).isEmpty();
        for (int report = 0; report < 2; report++) {
            run.title(FROM, TILL);
            run.record("t", "r");
            run.flush();
        }
        String failures =
                "error The thread name manipulator failed 3 times in this interval; such threads go under their"
                        + " own names. The first failure:";
        assertThat(outputer.calls)
                .containsExactly(
                        "title " + TITLE, "record t|r", failures, "flush", "title " + TITLE, "record t|r", "flush");
        assertThat(outputer.errors).singleElement().isInstanceOf(LinkageError.class);
    }

    @Test
    void callbackIsKnownByItsThread() throws InterruptedException {
        boolean[] seen = new boolean[2];
        dispatcher.setOutputer(new RecordingOutputer() {
            @Override
            public void printIntervalTitle(String title) {
                seen[0] = dispatcher.isInCallback();
                Thread other = new Thread(() -> seen[1] = dispatcher.isInCallback());
                other.start();
                try {
                    other.join();
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            }
        });
        run.title(FROM, TILL);
        assertThat(seen).containsExactly(true, false);
        assertThat(dispatcher.isInCallback()).isFalse();
    }

    @Test
    void messagesOfTheCoreAreLogged() {
        List<String> logged = logged(() -> {
            run.message(0, "it's {0}");
            run.message(1, "b");
            run.message(2, "c");
            run.message(99, "d");
        });
        assertThat(logged).containsExactly("INFO it's {0}", "WARN b", "ERROR c", "ERROR d");
    }

    private static List<String> logged(Runnable work) {
        try (Logged log = new Logged()) {
            work.run();
            return log.messages();
        }
    }
}

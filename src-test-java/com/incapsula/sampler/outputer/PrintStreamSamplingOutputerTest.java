// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.outputer;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PrintStreamSamplingOutputerTest {

    private static final String REPORT = "\nReport interval: from A till B\n"
            + "Sampler account.\n"
            + "samples taken: 1\n"
            + "\n"
            + "Aggregated thread: main. Max depth: 1. Distinct threads: 1 [main]\n"
            + "a.B.c(B.java:1) Cumulative time(ms): 2, Method time(ms): 2\n"
            + "\n";

    @TempDir
    Path folder;

    private static void print(SamplingOutputer outputer) {
        outputer.printIntervalTitle("Report interval: from A till B");
        outputer.printThreadRecord("Sampler account.", "samples taken: 1\n");
        outputer.printThreadRecord(
                "Aggregated thread: main. Max depth: 1. Distinct threads: 1 [main]",
                "a.B.c(B.java:1) Cumulative time(ms): 2, Method time(ms): 2\n");
        outputer.flush();
    }

    @Test
    void streamGetsTheReportByteForByte() {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        print(new PrintStreamSamplingOutputer(new PrintStream(bytes)));
        assertThat(bytes.toString(UTF_8)).isEqualTo(REPORT);
    }

    @Test
    void aDeadlockStandsByItself() {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        SamplingOutputer outputer = new PrintStreamSamplingOutputer(new PrintStream(bytes));
        outputer.printDeadlock("Deadlock: 2 threads [a, b]", "a waits for C, held by b\n    at a.B.c(B.java:1)\n");
        assertThat(bytes.toString(UTF_8))
                .isEqualTo("\nDeadlock: 2 threads [a, b]\na waits for C, held by b\n    at a.B.c(B.java:1)\n\n");
    }

    @Test
    void missingLineEndIsAdded() {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        SamplingOutputer outputer = new PrintStreamSamplingOutputer(new PrintStream(bytes));
        outputer.printThreadRecord("T", "row");
        outputer.printThreadRecord("U", "");
        outputer.flush();
        assertThat(bytes.toString(UTF_8)).isEqualTo("T\nrow\n\nU\n\n");
    }

    @Test
    void streamKeepsItsCharacterSet() {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        SamplingOutputer outputer = new PrintStreamSamplingOutputer(new PrintStream(bytes, false, ISO_8859_1));
        outputer.printIntervalTitle("\u00e4");
        outputer.flush();
        assertThat(bytes.toByteArray()).containsExactly('\n', 0xe4, '\n');
    }

    @Test
    void fileIsUtf8AndItsFoldersAreMade() throws IOException {
        Path file = folder.resolve("a/b/report.txt");
        SamplingOutputer outputer = new PrintStreamSamplingOutputer(file.toString());
        outputer.printIntervalTitle("\u00e4\u4e16\ud83d\ude00");
        outputer.flush();
        assertThat(file).hasBinaryContent("\n\u00e4\u4e16\ud83d\ude00\n".getBytes(UTF_8));
        outputer.close();
    }

    @Test
    void fileIsAppendedTo() throws IOException {
        Path file = folder.resolve("report.txt");
        Files.writeString(file, "before\n");
        for (int start = 0; start < 2; start++) {
            SamplingOutputer outputer = new PrintStreamSamplingOutputer(file.toString());
            print(outputer);
            outputer.close();
        }
        assertThat(file).hasContent("before\n" + REPORT + REPORT);
    }

    @Test
    void aFileThatWasMovedAwayIsMadeAnew() throws IOException {
        Path file = folder.resolve("report.txt");
        Path old = folder.resolve("report.txt.1");
        SamplingOutputer outputer = new PrintStreamSamplingOutputer(file.toString());
        print(outputer);
        Files.move(file, old);
        print(outputer);
        print(outputer);
        outputer.close();
        assertThat(old).hasContent(REPORT);
        assertThat(file).hasContent(REPORT + REPORT);
    }

    @Test
    void aReportGoesOnInTheFileInWhichItBegan() throws IOException {
        Path file = folder.resolve("report.txt");
        Path old = folder.resolve("report.txt.1");
        SamplingOutputer outputer = new PrintStreamSamplingOutputer(file.toString());
        outputer.printIntervalTitle("title");
        Files.move(file, old);
        outputer.printThreadRecord("thread", "row\n");
        outputer.flush();
        outputer.close();
        assertThat(old).hasContent("\ntitle\nthread\nrow\n\n");
        assertThat(file).doesNotExist();
    }

    @Test
    void aFileThatWasReplacedIsAppendedTo() throws IOException {
        Path file = folder.resolve("report.txt");
        SamplingOutputer outputer = new PrintStreamSamplingOutputer(file.toString());
        Files.move(file, folder.resolve("report.txt.1"));
        Files.writeString(file, "new\n");
        print(outputer);
        outputer.close();
        assertThat(file).hasContent("new\n" + REPORT);
    }

    @Test
    void aFileThatWasCutIsAppendedTo() throws IOException {
        Path file = folder.resolve("report.txt");
        SamplingOutputer outputer = new PrintStreamSamplingOutputer(file.toString());
        print(outputer);
        Files.write(file, new byte[0]);
        print(outputer);
        outputer.close();
        assertThat(file).hasContent(REPORT);
    }

    @Test
    void aFolderThatWasRemovedIsMadeAnew() throws IOException {
        Path file = folder.resolve("logs/report.txt");
        SamplingOutputer outputer = new PrintStreamSamplingOutputer(file.toString());
        print(outputer);
        Files.delete(file);
        Files.delete(file.getParent());
        print(outputer);
        outputer.close();
        assertThat(file).hasContent(REPORT);
    }

    @Test
    void aFolderThatCannotBeMadeAnewFailsTheReport() throws IOException {
        Path file = folder.resolve("logs/report.txt");
        SamplingOutputer outputer = new PrintStreamSamplingOutputer(file.toString());
        Files.delete(file);
        Files.delete(file.getParent());
        Files.createSymbolicLink(file.getParent(), folder.resolve("nowhere"));
        assertThatThrownBy(() -> print(outputer))
                .isInstanceOf(UncheckedIOException.class)
                .hasMessage(
                        "cannot write to " + file + ": java.nio.file.FileAlreadyExistsException: " + file.getParent());
        assertThatThrownBy(() -> outputer.printError("nor is there a place for this", null))
                .as("so that it is logged")
                .isInstanceOf(UncheckedIOException.class);
        Files.delete(file.getParent());
        print(outputer);
        outputer.close();
        assertThat(file).hasContent(REPORT);
    }

    @Test
    void closedFileIsOpenedAgain() throws IOException {
        Path file = folder.resolve("report.txt");
        SamplingOutputer outputer = new PrintStreamSamplingOutputer(file.toString());
        outputer.close();
        outputer.close();
        outputer.flush();
        print(outputer);
        outputer.close();
        assertThat(file).hasContent(REPORT);
    }

    @Test
    void fileIsWrittenOnAnInterruptedThread() {
        Path file = folder.resolve("report.txt");
        Thread.currentThread().interrupt();
        try {
            SamplingOutputer outputer = new PrintStreamSamplingOutputer(file.toString());
            print(outputer);
            print(outputer);
            outputer.close();
        } finally {
            assertThat(Thread.interrupted()).isTrue();
        }
        assertThat(file).hasContent(REPORT + REPORT);
    }

    @Test
    void folderAsFileIsRefusedAtOnce() {
        assertThatThrownBy(() -> new PrintStreamSamplingOutputer(folder.toString()))
                .isInstanceOf(UncheckedIOException.class)
                .hasMessage("cannot open " + folder + " for writing: " + folder + " (Is a directory)");
    }

    @Test
    void fileAsFolderIsRefusedAtOnce() throws IOException {
        Path file = Files.createFile(folder.resolve("file"));
        assertThatThrownBy(() -> new PrintStreamSamplingOutputer(
                        file.resolve("report.txt").toString()))
                .isInstanceOf(UncheckedIOException.class)
                .hasMessage("cannot open " + file + "/report.txt for writing: "
                        + "java.nio.file.FileAlreadyExistsException: " + file);
    }

    @Test
    void fullDiskIsThrownWithItsReason() {
        assumeTrue(Files.isWritable(Path.of("/dev/full")));
        SamplingOutputer outputer = new PrintStreamSamplingOutputer("/dev/full");
        assertThatThrownBy(() -> outputer.printIntervalTitle("title"))
                .isInstanceOf(UncheckedIOException.class)
                .hasMessage("cannot write to /dev/full: No space left on device");
    }

    @Test
    void hiddenErrorOfAStreamIsThrownAtFlush() {
        SamplingOutputer outputer = new PrintStreamSamplingOutputer(new PrintStream(new FailingStream()));
        outputer.printIntervalTitle("title");
        assertThatThrownBy(outputer::flush)
                .isInstanceOf(UncheckedIOException.class)
                .hasMessage("cannot write to the print stream: the stream reports an error");
        assertThatThrownBy(outputer::close).isInstanceOf(UncheckedIOException.class);
    }

    @Test
    void streamIsClosedOnceAndRefusesMore() {
        int[] closed = new int[1];
        OutputStream bytes = new ByteArrayOutputStream() {
            @Override
            public void close() {
                closed[0]++;
            }
        };
        SamplingOutputer outputer = new PrintStreamSamplingOutputer(new PrintStream(bytes));
        outputer.close();
        outputer.close();

        assertThat(closed[0]).isEqualTo(1);
        assertThatIllegalStateException()
                .isThrownBy(() -> outputer.printIntervalTitle("title"))
                .withMessage("the print stream of this outputer was closed with its sampler;"
                        + " a sampler that is started again needs a new outputer");
    }

    @Test
    void standardStreamsAreNeverClosed() {
        boolean[] closed = new boolean[1];
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        PrintStream stream = new PrintStream(bytes) {
            @Override
            public void close() {
                closed[0] = true;
            }
        };
        PrintStream before = System.out;
        SamplingOutputer standard;
        SamplingOutputer given;
        System.setOut(stream);
        try {
            standard = new PrintStreamSamplingOutputer();
            given = new PrintStreamSamplingOutputer(stream);
        } finally {
            System.setOut(before);
        }
        standard.close();
        given.close();
        print(standard);

        assertThat(closed[0]).isFalse();
        assertThat(bytes.toString(UTF_8)).isEqualTo(REPORT);
    }

    @Test
    void errorIsPrintedWithItsCause() {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        SamplingOutputer outputer = new PrintStreamSamplingOutputer(new PrintStream(bytes));
        outputer.printError("what happened", new IOException("disk"));
        outputer.printError("nothing known", null);
        assertThat(bytes.toString(UTF_8))
                .startsWith("what happened\njava.io.IOException: disk\n\tat ")
                .endsWith("\nnothing known\n");
    }

    @Test
    void argumentsAreChecked() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new PrintStreamSamplingOutputer((String) null))
                .withMessage("file must not be null");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new PrintStreamSamplingOutputer(" "))
                .withMessage("file must not be blank");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new PrintStreamSamplingOutputer((PrintStream) null))
                .withMessage("stream must not be null");
    }

    private static final class FailingStream extends OutputStream {
        @Override
        public void write(int b) throws IOException {
            throw new IOException("broken pipe");
        }
    }
}

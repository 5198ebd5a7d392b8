// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.outputer;

import com.incapsula.sampler.internal.options.Values;
import com.incapsula.sampler.internal.report.Folders;
import com.incapsula.sampler.internal.report.IoReason;
import java.io.File;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import org.jspecify.annotations.Nullable;

/**
 * Prints reports to standard output, to a file or to a stream: a blank line, the title, and for each thread group its
 * title line, its rows and a blank line. Lines end with {@code \n} on all systems.
 *
 * <pre>{@code
 * sampler.setSamplingOutputer(new PrintStreamSamplingOutputer("/var/log/app/sampler.txt"));
 * }</pre>
 *
 * <p>Threads: any; the text of each call is written at once.
 *
 * <p>Errors: a failed write throws an {@link UncheckedIOException}, and the sampler counts the report as failed. For a
 * file, the exception comes at once and with the reason, such as no space left. A {@link PrintStream} hides its errors,
 * so {@link #flush()} checks it.
 *
 * <p>If another program, such as log rotation, has moved or removed the file since the last report, the file and its
 * folder are created again for the next report.
 *
 * <p>After {@link #close()}: standard output is never closed and remains usable. A file is opened again for appending
 * by the next call that prints, so the outputer can be used after a restart of the sampler. A stream that was passed to
 * the constructor stays closed: printing to it throws {@link IllegalStateException}.
 *
 * @since 1.0
 */
public class PrintStreamSamplingOutputer implements SamplingOutputer {

    private final Target target;

    /** Prints to the current standard output, in its character set. */
    public PrintStreamSamplingOutputer() {
        target = new StreamTarget(System.out);
    }

    /**
     * Appends to a file, in UTF-8. Creates missing parent folders.
     *
     * @param file the path
     * @throws IllegalArgumentException if the path is null or blank
     * @throws UncheckedIOException if the file cannot be opened for writing; the message has path and reason
     */
    public PrintStreamSamplingOutputer(String file) {
        target = new FileTarget(new File(Values.notBlank("file", file)).getAbsoluteFile());
    }

    /**
     * Prints to a stream, in the stream's own character set. {@link #close()} closes the stream, unless it is standard
     * output or standard error.
     *
     * @param stream the stream
     * @throws IllegalArgumentException if the stream is null
     */
    public PrintStreamSamplingOutputer(PrintStream stream) {
        target = new StreamTarget(Values.notNull("stream", stream));
    }

    @Override
    public void printIntervalTitle(String title) {
        print("\n" + title + "\n", true);
    }

    @Override
    public void printThreadRecord(String threadTitle, String record) {
        String end = record.isEmpty() || record.endsWith("\n") ? "\n" : "\n\n";
        print(threadTitle + "\n" + record + end, false);
    }

    @Override
    public void printDeadlock(String title, String record) {
        print("\n" + title + "\n" + record + "\n", true);
        flush();
    }

    @Override
    public void printError(String message, @Nullable Throwable cause) {
        StringWriter text = new StringWriter();
        text.append(message).append('\n');
        if (cause != null) {
            cause.printStackTrace(new PrintWriter(text, true));
        }
        print(text.toString(), true);
        flush();
    }

    @Override
    public void flush() {
        synchronized (target) {
            try {
                target.flush();
            } catch (IOException e) {
                throw failure(e);
            }
        }
    }

    @Override
    public void close() {
        synchronized (target) {
            try {
                target.close();
            } catch (IOException e) {
                throw failure(e);
            }
        }
    }

    private void print(String text, boolean begins) {
        synchronized (target) {
            try {
                if (begins) {
                    target.begin();
                }
                target.write(text);
            } catch (IOException e) {
                throw failure(e);
            }
        }
    }

    private UncheckedIOException failure(IOException cause) {
        return new UncheckedIOException("cannot write to " + target + ": " + IoReason.of(cause), cause);
    }

    private interface Target {
        /** Called before each report and before an error. */
        void begin() throws IOException;

        void write(String text) throws IOException;

        void flush() throws IOException;

        void close() throws IOException;
    }

    private static final class StreamTarget implements Target {

        private final PrintStream stream;
        private final @Nullable String name;
        private boolean closed;

        StreamTarget(PrintStream stream) {
            this.stream = stream;
            name = nameOf(stream);
        }

        /* Called by the constructor, because System.setOut may be called before the stream is closed. */
        private static @Nullable String nameOf(PrintStream stream) {
            if (stream == System.out) {
                return "standard output";
            }
            return stream == System.err ? "standard error" : null;
        }

        @Override
        public void begin() {}

        @Override
        public void write(String text) {
            if (closed) {
                throw new IllegalStateException("the print stream of this outputer was closed with its sampler;"
                        + " a sampler that is started again needs a new outputer");
            }
            stream.print(text);
        }

        @Override
        public void flush() throws IOException {
            if (!closed && stream.checkError()) {
                throw new IOException("the stream reports an error");
            }
        }

        @Override
        public void close() throws IOException {
            boolean standard = name != null || nameOf(stream) != null;
            if (standard || closed) {
                flush();
                return;
            }
            closed = true;
            stream.close();
            if (stream.checkError()) {
                throw new IOException("the stream reports an error");
            }
        }

        @Override
        public String toString() {
            return name == null ? "the print stream" : name;
        }
    }

    private static final class FileTarget implements Target {

        private final File file;
        private @Nullable OutputStream out;
        private @Nullable Object identity; // of the file that is open; null: not known

        FileTarget(File file) {
            this.file = file;
            try {
                out = open();
            } catch (IOException e) {
                throw new UncheckedIOException("cannot open " + file + " for writing: " + IoReason.of(e), e);
            }
        }

        /* Uses no file channel, which an interrupt of the thread would close. */
        private OutputStream open() throws IOException {
            Path parent = file.toPath().getParent();
            if (parent != null) {
                Folders.make(parent);
            }
            OutputStream opened = new FileOutputStream(file, true);
            identity = identity(null);
            return opened;
        }

        /* Returns device and inode of the file that has the name now; null if there is none. */
        private @Nullable Object identity(@Nullable Object whereUnknown) {
            try {
                return Files.readAttributes(file.toPath(), BasicFileAttributes.class)
                        .fileKey();
            } catch (NoSuchFileException gone) {
                return null;
            } catch (IOException unknown) {
                return whereUnknown;
            }
        }

        /* If the new file cannot be opened, the next report tries again. */
        @Override
        public void begin() throws IOException {
            OutputStream before = out;
            if (before != null && identity != null && !identity.equals(identity(identity))) {
                out = open();
                before.close();
            }
        }

        /* One unbuffered write per text, so that texts of several writers to the same file do not mix. */
        @Override
        public void write(String text) throws IOException {
            if (out == null) {
                out = open();
            }
            out.write(text.getBytes(StandardCharsets.UTF_8));
        }

        @Override
        public void flush() throws IOException {
            if (out != null) {
                out.flush();
            }
        }

        @Override
        public void close() throws IOException {
            OutputStream closing = out;
            out = null;
            if (closing != null) {
                closing.close();
            }
        }

        @Override
        public String toString() {
            return file.toString();
        }
    }
}

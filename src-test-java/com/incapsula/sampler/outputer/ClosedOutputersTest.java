// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.outputer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import com.incapsula.sampler.remote.RemoteSamplingOutputer;
import java.io.ByteArrayOutputStream;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** First the sampler closes its outputer, then the container that created it. */
class ClosedOutputersTest {

    @TempDir
    Path folder;

    private static final class CountedStream extends FilterOutputStream {

        private int closes;

        CountedStream(OutputStream out) {
            super(out);
        }

        @Override
        public void close() throws IOException {
            closes++;
            super.close();
        }
    }

    @Test
    void aSecondCloseDoesNothing() {
        SamplingOutputer action = SamplingOutputer.of(report -> {});
        for (SamplingOutputer each : List.of(
                action,
                action.and(new LoggerSamplingOutputer()),
                new LoggerSamplingOutputer(),
                new FileSamplingOutputer(folder.resolve("r-%t.html").toString()),
                new PrintStreamSamplingOutputer(folder.resolve("r.txt").toString()),
                new PrintStreamSamplingOutputer(),
                new RemoteSamplingOutputer("http://127.0.0.1:1"))) {
            assertThatCode(() -> {
                        each.close();
                        each.close();
                    })
                    .as(each.getClass().getName())
                    .doesNotThrowAnyException();
        }
    }

    @Test
    void aStreamIsClosedOnce() {
        CountedStream stream = new CountedStream(new ByteArrayOutputStream());
        SamplingOutputer outputer = new PrintStreamSamplingOutputer(new PrintStream(stream));
        outputer.close();
        outputer.close();
        assertThat(stream.closes).isEqualTo(1);
    }
}

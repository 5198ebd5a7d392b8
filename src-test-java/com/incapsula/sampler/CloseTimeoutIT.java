// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import static com.incapsula.sampler.testing.Latches.awaitReleased;
import static com.incapsula.sampler.testing.Samplers.patiently;
import static org.assertj.core.api.Assertions.assertThat;

import com.incapsula.sampler.manipulate.RegexThreadNameManipulator;
import com.incapsula.sampler.testing.Logged;
import com.incapsula.sampler.testing.NotedOutputer;
import com.incapsula.sampler.testing.NothingLeft;
import com.incapsula.sampler.testing.Recorder;
import com.incapsula.sampler.testing.Samplers;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * User code that blocks, with the native core: {@code close()} returns nevertheless, and nothing that the blocked
 * thread uses is freed.
 */
@ExtendWith(NothingLeft.class)
class CloseTimeoutIT {

    private final CountDownLatch release = new CountDownLatch(1);
    private final List<String> calls = new CopyOnWriteArrayList<>();

    private final class Blocking extends NotedOutputer {

        @Override
        protected void note(String call) {
            calls.add(call);
        }

        @Override
        public void printThreadRecord(String threadTitle, String record) {
            super.printThreadRecord(threadTitle, record);
            awaitReleased(release);
        }
    }

    /**
     * The sampler thread waits for the name manipulator, and a thread of the application waits for the sampler thread.
     */
    @Test
    void closeGoesOnBehindAPauseThatWaitsForTheNameRule() throws Exception {
        CountDownLatch named = new CountDownLatch(1);
        ThreadsSampler sampler = Samplers.quick(new Recorder());
        sampler.setCloseTimeoutSeconds(1);
        sampler.setThreadNameManipulator(thread -> {
            if (thread.getName().equals("blocks")) {
                named.countDown();
                awaitReleased(release);
            }
            return "group";
        });
        sampler.init();
        Thread late = new Thread(() -> awaitReleased(release), "blocks");
        late.start();
        named.await();
        Thread pause = new Thread(sampler::pauseSampling, "pause");
        pause.start();
        patiently()
                .until(() -> Arrays.stream(pause.getStackTrace())
                        .anyMatch(frame -> frame.getClassName().endsWith("NativeBridge")));
        try (Logged log = new Logged()) {
            sampler.close();
            assertThat(log.stacks()).hasSize(1);
            assertThat(log.stacks().get(0)).contains("CloseTimeoutIT.lambda$closeGoesOnBehindAPause");
        }
        sampler.setThreadNameManipulator(new RegexThreadNameManipulator());
        sampler.init();
        release.countDown();
        pause.join();
        late.join();
        assertThat(sampler.isPaused()).isFalse();
        sampler.close();
    }

    @Test
    void closeGoesOnAndTheNextRunIsAFreshStart() throws Exception {
        ThreadsSampler sampler = Samplers.quick(new Blocking());
        sampler.setCloseTimeoutSeconds(5); // within this time the report must arrive at the outputer
        sampler.init();
        Samplers.awaitTicks(sampler, 2);
        try (Logged log = new Logged()) {
            sampler.close();
            assertThat(log.messages())
                    .contains("WARN close() went on after closeTimeoutSeconds=5; reports that wait are lost");
            assertThat(log.stacks()).hasSize(1);
            assertThat(log.stacks().get(0))
                    .contains("thread threads-sampler-report", "CloseTimeoutIT$Blocking.printThreadRecord");
        }
        assertThat(sampler.isRunning()).isFalse();
        assertThat(sampler.getStatistics().getCounters()).containsEntry("FAILED_REPORTS", 1L);

        Recorder second = new Recorder();
        sampler.setSamplingOutputer(second);
        sampler.init();
        Samplers.awaitTicks(sampler, 2);
        sampler.close();
        assertThat(second.reports()).hasSize(1);
        assertThat(NothingLeft.samplerThreads()).contains("threads-sampler-report", "threads-sampler-close");

        release.countDown();
        patiently().until(() -> calls.size() > 4);
        assertThat(calls).containsExactly("starting", "report", "title", "record", "close");
    }
}

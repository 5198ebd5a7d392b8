// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.awaitility.Awaitility.await;

import com.incapsula.sampler.outputer.PrintStreamSamplingOutputer;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The memory of snapshots of a real core. */
@Timeout(60)
class NativeSnapshotIT {

    private static Lifecycle start() {
        Lifecycle lifecycle = new Lifecycle();
        PrintStream nowhere = new PrintStream(OutputStream.nullOutputStream());
        lifecycle.properties().setOutputer(new PrintStreamSamplingOutputer(nowhere));
        lifecycle.properties().set(Property.SAMPLING_FREQUENCY_MILLIS, 5L);
        lifecycle.init();
        return lifecycle;
    }

    @Test
    void memoryIsGivenBackWithTheLastHolder() throws IOException {
        LoadedLibrary.require();
        long before = NativeBridge.liveBytes();
        Lifecycle lifecycle = start();
        Snapshot first = lifecycle.readers().snapshot();
        Snapshot second = lifecycle.readers().snapshot();
        Snapshot both = first.mergedWith(second);
        lifecycle.close();
        assertThat(NativeBridge.liveBytes()).isGreaterThan(before);

        first.hold();
        first.release();
        first.release();
        second.release();
        assertThat(both.figures().figures()).hasSize(Figure.values().length);
        both.release();
        assertThat(NativeBridge.liveBytes()).isEqualTo(before);
        assertThatIllegalStateException().isThrownBy(both::figures).withMessage("the snapshot was released");
        assertThatIllegalStateException()
                .isThrownBy(() -> both.write(0, 0, 0, OutputStream.nullOutputStream()));
    }

    @Test
    void forgottenOnesAreFreedWhenTheNextComes() throws IOException {
        LoadedLibrary.require();
        long before = NativeBridge.liveBytes();
        Lifecycle lifecycle = start();
        forgetSome(lifecycle);
        await().until(() -> {
            System.gc();
            lifecycle.readers().snapshot().release();
            return NativeSnapshot.live() == 0;
        });
        lifecycle.close();
        assertThat(NativeBridge.liveBytes()).isEqualTo(before);
    }

    private static void forgetSome(Lifecycle lifecycle) {
        List<Snapshot> forgotten = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            forgotten.add(lifecycle.readers().snapshot());
        }
        assertThat(NativeSnapshot.live()).isGreaterThanOrEqualTo(forgotten.size());
    }
}

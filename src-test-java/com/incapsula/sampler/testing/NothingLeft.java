// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.testing;

import static com.incapsula.sampler.testing.Samplers.patiently;
import static org.assertj.core.api.Assertions.assertThat;

import com.incapsula.sampler.ThreadsSampler;
import java.io.File;
import java.lang.reflect.Method;
import java.util.List;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** Checks after each test that no thread and no memory of the library is left. */
public final class NothingLeft implements AfterEachCallback {

    @Override
    public void afterEach(ExtensionContext context) {
        assertNothingLeft();
    }

    /** @throws AssertionError if a sampler thread is alive, or the native core holds memory */
    public static void assertNothingLeft() {
        patiently().untilAsserted(() -> assertThat(samplerThreads()).isEmpty());
        patiently()
                .untilAsserted(() ->
                        assertThat(liveBytes()).as("bytes of the native core").isZero());
    }

    /** @return the names of the library's live threads */
    public static List<String> samplerThreads() {
        return Thread.getAllStackTraces().keySet().stream()
                .map(Thread::getName)
                .filter(name -> name.startsWith("threads-sampler"))
                .toList();
    }

    /** @return the bytes that the native core holds for all sessions */
    public static long liveBytes() {
        assertThat(ThreadsSampler.unavailabilityCause()).isNull();
        try {
            Method method = Class.forName("com.incapsula.sampler.internal.engine.NativeBridge")
                    .getDeclaredMethod("liveBytes");
            method.setAccessible(true);
            return (Long) method.invoke(null);
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }

    /** @return the number of open file descriptors of this JVM */
    public static int fileDescriptors() {
        String[] open = new File("/proc/self/fd").list();
        return open == null ? 0 : open.length;
    }

    /** @return the number of native threads of this JVM */
    public static int nativeThreads() {
        String[] tasks = new File("/proc/self/task").list();
        return tasks == null ? 0 : tasks.length;
    }
}

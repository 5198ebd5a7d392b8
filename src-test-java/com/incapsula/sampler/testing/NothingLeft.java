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

/** After each test no thread and no byte of the library is left. */
public final class NothingLeft implements AfterEachCallback {

    @Override
    public void afterEach(ExtensionContext context) {
        assertNothingLeft();
    }

    /** @throws AssertionError where a sampler thread lives or the native core holds memory */
    public static void assertNothingLeft() {
        patiently().untilAsserted(() -> assertThat(samplerThreads()).isEmpty());
        patiently()
                .untilAsserted(() ->
                        assertThat(liveBytes()).as("bytes of the native core").isZero());
    }

    /** @return the names of the library's threads that live */
    public static List<String> samplerThreads() {
        return Thread.getAllStackTraces().keySet().stream()
                .map(Thread::getName)
                .filter(name -> name.startsWith("threads-sampler"))
                .toList();
    }

    /** @return bytes the native core holds over all sessions */
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

    /** @return how many file descriptors this JVM has open */
    public static int fileDescriptors() {
        String[] open = new File("/proc/self/fd").list();
        return open == null ? 0 : open.length;
    }

    /** @return how many native threads this JVM has */
    public static int nativeThreads() {
        String[] tasks = new File("/proc/self/task").list();
        return tasks == null ? 0 : tasks.length;
    }
}

// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.agent;

import java.lang.instrument.Instrumentation;
import org.jspecify.annotations.Nullable;

/**
 * What the JVM calls for {@code -javaagent} and when the jar is attached, and the native library for {@code -agentpath}
 * and when it is attached. Neither throws: an exception of {@code premain} would end the JVM. What is wrong goes to
 * standard error, or back to the command line that attached.
 *
 * <p>The JVM loads this class with the application's. All others of the agent are loaded by {@link AgentLoader}.
 *
 * <p>Threads: any.
 */
public final class Agent {

    private Agent() {}

    /**
     * Called before the application's {@code main} by the JVM, which looks for this method first and, where it is missing,
     * makes an exception of a hundred classes.
     *
     * @param options as {@link AgentCommand} reads them; null: none
     * @param unused what an agent may do
     */
    public static void premain(@Nullable String options, Instrumentation unused) {
        execute(options, true);
    }

    /**
     * Called before the application's {@code main} by the native library.
     *
     * @param options as {@link AgentCommand} reads them; null: none
     */
    public static void premain(@Nullable String options) {
        execute(options, true);
    }

    /**
     * Called in a running application.
     *
     * @param options as {@link AgentCommand} reads them; null: none
     */
    public static void agentmain(@Nullable String options) {
        execute(options, false);
    }

    private static void execute(@Nullable String options, boolean atStart) {
        try {
            AgentLoader.execute(options == null ? "" : options, atStart);
        } catch (ReflectiveOperationException | RuntimeException | LinkageError e) {
            sayFailed(e);
        } catch (Throwable silent) {
            // there is no memory: nothing can be said, and the application goes on
        }
    }

    private static void sayFailed(Throwable why) {
        try {
            System.err.println("threads-sampler: failed: " + why);
        } catch (Throwable silent) {
            // there is no memory or no standard error
        }
    }
}

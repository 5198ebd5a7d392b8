// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.agent;

import java.lang.instrument.Instrumentation;
import org.jspecify.annotations.Nullable;

/**
 * The entry points of the agent. The JVM calls them for {@code -javaagent} and when the jar is attached, the native
 * library for {@code -agentpath} and when it is attached. They throw nothing, because an exception of {@code premain}
 * would end the JVM. Errors are printed on standard error, or sent to the command line that attached.
 *
 * <p>The JVM loads this class with the application's class loader. {@link AgentLoader} loads all other classes of the
 * agent.
 *
 * <p>Threads: any.
 */
public final class Agent {

    private Agent() {}

    /**
     * Called by the JVM before the application's {@code main}. The JVM looks for this method first; if it were missing,
     * the exception would load a hundred classes.
     *
     * @param options as {@link AgentCommand} reads them; null: none
     * @param unused the JVM's instrumentation
     */
    public static void premain(@Nullable String options, Instrumentation unused) {
        execute(options, true);
    }

    /**
     * Called by the native library before the application's {@code main}.
     *
     * @param options as {@link AgentCommand} reads them; null: none
     */
    public static void premain(@Nullable String options) {
        execute(options, true);
    }

    /** Called in a running application, with options as {@link AgentCommand} reads them; null: none. */
    public static void agentmain(@Nullable String options) {
        execute(options, false);
    }

    private static void execute(@Nullable String options, boolean atStart) {
        try {
            AgentLoader.execute(options == null ? "" : options, atStart);
        } catch (ReflectiveOperationException | RuntimeException | LinkageError e) {
            sayFailed(e);
        } catch (Throwable silent) {
            // without memory no message is possible, and the application goes on
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

// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.agent;

import com.incapsula.sampler.internal.engine.LoadedLibrary;
import org.jspecify.annotations.Nullable;

/**
 * What the JVM calls for {@code -javaagent} and when the jar is attached, and the native library for {@code -agentpath}
 * and when it is attached. Neither throws: an exception of {@code premain} would end the JVM. What is wrong goes to
 * standard error, or back to the command line that attached.
 *
 * <p>After the first command, command lines attach with the library that is loaded then: one mapped file and one class
 * serve them all.
 *
 * <p>Threads: any.
 */
public final class Agent {

    /** The file to attach with, in a system property. */
    static final String LIBRARY_PROPERTY = "com.incapsula.sampler.agent.library";

    private static final AgentSession SESSION = new AgentSession();

    private Agent() {}

    /**
     * Called before the application's {@code main}.
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
            String text = options == null ? "" : options;
            AnswerSlot slot = AnswerSlot.of(text);
            try {
                AgentCommand command = AgentCommand.parse(text);
                LoadedLibrary.prefer(command.library());
                SESSION.execute(command, atStart, slot);
            } catch (Refusal e) {
                slot.refuse(String.valueOf(e.getMessage()));
            } catch (Throwable t) {
                slot.refuse("failed: " + t);
            }
            serveCommandLines();
        } catch (Throwable silent) {
            // without the library each command line loads the agent anew; without memory or standard error nothing can
            // be said, and the application goes on
        }
    }

    private static void serveCommandLines() {
        if (System.getProperty(LIBRARY_PROPERTY) == null) {
            System.setProperty(LIBRARY_PROPERTY, LoadedLibrary.serveCommands(Agent.class));
        }
    }
}

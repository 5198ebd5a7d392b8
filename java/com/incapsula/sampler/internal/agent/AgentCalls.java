// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.agent;

import com.incapsula.sampler.internal.engine.LoadedLibrary;
import org.jspecify.annotations.Nullable;

/**
 * Carries out what the JVM has called {@link Agent} for, in the agent's own class loader.
 *
 * <p>After the first command, command lines attach with the library that is loaded then, which calls this class: one
 * mapped file and one session serve them all.
 *
 * <p>Threads: any.
 */
public final class AgentCalls {

    /** The file to attach with, in a system property. */
    static final String LIBRARY_PROPERTY = "com.incapsula.sampler.agent.library";

    private static final AgentSession SESSION = new AgentSession();

    private AgentCalls() {}

    /**
     * What the native library calls while the JVM starts.
     *
     * @param options as {@link AgentCommand} reads them; null: none
     */
    public static void premain(@Nullable String options) {
        execute(options == null ? "" : options, true);
    }

    /**
     * What the native library calls when a command line has attached.
     *
     * @param options as {@link AgentCommand} reads them; null: none
     */
    public static void agentmain(@Nullable String options) {
        execute(options == null ? "" : options, false);
    }

    /**
     * Carries out a command. Never throws.
     *
     * @param options as {@link AgentCommand} reads them
     * @param atStart true: the JVM is starting
     */
    public static void execute(String options, boolean atStart) {
        try {
            AnswerSlot slot = AnswerSlot.of(options);
            try {
                AgentCommand command = AgentCommand.parse(options);
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
            System.setProperty(LIBRARY_PROPERTY, LoadedLibrary.serveCommands(AgentCalls.class));
        }
    }
}

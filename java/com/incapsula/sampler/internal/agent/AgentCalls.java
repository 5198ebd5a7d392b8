// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.agent;

/**
 * Carries out what the JVM has called {@link Agent} for, in the agent's own class loader.
 *
 * <p>Threads: any.
 */
public final class AgentCalls {

    private static final AgentSession SESSION = new AgentSession();

    private AgentCalls() {}

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
                SESSION.execute(AgentCommand.parse(options), atStart, slot);
            } catch (Refusal e) {
                slot.refuse(String.valueOf(e.getMessage()));
            } catch (Throwable t) {
                slot.refuse("failed: " + t);
            }
        } catch (Throwable silent) {
            // there is no memory or no standard error: nothing can be said, and the application goes on
        }
    }
}

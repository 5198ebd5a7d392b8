// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.agent;

import org.jspecify.annotations.Nullable;

/**
 * What the JVM calls for {@code -javaagent} and when the jar is attached. Neither throws: an exception of
 * {@code premain} would end the JVM. What is wrong goes to standard error, or back to the command line that attached.
 *
 * <p>Threads: any.
 */
public final class Agent {

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
                SESSION.execute(AgentCommand.parse(text), atStart, slot);
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

// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.agent;

import java.nio.file.Path;
import java.util.Properties;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * The place for the answer to one command. The command line gives each command an id and reads the answer from a system
 * property of the target, which works across users and namespaces. There are eight such properties, used in turn,
 * because a long command may be answered after later ones. When the command line has read an answer, it tells the
 * target to remove the property. A command without an id ({@code -javaagent}, jcmd) is answered on standard error.
 *
 * <p>Threads: any.
 */
final class AnswerSlot {

    /** The system properties, without their numbers. */
    static final String PROPERTY = "com.incapsula.sampler.agent.answer";

    private static final int PLACES = 8;
    private static final AtomicInteger COMMANDS = new AtomicInteger();

    /** The state of a command. */
    enum State {
        DONE,
        REFUSED,
        GOES_ON
    }

    /**
     * An answer.
     *
     * @param state the state of the command
     * @param content a file with the report, which the reader removes; null if there is none
     * @param text lines for the user
     */
    record Answer(State state, @Nullable String content, String text) {}

    private final @Nullable String id;
    private final boolean wantsSummary;
    private final int place = Math.floorMod(COMMANDS.getAndIncrement(), PLACES);

    private AnswerSlot(@Nullable String id, boolean wantsSummary) {
        this.id = id;
        this.wantsSummary = wantsSummary;
    }

    /** @return the slot for a command, even if the command is wrong */
    static AnswerSlot of(String options) {
        return new AnswerSlot(
                AgentCommand.written(options, AgentCommand.ANSWER),
                !"false".equals(AgentCommand.written(options, AgentCommand.SUMMARY)));
    }

    /** @return true if a command line waits for the answer */
    boolean isAwaited() {
        return id != null;
    }

    /** @return false if the command line shows a report that begins with a summary */
    boolean wantsSummary() {
        return wantsSummary;
    }

    /** @return the id, which only the command line and this JVM know */
    String greeting() {
        return id == null ? "" : id;
    }

    void done(String text, @Nullable Path content) {
        put(State.DONE, text, content);
    }

    void refuse(String reason) {
        put(State.REFUSED, reason, null);
    }

    void goesOn(String text) {
        put(State.GOES_ON, text, null);
    }

    /* The first line has id, state and file; the text follows. */
    private void put(State state, String text, @Nullable Path content) {
        if (id == null) {
            System.err.println("threads-sampler: " + (state == State.REFUSED ? "refused: " : "") + text);
        } else {
            System.setProperty(
                    PROPERTY + place, id + " " + state + " " + (content == null ? "" : content) + "\n" + text);
        }
    }

    /**
     * Reads an answer.
     *
     * @param id the command's
     * @return null if there is no answer to this command
     */
    static @Nullable Answer read(Properties properties, String id) {
        for (int i = 0; i < PLACES; i++) {
            Answer answer = parse(properties.getProperty(PROPERTY + i, ""), id);
            if (answer != null) {
                return answer;
            }
        }
        return null;
    }

    /** Removes the answer to the command with this id, which has been read. */
    static void forget(String id) {
        for (int i = 0; i < PLACES; i++) {
            String value = System.getProperty(PROPERTY + i, "");
            if (value.startsWith(id + " ")) {
                System.getProperties().remove(PROPERTY + i, value); // unless a later answer has replaced it
            }
        }
    }

    /** @return true if these properties have an answer to any command */
    static boolean isInUse(Properties properties) {
        return properties.stringPropertyNames().stream().anyMatch(name -> name.startsWith(PROPERTY));
    }

    private static @Nullable Answer parse(String value, String id) {
        int end = value.indexOf('\n');
        String[] head = (end < 0 ? value : value.substring(0, end)).split(" ", 3);
        if (end < 0 || head.length < 3 || !head[0].equals(id)) {
            return null;
        }
        for (State state : State.values()) {
            if (state.name().equals(head[1])) {
                return new Answer(state, head[2].isEmpty() ? null : head[2], value.substring(end + 1));
            }
        }
        return null;
    }
}

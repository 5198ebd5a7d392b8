// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.agent;

import com.incapsula.sampler.internal.engine.InternalThreads;
import com.incapsula.sampler.internal.engine.LoadedLibrary;
import com.incapsula.sampler.internal.report.ApplicationStart;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Carries out the calls of {@link Agent}, in the agent's own class loader.
 *
 * <p>After the first command, command lines attach with the core's file, which calls this class, so one mapped file and
 * one session serve all of them. If another class loader has the agent's classes, too, as when jcmd loads the jar after
 * a command line has attached, the first class carries out its commands.
 *
 * <p>Threads: any.
 */
public final class AgentCalls {

    /** The system property with the file to attach with. */
    static final String LIBRARY_PROPERTY = "com.incapsula.sampler.agent.library";

    private static final AgentSession SESSION = new AgentSession();

    static {
        ClassLoader loader = AgentCalls.class.getClassLoader();
        if (loader instanceof Consumer && AgentLoader.NAME.equals(loader.getName())) {
            @SuppressWarnings("unchecked") // our own class
            Consumer<BiConsumer<String, Boolean>> ours = (Consumer<BiConsumer<String, Boolean>>) loader;
            ours.accept(new Handed());
        }
    }

    private AgentCalls() {}

    /** This class for {@link AgentLoader} in another class loader; both share only types of the JDK. */
    private static final class Handed implements BiConsumer<String, Boolean> {

        @Override
        public void accept(String options, Boolean atStart) {
            execute(options, atStart);
        }
    }

    /**
     * Called by the native library while the JVM starts.
     *
     * @param options as {@link AgentCommand} reads them; null: none
     */
    public static void premain(@Nullable String options) {
        execute(options == null ? "" : options, true);
    }

    /**
     * Called by the native library when a command line has attached.
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
     * @param atStart whether the JVM is starting
     */
    public static void execute(String options, boolean atStart) {
        try {
            if (atStart) {
                ApplicationStart.begin();
            }
            Class<?> serving = serving(options);
            if (serving == AgentCalls.class) {
                carryOut(options, atStart);
            } else {
                serving.getMethod("execute", String.class, boolean.class).invoke(null, options, atStart);
            }
        } catch (Throwable silent) {
            // without memory or standard error no message is possible, and the application goes on
        }
    }

    private static void carryOut(String options, boolean atStart) {
        String read = AgentCommand.written(options, AgentCommand.FORGET);
        if (read != null) {
            AnswerSlot.forget(read);
            return;
        }
        AnswerSlot slot = AnswerSlot.of(options);
        try {
            if (atStart) {
                ApplicationStart.watch(Thread.currentThread(), InternalThreads.hidden());
            } else {
                ApplicationStart.sleepUntilOver();
            }
            SESSION.execute(AgentCommand.parse(options), atStart, slot);
        } catch (Refusal e) {
            slot.refuse(String.valueOf(e.getMessage()));
        } catch (Throwable t) {
            slot.refuse("failed: " + t);
        }
    }

    /* Without the library this class serves, and each command line loads the agent again. */
    private static Class<?> serving(String options) {
        try {
            LoadedLibrary.prefer(AgentCommand.written(options, AgentCommand.LIBRARY));
            Class<?> serving = LoadedLibrary.serveCommands(AgentCalls.class);
            if (serving == AgentCalls.class) {
                System.setProperty(LIBRARY_PROPERTY, LoadedLibrary.coreFile()); // may replace one of a parent process
            }
            return serving;
        } catch (RuntimeException | Error e) {
            return AgentCalls.class; // a command that needs the library names the reason
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.agent;

import java.net.URL;
import java.net.URLClassLoader;
import java.security.CodeSource;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The agent's own class loader. The JVM puts the agent's jar on the application's class path; the classes that work are
 * loaded once more from the same jar, below the platform's classes only. So the agent meets neither the application's copy
 * of the library, of whatever version, nor its SLF4J, and the application sees nothing of the agent's.
 *
 * <p>Threads: any.
 */
public final class AgentLoader {

    /** The name of the class loader that this class makes. */
    static final String NAME = "threads-sampler-agent";

    /* No class literal: that would load the class here as well. */
    private static final String CALLS = "com.incapsula.sampler.internal.agent.AgentCalls";

    /* One for the life of the JVM: each command finds the session of the one before. */
    private static final ClassLoader LOADER = make();

    private AgentLoader() {}

    /**
     * Looks for the library's own classes in the jar first. No other place has them: the loaders above would only make an
     * exception for each.
     *
     * <p>{@link AgentCalls} hands itself over when it is initialised. The first call by reflection takes a JVM that starts
     * 40 ms.
     */
    private static final class OwnFirst extends URLClassLoader implements Consumer<BiConsumer<String, Boolean>> {

        private static final String OWN = "com.incapsula.sampler.";

        static {
            registerAsParallelCapable();
        }

        private volatile @Nullable BiConsumer<String, Boolean> calls;

        OwnFirst(URL jar) {
            super(NAME, new URL[] {jar}, ClassLoader.getPlatformClassLoader());
        }

        @Override
        public void accept(BiConsumer<String, Boolean> agentCalls) {
            calls = agentCalls;
        }

        void execute(String options, boolean atStart) throws ClassNotFoundException {
            Class<?> initialised = Class.forName(CALLS, true, this);
            BiConsumer<String, Boolean> given = calls;
            if (given == null) {
                throw new IllegalStateException(initialised + " is of another version");
            }
            given.accept(options, atStart);
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (!name.startsWith(OWN)) {
                return super.loadClass(name, resolve);
            }
            synchronized (getClassLoadingLock(name)) {
                Class<?> loaded = findLoadedClass(name);
                return loaded != null ? loaded : findClass(name);
            }
        }
    }

    /**
     * A class of the agent's jar.
     *
     * @param name its name
     * @return the class as the agent has it
     * @throws ClassNotFoundException if the jar has no such class
     */
    public static Class<?> load(String name) throws ClassNotFoundException {
        return Class.forName(name, true, LOADER);
    }

    /**
     * Carries out a command in the agent's classes.
     *
     * @param options as {@link AgentCommand} reads them
     * @param atStart true: the JVM is starting
     * @throws ClassNotFoundException if the jar is not whole
     */
    static void execute(String options, boolean atStart) throws ClassNotFoundException {
        if (LOADER instanceof OwnFirst made) {
            made.execute(options, atStart);
        } else {
            AgentCalls.execute(options, atStart);
        }
    }

    /*
     * Where the native library has made a class loader for the jar, this class is in it. Where there is no jar, as in a
     * runtime image that has the library as a module, the application's class loader has to do.
     */
    private static ClassLoader make() {
        ClassLoader ours = AgentLoader.class.getClassLoader();
        if (!isOfApplication(ours)) {
            return ours;
        }
        CodeSource source = AgentLoader.class.getProtectionDomain().getCodeSource();
        URL jar = source == null ? null : source.getLocation();
        return jar == null || !jar.getProtocol().equals("file") ? ours : new OwnFirst(jar);
    }

    /* The system class loader may be one of the user's; then the class path's is its parent. */
    private static boolean isOfApplication(ClassLoader loader) {
        ClassLoader each = ClassLoader.getSystemClassLoader();
        while (each != null && each != loader) {
            each = each.getParent();
        }
        return each != null;
    }
}

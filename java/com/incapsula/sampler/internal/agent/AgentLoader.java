// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.agent;

import java.net.URL;
import java.net.URLClassLoader;
import java.security.CodeSource;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The agent's own class loader. The JVM puts the agent's jar on the application's class path. This class loader loads
 * the classes of the same jar once more, with only the platform's classes as parent. So the agent sees neither the
 * application's copy of the library, which may be of another version, nor its SLF4J, and the application sees no class
 * of the agent.
 *
 * <p>Threads: any.
 */
public final class AgentLoader {

    /** The name of the class loader that this class makes. */
    static final String NAME = "threads-sampler-agent";

    /* A class literal would load the class here, too. */
    private static final String CALLS = "com.incapsula.sampler.internal.agent.AgentCalls";

    /* One for the life of the JVM, so that each command finds the session of the previous one. */
    private static final ClassLoader LOADER = make();

    private AgentLoader() {}

    /**
     * Looks for the library's own classes in the jar first. Its parents do not have them and would only throw an
     * exception for each.
     *
     * <p>{@link AgentCalls} registers itself here when it is initialised, because the first call by reflection takes 40
     * ms in a starting JVM.
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
     * Loads a class of the agent's jar.
     *
     * @return the agent's copy of the class
     * @throws ClassNotFoundException if the jar has no such class
     */
    public static Class<?> load(String name) throws ClassNotFoundException {
        return Class.forName(name, true, LOADER);
    }

    /**
     * Carries out a command in the agent's classes.
     *
     * @param options as {@link AgentCommand} reads them
     * @param atStart whether the JVM is starting
     * @throws ClassNotFoundException if the jar is incomplete
     */
    static void execute(String options, boolean atStart) throws ClassNotFoundException {
        if (LOADER instanceof OwnFirst made) {
            made.execute(options, atStart);
        } else {
            AgentCalls.execute(options, atStart);
        }
    }

    /*
     * If the native library has made a class loader for the jar, this class is in it. If there is no jar, as in a
     * runtime image with the library as a module, the application's class loader is used.
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

    /* The system class loader may be a class of the user; then its parent has the class path. */
    private static boolean isOfApplication(ClassLoader loader) {
        ClassLoader each = ClassLoader.getSystemClassLoader();
        while (each != null && each != loader) {
            each = each.getParent();
        }
        return each != null;
    }
}

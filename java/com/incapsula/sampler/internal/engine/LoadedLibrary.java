// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.engine;

import com.incapsula.sampler.internal.loading.NativeLibrary;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The native library of {@link NativeBridge}. Each class loader with these classes loads it once, at its first use.
 *
 * <p>Threads: any.
 */
public final class LoadedLibrary {

    /** The system property with a folder for the library. */
    public static final String FOLDER_PROPERTY = NativeLibrary.WORKDIR_PROPERTY;

    private static final String OUTCOME = "total.outcome.";

    private static volatile @Nullable String preferred; // read once

    private static final class OnlyTry {
        @SuppressWarnings("StaticAssignmentOfThrowable") // only a cause; each call throws a new exception
        static final @Nullable UnsupportedOperationException FAILURE = tryOnce();

        private static @Nullable UnsupportedOperationException tryOnce() {
            try {
                library().load(preferred);
                return null;
            } catch (UnsupportedOperationException e) {
                return e;
            } catch (RuntimeException | Error e) {
                return new UnsupportedOperationException("the native library could not be loaded: " + e, e);
            }
        }
    }

    private static final class Bridge implements NativeLibrary.Bound {

        @Override
        public int abi() {
            return NativeBridge.abi();
        }

        @Override
        public @Nullable String join() {
            return NativeBridge.join();
        }
    }

    private LoadedLibrary() {}

    /**
     * Chooses the file to load the library from, if it is not loaded yet.
     *
     * @param file a file that the JVM has loaded as an agent, or null
     */
    public static void prefer(@Nullable String file) {
        preferred = file;
    }

    /** Loads the library, if no call has tried it before. @return the reason why it cannot be used, or null */
    public static @Nullable UnsupportedOperationException unavailabilityCause() {
        return OnlyTry.FAILURE;
    }

    /**
     * Loads the library, and registers a class that carries out commands which other processes send to the core by
     * attaching, unless another class is registered already.
     *
     * @param agent has the methods of an agent, {@code premain(String)} and {@code agentmain(String)}
     * @return the registered class
     * @throws UnsupportedOperationException if the library cannot be loaded
     */
    public static Class<?> serveCommands(Class<?> agent) {
        require();
        return NativeBridge.serveCommands(agent);
    }

    /**
     * The file to attach with.
     *
     * @return the core's file
     * @throws UnsupportedOperationException if the library cannot be loaded
     */
    public static String coreFile() {
        require();
        return NativeBridge.coreFile();
    }

    /**
     * Ensures that there is a file of the library that another JVM of this user can load.
     *
     * @throws UnsupportedOperationException if there is no folder for it
     */
    public static Path file() {
        return library().place();
    }

    /** {@return the user's folder for files of the library, or null} */
    public static @Nullable String namedFolder() {
        String named = System.getProperty(FOLDER_PROPERTY);
        return named == null || named.isBlank() ? null : named;
    }

    /**
     * Loads the library. @return the codes of all outcomes of polls, in the order of the account; empty if the library
     * cannot be loaded
     */
    public static List<String> outcomes() {
        return unavailabilityCause() != null
                ? List.of()
                : Arrays.stream(NativeBridge.statisticNames())
                        .filter(name -> name.startsWith(OUTCOME))
                        .map(name -> name.substring(OUTCOME.length()))
                        .toList();
    }

    private static NativeLibrary library() {
        return NativeLibrary.ofThisJvm(NativeBridge.ABI, new Bridge());
    }

    /** @throws UnsupportedOperationException if there is an {@link #unavailabilityCause()} */
    static void require() {
        UnsupportedOperationException failure = unavailabilityCause();
        if (failure != null) {
            throw new UnsupportedOperationException(failure.getMessage(), failure);
        }
    }
}

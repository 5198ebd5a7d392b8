// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.engine;

import com.incapsula.sampler.internal.loading.NativeLibrary;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The native library behind {@link NativeBridge}: each class loader that has these classes loads it once, at the first
 * need.
 *
 * <p>Threads: any.
 */
public final class LoadedLibrary {

    /** Names a folder for the library. */
    public static final String FOLDER_PROPERTY = NativeLibrary.WORKDIR_PROPERTY;

    private static final String OUTCOME = "total.outcome.";

    private static volatile @Nullable String preferred; // read once

    private static final class OnlyTry {
        @SuppressWarnings("StaticAssignmentOfThrowable") // a cause; what is thrown is made for each call
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
     * If the library is not loaded yet, it is to be loaded from this file.
     *
     * @param file the JVM has loaded it as an agent; null: there is none
     */
    public static void prefer(@Nullable String file) {
        preferred = file;
    }

    /**
     * Loads the library if no call has tried that before.
     *
     * @return why it cannot be used, or null
     */
    public static @Nullable UnsupportedOperationException unavailabilityCause() {
        return OnlyTry.FAILURE;
    }

    /**
     * Loads the library, and lets this class carry out the commands that other processes send to the core by attaching,
     * unless another class does already.
     *
     * @param agent has the methods of an agent, {@code premain(String)} and {@code agentmain(String)}
     * @return the class that does
     * @throws UnsupportedOperationException if the library cannot be loaded
     */
    public static Class<?> serveCommands(Class<?> agent) {
        require();
        return NativeBridge.serveCommands(agent);
    }

    /**
     * The file to attach with.
     *
     * @return the core's
     * @throws UnsupportedOperationException if the library cannot be loaded
     */
    public static String coreFile() {
        require();
        return NativeBridge.coreFile();
    }

    /**
     * Makes sure that there is a file of the library that another JVM of this user can load.
     *
     * @return the file
     * @throws UnsupportedOperationException if there is no folder for it
     */
    public static Path file() {
        return library().place();
    }

    /**
     * The folder that the user names for files of the library.
     *
     * @return as it is written, or null
     */
    public static @Nullable String namedFolder() {
        String named = System.getProperty(FOLDER_PROPERTY);
        return named == null || named.isBlank() ? null : named;
    }

    /**
     * The codes of the ways in which polls end. Loads the library.
     *
     * @return in the order of the account; none where the library cannot be loaded
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

    /** @throws UnsupportedOperationException as {@link #unavailabilityCause()}, with the stack of this call */
    static void require() {
        UnsupportedOperationException failure = unavailabilityCause();
        if (failure != null) {
            throw new UnsupportedOperationException(failure.getMessage(), failure);
        }
    }
}

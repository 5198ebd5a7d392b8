// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.engine;

import com.incapsula.sampler.internal.loading.NativeLibrary;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * The native library behind {@link NativeBridge}: each class loader that has these classes loads it once, at the first
 * need.
 *
 * <p>Threads: any.
 */
public final class LoadedLibrary {

    private static volatile @Nullable String preferred; // read once

    private static final class OnlyTry {
        static final NativeLibrary LIBRARY = NativeLibrary.ofThisJvm(NativeBridge.ABI, NativeBridge::abi);

        @SuppressWarnings("StaticAssignmentOfThrowable") // a cause; what is thrown is made for each call
        static final @Nullable UnsupportedOperationException FAILURE = tryOnce();

        private static @Nullable UnsupportedOperationException tryOnce() {
            try {
                LIBRARY.load(preferred);
                return null;
            } catch (UnsupportedOperationException e) {
                return e;
            } catch (RuntimeException | Error e) {
                return new UnsupportedOperationException("the native library could not be loaded: " + e, e);
            }
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
     * @return why it cannot be used now, or null
     */
    public static @Nullable UnsupportedOperationException unavailabilityCause() {
        return OnlyTry.FAILURE != null ? OnlyTry.FAILURE : OnlyTry.LIBRARY.refusal();
    }

    /**
     * A sampler is about to start: from now on no other copy of the library may.
     *
     * @throws UnsupportedOperationException if another one samples
     */
    static void open() {
        OnlyTry.LIBRARY.open();
    }

    /** Undoes one {@link #open()}. */
    static void close() {
        OnlyTry.LIBRARY.close();
    }

    /**
     * For a sampler of the agent: waits until another copy of the library wants to sample.
     *
     * @param ready called when other copies no longer fail to start, under a lock
     * @return false: the last sampler of this copy has ended before
     * @throws InterruptedException if the thread is interrupted
     */
    public static boolean awaitRival(Runnable ready) throws InterruptedException {
        return OnlyTry.LIBRARY.awaitRival(ready);
    }

    /**
     * Loads the library, and lets this class carry out the commands that other processes send to it by attaching.
     *
     * @param agent has the methods of an agent, {@code premain(String)} and {@code agentmain(String)}
     * @return the library's file, to attach with
     * @throws UnsupportedOperationException if the library cannot be loaded
     */
    public static String serveCommands(Class<?> agent) {
        if (OnlyTry.FAILURE != null) {
            throw new UnsupportedOperationException(OnlyTry.FAILURE.getMessage(), OnlyTry.FAILURE);
        }
        String file = NativeBridge.serveCommands(agent);
        OnlyTry.LIBRARY.claim();
        return file;
    }

    /**
     * Makes sure that there is a file of the library that another JVM of this user can load.
     *
     * @return the file
     * @throws UnsupportedOperationException if there is no folder for it
     */
    public static Path file() {
        return NativeLibrary.ofThisJvm(NativeBridge.ABI, NativeBridge::abi).place();
    }

    /** @throws UnsupportedOperationException as {@link #unavailabilityCause()}, with the stack of this call */
    static void require() {
        UnsupportedOperationException failure = unavailabilityCause();
        if (failure != null) {
            throw new UnsupportedOperationException(failure.getMessage(), failure);
        }
    }
}

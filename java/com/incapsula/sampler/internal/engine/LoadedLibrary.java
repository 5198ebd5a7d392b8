// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.engine;

import com.incapsula.sampler.internal.loading.NativeLibrary;
import org.jspecify.annotations.Nullable;

/**
 * The native library behind {@link NativeBridge}: each class loader that has these classes loads it once, at the first
 * need.
 *
 * <p>Threads: any.
 */
public final class LoadedLibrary {

    private static final class OnlyTry {
        static final NativeLibrary LIBRARY = NativeLibrary.ofThisJvm(NativeBridge.ABI, NativeBridge::abi);

        @SuppressWarnings("StaticAssignmentOfThrowable") // a cause; what is thrown is made for each call
        static final @Nullable UnsupportedOperationException FAILURE = tryOnce();

        private static @Nullable UnsupportedOperationException tryOnce() {
            try {
                LIBRARY.load();
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

    /** @throws UnsupportedOperationException as {@link #unavailabilityCause()}, with the stack of this call */
    static void require() {
        UnsupportedOperationException failure = unavailabilityCause();
        if (failure != null) {
            throw new UnsupportedOperationException(failure.getMessage(), failure);
        }
    }
}

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
        @SuppressWarnings("StaticAssignmentOfThrowable") // a cause; what is thrown is made for each call
        static final @Nullable UnsupportedOperationException FAILURE = tryOnce();

        private static @Nullable UnsupportedOperationException tryOnce() {
            try {
                NativeLibrary.ofThisJvm(NativeBridge.ABI, NativeBridge::abi, NativeBridge::join)
                        .load();
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
     * @return why it cannot be used, or null
     */
    public static @Nullable UnsupportedOperationException unavailabilityCause() {
        return OnlyTry.FAILURE;
    }

    /** @throws UnsupportedOperationException as {@link #unavailabilityCause()}, with the stack of this call */
    static void require() {
        UnsupportedOperationException failure = unavailabilityCause();
        if (failure != null) {
            throw new UnsupportedOperationException(failure.getMessage(), failure);
        }
    }
}

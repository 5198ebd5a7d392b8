// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.report;

import java.nio.file.FileSystemException;

/** Why something failed, as a part of a message. */
public final class IoReason {

    private IoReason() {}

    /**
     * The reason of a failure. The message of a {@code java.nio.file} exception is only the path; its class says what
     * failed.
     *
     * @param failure mostly of a file
     * @return its message, or with its class where the message says nothing
     */
    public static String of(Throwable failure) {
        String message = failure.getMessage();
        return message == null || failure instanceof FileSystemException ? failure.toString() : message;
    }
}

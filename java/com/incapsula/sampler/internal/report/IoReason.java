// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.report;

import java.nio.file.FileSystemException;

/** The reason of a failure, as part of a message. */
public final class IoReason {

    private IoReason() {}

    /**
     * Finds the reason of a failure. The message of a {@code java.nio.file} exception is only the path; its class is
     * the reason.
     *
     * @param failure usually of a file
     * @return its message, with its class if the message has no reason
     */
    public static String of(Throwable failure) {
        String message = failure.getMessage();
        return message == null || failure instanceof FileSystemException ? failure.toString() : message;
    }
}

// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.spring;

import org.jspecify.annotations.Nullable;

/** The sampler is required and cannot sample. */
final class RequiredSamplerException extends IllegalStateException {

    private static final long serialVersionUID = 1L;

    RequiredSamplerException(String reason, @Nullable Throwable cause) {
        super(reason, cause);
    }
}

// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.spring;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.core.annotation.Order;

/** Explains, instead of a stack trace, why an application that requires the sampler does not start. */
@Order(0) // before Boot's own analyzers, which may match the cause, too
final class RequiredSamplerFailureAnalyzer extends AbstractFailureAnalyzer<RequiredSamplerException> {

    RequiredSamplerFailureAnalyzer() {}

    @Override
    protected FailureAnalysis analyze(Throwable rootFailure, RequiredSamplerException cause) {
        return new FailureAnalysis(
                "threads-sampler cannot sample, and threads-sampler.required is true: " + cause.getMessage(),
                "Correct that, or remove threads-sampler.required: then the application starts without samples, and a"
                        + " warning says why.",
                cause);
    }
}

// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.junit;

import com.incapsula.sampler.SamplingCursor;
import com.incapsula.sampler.ThreadsSampler;
import com.incapsula.sampler.outputer.SamplingOutputer;
import java.io.IOException;
import java.util.Objects;
import org.junit.jupiter.api.extension.ExtensionConfigurationException;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * A sampler for all tests with the same frequency, because starting a sampler takes longer than most tests.
 * JUnit closes it after the last test.
 *
 * <p>Threads: any.
 */
@SuppressWarnings("deprecation") // before 5.13 JUnit closes only a CloseableResource
final class SharedSampler implements ExtensionContext.Store.CloseableResource, AutoCloseable {

    private static final double OVERHEAD_LIMIT_PERCENT = 10;

    private final ThreadsSampler sampler = new ThreadsSampler();

    private SharedSampler(int frequencyMillis) {
        try {
            sampler.setSamplingFrequencyMillis(frequencyMillis);
        } catch (IllegalArgumentException e) {
            throw new ExtensionConfigurationException("@Sampled: " + e.getMessage(), e);
        }
        sampler.setReportFrequencySeconds(0);
        sampler.setOverheadLimitPercent(OVERHEAD_LIMIT_PERCENT);
        sampler.setSamplingOutputer(SamplingOutputer.of(report -> {}));
        sampler.init();
    }

    static SharedSampler of(ExtensionContext context, int frequencyMillis) {
        return Objects.requireNonNull(context.getRoot()
                .getStore(ExtensionContext.Namespace.create(SharedSampler.class))
                .getOrComputeIfAbsent(frequencyMillis, key -> new SharedSampler(frequencyMillis), SharedSampler.class));
    }

    SamplingCursor openCursor() {
        return sampler.openCursor();
    }

    @Override
    public void close() throws IOException {
        sampler.close();
    }
}

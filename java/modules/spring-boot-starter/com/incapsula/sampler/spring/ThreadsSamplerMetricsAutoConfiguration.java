// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.spring;

import com.incapsula.sampler.ThreadsSampler;
import com.incapsula.sampler.micrometer.ThreadsSamplerMetrics;
import io.micrometer.core.instrument.binder.MeterBinder;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.context.annotation.Bean;

/**
 * The sampler's meters, {@link ThreadsSamplerMetrics}, in each meter registry of an application with Micrometer: Boot
 * binds every {@link MeterBinder} to every registry.
 *
 * @since 1.0
 */
@AutoConfiguration(after = ThreadsSamplerAutoConfiguration.class)
@ConditionalOnClass({MeterBinder.class, ThreadsSamplerMetrics.class})
@ConditionalOnProperty(prefix = ThreadsSamplerProperties.PREFIX, name = "enabled", matchIfMissing = true)
@ConditionalOnSingleCandidate(ThreadsSampler.class)
public class ThreadsSamplerMetricsAutoConfiguration {

    /** For Spring. */
    public ThreadsSamplerMetricsAutoConfiguration() {}

    /**
     * The meters.
     *
     * @param sampler the sampler
     * @return meters without further tags
     */
    @Bean
    @ConditionalOnMissingBean
    ThreadsSamplerMetrics threadsSamplerMetrics(ThreadsSampler sampler) {
        return new ThreadsSamplerMetrics(sampler);
    }
}

// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.spring;

import com.incapsula.sampler.ThreadsSampler;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.context.annotation.Bean;

/**
 * The actuator endpoint {@code threadsampler}, {@link ThreadsSamplerEndpoint}, of an application that has the actuator
 * and exposes it.
 *
 * @since 1.0
 */
@AutoConfiguration(after = ThreadsSamplerAutoConfiguration.class)
@ConditionalOnClass(ConditionalOnAvailableEndpoint.class)
@ConditionalOnProperty(prefix = ThreadsSamplerProperties.PREFIX, name = "enabled", matchIfMissing = true)
@ConditionalOnSingleCandidate(ThreadsSampler.class)
@ConditionalOnAvailableEndpoint(endpoint = ThreadsSamplerEndpoint.class)
public class ThreadsSamplerEndpointAutoConfiguration {

    /** For Spring. */
    public ThreadsSamplerEndpointAutoConfiguration() {}

    /**
     * The endpoint.
     *
     * @param sampler the sampler to show
     * @return the endpoint
     */
    @Bean
    @ConditionalOnMissingBean
    ThreadsSamplerEndpoint threadsSamplerEndpoint(ThreadsSampler sampler) {
        return new ThreadsSamplerEndpoint(sampler);
    }
}

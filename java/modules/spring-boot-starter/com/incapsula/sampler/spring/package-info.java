// SPDX-License-Identifier: Apache-2.0
/**
 * The Spring Boot starter: if it is on the class path, an application of Boot 3.5 or 4 is sampled from its start. If
 * the application has the actuator, it gets the endpoint {@code threadsampler}; if it has Micrometer, it gets meters.
 *
 * <p>{@link com.incapsula.sampler.spring.ThreadsSamplerAutoConfiguration} has the rules,
 * {@link com.incapsula.sampler.spring.ThreadsSamplerProperties} the properties.
 *
 * @since 1.0
 */
@NullMarked
package com.incapsula.sampler.spring;

import org.jspecify.annotations.NullMarked;

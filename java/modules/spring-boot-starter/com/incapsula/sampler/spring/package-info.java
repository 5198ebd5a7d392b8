// SPDX-License-Identifier: Apache-2.0
/**
 * The Spring Boot starter: with it on the class path an application of Boot 3.5 or 4 is sampled from its start, has the
 * actuator endpoint {@code threadsampler} where it has the actuator, and meters where it has Micrometer.
 *
 * <p>{@link com.incapsula.sampler.spring.ThreadsSamplerAutoConfiguration} has the rules,
 * {@link com.incapsula.sampler.spring.ThreadsSamplerProperties} the properties.
 *
 * @since 1.0
 */
@NullMarked
package com.incapsula.sampler.spring;

import org.jspecify.annotations.NullMarked;

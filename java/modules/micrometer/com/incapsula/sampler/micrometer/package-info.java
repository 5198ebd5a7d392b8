// SPDX-License-Identifier: Apache-2.0
/**
 * For programs with Micrometer: {@link com.incapsula.sampler.micrometer.ThreadsSamplerMetrics} has the sampler's own
 * figures as meters.
 *
 * <p>Needs {@code micrometer-core}, which a program that has such meters has; the sampler itself does not need it.
 *
 * @since 1.0
 */
@NullMarked
package com.incapsula.sampler.micrometer;

import org.jspecify.annotations.NullMarked;

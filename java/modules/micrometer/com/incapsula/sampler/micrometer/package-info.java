// SPDX-License-Identifier: Apache-2.0
/**
 * For programs with Micrometer: {@link com.incapsula.sampler.micrometer.ThreadsSamplerMetrics} provides the sampler's
 * figures as meters.
 *
 * <p>Needs {@code micrometer-core}, which such programs have anyway; the sampler itself does not need it.
 *
 * @since 1.0
 */
@NullMarked
package com.incapsula.sampler.micrometer;

import org.jspecify.annotations.NullMarked;

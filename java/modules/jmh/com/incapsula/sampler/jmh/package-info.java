// SPDX-License-Identifier: Apache-2.0
/**
 * For benchmarks with JMH: {@link com.incapsula.sampler.jmh.SamplerProfiler} shows where their time goes.
 *
 * <p>Needs {@code jmh-core}, which such programs have anyway; the sampler itself does not need it.
 *
 * @since 1.0
 */
@NullMarked
package com.incapsula.sampler.jmh;

import org.jspecify.annotations.NullMarked;

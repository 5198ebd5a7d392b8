// SPDX-License-Identifier: Apache-2.0
/**
 * For benchmarks with JMH: {@link com.incapsula.sampler.jmh.SamplerProfiler} says where their time goes.
 *
 * <p>Needs {@code jmh-core}, which a program that has benchmarks has; the sampler itself does not need it.
 *
 * @since 1.0
 */
@NullMarked
package com.incapsula.sampler.jmh;

import org.jspecify.annotations.NullMarked;

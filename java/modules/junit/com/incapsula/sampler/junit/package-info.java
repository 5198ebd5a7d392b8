// SPDX-License-Identifier: Apache-2.0
/**
 * For tests with JUnit 5 or 6: {@link com.incapsula.sampler.junit.Sampled @Sampled} says where the time of a test went
 * that was slow or that failed.
 *
 * <p>Needs {@code junit-jupiter-api}, which a program that has such tests has; the sampler itself does not need it.
 *
 * @since 1.0
 */
@NullMarked
package com.incapsula.sampler.junit;

import org.jspecify.annotations.NullMarked;

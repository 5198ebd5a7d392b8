// SPDX-License-Identifier: Apache-2.0
/**
 * For tests with JUnit 5 or 6: {@link com.incapsula.sampler.junit.Sampled @Sampled} shows where the time of a slow or
 * failed test went.
 *
 * <p>Needs {@code junit-jupiter-api}, which such tests have anyway; the sampler itself does not need it.
 *
 * @since 1.0
 */
@NullMarked
package com.incapsula.sampler.junit;

import org.jspecify.annotations.NullMarked;

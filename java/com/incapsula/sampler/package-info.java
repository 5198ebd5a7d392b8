// SPDX-License-Identifier: Apache-2.0
/**
 * A sampler for production: {@link com.incapsula.sampler.ThreadsSampler} tells where the time of every thread goes.
 */
package com.incapsula.sampler;

// SPDX-License-Identifier: Apache-2.0
/** Code that the sampler samples in tests, in a separate package so that it can be monitored. */
package com.incapsula.sampler.testing.work;

// SPDX-License-Identifier: Apache-2.0
/** What the sampler samples in tests, in a package of its own so that it can be monitored. */
package com.incapsula.sampler.testing.work;

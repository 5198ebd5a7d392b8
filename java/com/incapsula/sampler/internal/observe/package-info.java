// SPDX-License-Identifier: Apache-2.0
/** Internal: registers the sampler with JMX and the flight recorder. */
package com.incapsula.sampler.internal.observe;

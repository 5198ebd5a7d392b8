// SPDX-License-Identifier: Apache-2.0
/** Internal: the sampler's lifecycle, and the interface to the native core. */
package com.incapsula.sampler.internal.engine;

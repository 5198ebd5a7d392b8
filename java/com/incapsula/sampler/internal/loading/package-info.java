// SPDX-License-Identifier: Apache-2.0
/** Internal: finds and loads the native library. */
package com.incapsula.sampler.internal.loading;

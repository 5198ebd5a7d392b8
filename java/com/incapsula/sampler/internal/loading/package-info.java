// SPDX-License-Identifier: Apache-2.0
/** Not for users: finds the native library and loads it. */
package com.incapsula.sampler.internal.loading;

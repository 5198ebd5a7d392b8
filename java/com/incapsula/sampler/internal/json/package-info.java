// SPDX-License-Identifier: Apache-2.0
/** Not for users: reads and writes JSON. */
package com.incapsula.sampler.internal.json;

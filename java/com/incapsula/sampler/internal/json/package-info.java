// SPDX-License-Identifier: Apache-2.0
/** Internal: reads and writes JSON. */
package com.incapsula.sampler.internal.json;

// SPDX-License-Identifier: Apache-2.0
/** Internal: sets the properties of a sampler by name, from texts. */
package com.incapsula.sampler.internal.options;

// SPDX-License-Identifier: Apache-2.0
/** Not for users: sets the properties of a sampler by their names, from texts. */
package com.incapsula.sampler.internal.options;

// SPDX-License-Identifier: Apache-2.0
/** Not for users: the lifecycle behind the bean and the seam to the native core. */
package com.incapsula.sampler.internal.engine;

// SPDX-License-Identifier: Apache-2.0
/** Not for users: the lifecycle behind the bean, the seam to the native core and its loader. */
package com.incapsula.sampler.internal;

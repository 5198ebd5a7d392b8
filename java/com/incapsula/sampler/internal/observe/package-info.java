// SPDX-License-Identifier: Apache-2.0
/** Not for users: shows the sampler to JMX and to flight recordings. */
package com.incapsula.sampler.internal.observe;

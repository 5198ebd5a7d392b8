// SPDX-License-Identifier: Apache-2.0
/** Not for users: reports on their way to a server. */
package com.incapsula.sampler.internal.remote;

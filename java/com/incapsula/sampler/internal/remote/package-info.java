// SPDX-License-Identifier: Apache-2.0
/** Internal: sends reports to a server. */
package com.incapsula.sampler.internal.remote;

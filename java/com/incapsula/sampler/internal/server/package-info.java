// SPDX-License-Identifier: Apache-2.0
/** Internal: the HTTP server. */
package com.incapsula.sampler.internal.server;

// SPDX-License-Identifier: Apache-2.0
/** Not for users: what the HTTP server answers and with which threads. */
package com.incapsula.sampler.internal.server;

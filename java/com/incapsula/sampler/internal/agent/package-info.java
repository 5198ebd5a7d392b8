// SPDX-License-Identifier: Apache-2.0
/** Not for users: the Java agent and the command line, for JVMs whose program knows nothing of the sampler. */
package com.incapsula.sampler.internal.agent;

// SPDX-License-Identifier: Apache-2.0
/** Internal: the Java agent and the command line, for JVMs whose program does not use the sampler itself. */
package com.incapsula.sampler.internal.agent;

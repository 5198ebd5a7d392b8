// SPDX-License-Identifier: Apache-2.0
/** Not for users: the Model Context Protocol, by which language models read what is sampled. */
package com.incapsula.sampler.internal.mcp;

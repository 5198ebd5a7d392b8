// SPDX-License-Identifier: Apache-2.0
/** Internal: the Model Context Protocol, by which language models read the sampled data. */
package com.incapsula.sampler.internal.mcp;

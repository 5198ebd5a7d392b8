// SPDX-License-Identifier: Apache-2.0
/** What is hard on a sampler that interrupts threads wherever they are. */
package com.incapsula.sampler.torture;

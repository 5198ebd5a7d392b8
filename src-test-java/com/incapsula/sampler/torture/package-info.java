// SPDX-License-Identifier: Apache-2.0
/** Tests under conditions that are hard for a sampler that interrupts threads at any place. */
package com.incapsula.sampler.torture;

// SPDX-License-Identifier: Apache-2.0
/** Where reports go. */
package com.incapsula.sampler.outputer;

// SPDX-License-Identifier: Apache-2.0
/** Classes shared by tests of a running sampler. */
package com.incapsula.sampler.testing;

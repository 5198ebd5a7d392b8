// SPDX-License-Identifier: Apache-2.0
/** What tests of a running sampler share. */
package com.incapsula.sampler.testing;

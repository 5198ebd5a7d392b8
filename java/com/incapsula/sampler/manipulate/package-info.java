// SPDX-License-Identifier: Apache-2.0
/** Rules that say under which name the samples of a thread are added up. */
package com.incapsula.sampler.manipulate;

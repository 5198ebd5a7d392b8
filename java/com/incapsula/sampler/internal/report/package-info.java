// SPDX-License-Identifier: Apache-2.0
/**
 * Internal: files, pages and logs that reports are written to, and the library's own messages.
 */
package com.incapsula.sampler.internal.report;

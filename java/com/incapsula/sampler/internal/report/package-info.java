// SPDX-License-Identifier: Apache-2.0
/**
 * Not for users: the forms of a report, where it is written to, the interval that a server shows, and the library's
 * own messages.
 */
package com.incapsula.sampler.internal.report;

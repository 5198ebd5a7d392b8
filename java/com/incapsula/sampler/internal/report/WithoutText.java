// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.report;

/**
 * An outputer that takes whole reports only: it does nothing with titles and records, and no title is made for it. The
 * first date that a JVM prints takes 30 ms, for the names of time zones.
 */
public interface WithoutText {}

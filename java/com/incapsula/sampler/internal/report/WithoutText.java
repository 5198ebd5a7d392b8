// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.report;

/**
 * An outputer that only takes reports as objects and ignores titles and records. So no title is formatted for it: the
 * first date that a JVM formats takes 30 ms, for the names of time zones.
 */
public interface WithoutText {}

// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

/**
 * How much of the sampler's own account a text report has.
 *
 * @since 1.0
 */
public enum ReportAccount {

    /**
     * The polls with the share of time that has a stack, the sampler's memory and its CPU time, and each figure above
     * its threshold: failures, losses, dropped data.
     */
    SHORT,

    /** All figures that are not 0. */
    FULL
}

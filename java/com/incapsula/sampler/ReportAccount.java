// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

/**
 * How much of the sampler's own account a text report has.
 *
 * @since 1.0
 */
public enum ReportAccount {

    /**
     * The polls, with the share of the time that has a stack, the memory and the CPU time of the sampler; besides these,
     * each figure that has passed its threshold: what failed, was lost or dropped.
     */
    SHORT,

    /** Each figure that is not 0. */
    FULL
}

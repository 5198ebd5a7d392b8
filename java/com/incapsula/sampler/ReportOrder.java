// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

/**
 * The order of the rows below one row of a report. Thread groups are always ordered by active time, that is time in
 * which they did not wait for work, the most active first.
 *
 * @since 1.0
 */
public enum ReportOrder {

    /** In text order of the frame, so that two reports of one program are easy to compare. */
    BY_NAME,

    /** The most cumulative time first. */
    BY_TIME
}

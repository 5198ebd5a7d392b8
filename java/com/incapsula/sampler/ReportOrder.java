// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

/**
 * The order of the rows below one row of a report. Thread groups always come with the most active time
 * first: time in which they did not wait for work.
 *
 * @since 1.0
 */
public enum ReportOrder {

    /** In text order of the frame: two reports of one program are easy to compare. */
    BY_NAME,

    /** The most cumulative time first. */
    BY_TIME
}

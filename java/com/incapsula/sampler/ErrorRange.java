// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

/**
 * Between which two amounts the true one lies: {@link SamplingRow#getError95}.
 *
 * <p>The amount itself is one of the range, and mostly not in its middle: the fewer finds it is made of, the longer is
 * the part above it.
 *
 * @param lower the least that it may be, 0 or more
 * @param upper the most that it may be, {@code lower} or more
 * @since 1.0
 */
public record ErrorRange(long lower, long upper) {

    /**
     * Checks the figures.
     *
     * @param lower the least
     * @param upper the most
     * @throws IllegalArgumentException if lower is negative, or upper below it
     */
    public ErrorRange {
        if (lower < 0 || upper < lower) {
            throw new IllegalArgumentException("a range must be from 0 or more up, got " + lower + " to " + upper);
        }
    }

    /**
     * Whether chance had no part in the amount.
     *
     * @return true if lower and upper are equal
     */
    public boolean isExact() {
        return lower == upper;
    }
}

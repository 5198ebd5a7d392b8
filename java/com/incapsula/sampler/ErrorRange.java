// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

/**
 * The 95 % confidence interval of an amount: see {@link SamplingRow#getError95}.
 *
 * <p>The amount lies in the range, usually not in the middle: the fewer samples it consists of, the longer is the part
 * above it.
 *
 * @param lower the lower end, 0 or more
 * @param upper the upper end, {@code lower} or more
 * @since 1.0
 */
public record ErrorRange(long lower, long upper) {

    /**
     * Checks the figures.
     *
     * @param lower the lower end
     * @param upper the upper end
     * @throws IllegalArgumentException if lower is negative, or upper below it
     */
    public ErrorRange {
        if (lower < 0 || upper < lower) {
            throw new IllegalArgumentException("a range must be from 0 or more up, got " + lower + " to " + upper);
        }
    }

    /** {@return true if lower and upper are equal: the amount has no sampling error} */
    public boolean isExact() {
        return lower == upper;
    }
}

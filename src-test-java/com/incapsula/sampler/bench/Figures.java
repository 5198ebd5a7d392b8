// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.bench;

import java.util.Collection;
import java.util.function.DoublePredicate;

/** Summaries of repeated measurements. */
public final class Figures {

    private static final double CONFIDENCE = 0.95;
    private static final int STEPS = 60;

    private Figures() {}

    /**
     * Computes the median.
     *
     * @param values any number of them
     * @return NaN of none
     */
    public static double median(Collection<Double> values) {
        return quantile(values, 0.5);
    }

    /**
     * Computes the interquartile range.
     *
     * @param values any number of them
     * @return upper quartile minus lower quartile; NaN of none
     */
    public static double spread(Collection<Double> values) {
        return quantile(values, 0.75) - quantile(values, 0.25);
    }

    /**
     * Computes the mean.
     *
     * @param values any number of them
     * @return NaN of none
     */
    public static double mean(Collection<Double> values) {
        return values.stream().mapToDouble(Double::doubleValue).average().orElse(Double.NaN);
    }

    /**
     * Computes half the width of the mean's 95 % confidence interval.
     *
     * @param values independent of each other
     * @return NaN of fewer than two
     */
    public static double confidence(Collection<Double> values) {
        int count = values.size();
        if (count < 2) {
            return Double.NaN;
        }
        double mean = mean(values);
        double squares = values.stream()
                .mapToDouble(value -> (value - mean) * (value - mean))
                .sum();
        return student(count - 1) * Math.sqrt(squares / (count - 1) / count);
    }

    /* Student's t for 95 %: exact for 1 and 2 degrees of freedom, within 1 % of the tables from 3 on. */
    private static double student(int freedom) {
        double[] few = {12.706, 4.303};
        double z = 1.959964;
        if (freedom <= few.length) {
            return few[freedom - 1];
        }
        double cubed = z * z * z;
        double fifth = cubed * z * z;
        return z
                + (cubed + z) / (4 * freedom)
                + (5 * fifth + 16 * cubed + 3 * z) / (96.0 * freedom * freedom)
                + (3 * fifth * z * z + 19 * fifth + 17 * cubed - 15 * z) / (384.0 * freedom * freedom * freedom);
    }

    /**
     * Computes a quantile: the value that a share of the values does not exceed.
     *
     * @param values any number of them
     * @param share 0 to 1
     * @return between two values in proportion; NaN of none
     */
    public static double quantile(Collection<Double> values, double share) {
        double[] sorted =
                values.stream().mapToDouble(Double::doubleValue).sorted().toArray();
        if (sorted.length == 0) {
            return Double.NaN;
        }
        double place = share * (sorted.length - 1);
        double low = sorted[(int) Math.floor(place)];
        double high = sorted[(int) Math.ceil(place)];
        return low + (high - low) * (place - Math.floor(place));
    }

    /**
     * Computes the upper bound, with 95 % confidence, of the mean number of rare events, from one count.
     *
     * @param counted the number of counted events, which are independent of each other
     * @return 3.0 if none was counted
     */
    public static double rareAtMost(long counted) {
        return bisect(expected -> chanceOfAtMost(counted, expected) > 1 - CONFIDENCE, counted + 1);
    }

    /**
     * Computes the lower bound, with 95 % confidence, of the mean number of rare events, from one count.
     *
     * @param counted the number of counted events, which are independent of each other
     * @return 0 if none was counted
     */
    public static double rareAtLeast(long counted) {
        return counted == 0
                ? 0
                : bisect(expected -> 1 - chanceOfAtMost(counted - 1, expected) < 1 - CONFIDENCE, counted + 1);
    }

    /* The largest number for which the predicate holds, if it holds for all smaller ones. */
    private static double bisect(DoublePredicate holds, double some) {
        double low = 0;
        double high = some;
        while (holds.test(high)) {
            high *= 2;
        }
        for (int i = 0; i < STEPS; i++) {
            double middle = (low + high) / 2;
            low = holds.test(middle) ? middle : low;
            high = holds.test(middle) ? high : middle;
        }
        return low;
    }

    /* The Poisson distribution. */
    private static double chanceOfAtMost(long count, double expected) {
        double term = Math.exp(-expected);
        double sum = term;
        for (long i = 1; i <= count; i++) {
            term *= expected / i;
            sum += term;
        }
        return sum;
    }
}

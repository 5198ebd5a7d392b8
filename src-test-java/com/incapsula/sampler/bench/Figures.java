// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.bench;

import java.util.Collection;

/** Summaries of repeated measurements. */
public final class Figures {

    private Figures() {}

    /**
     * The middle value.
     *
     * @param values any number of them
     * @return NaN of none
     */
    public static double median(Collection<Double> values) {
        return quantile(values, 0.5);
    }

    /**
     * How far the middle half of the values spreads.
     *
     * @param values any number of them
     * @return upper quartile minus lower quartile; NaN of none
     */
    public static double spread(Collection<Double> values) {
        return quantile(values, 0.75) - quantile(values, 0.25);
    }

    private static double quantile(Collection<Double> values, double share) {
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
}

// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.List;
import java.util.stream.DoubleStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FiguresTest {

    @Test
    void quantilesLieBetweenValues() {
        List<Double> values = List.of(4.0, 1.0, 3.0, 2.0);
        assertThat(Figures.median(values)).isEqualTo(2.5);
        assertThat(Figures.quantile(values, 0)).isEqualTo(1);
        assertThat(Figures.quantile(values, 1)).isEqualTo(4);
        assertThat(Figures.quantile(values, 0.9)).isEqualTo(3.7, within(1e-9));
        assertThat(Figures.mean(values)).isEqualTo(2.5);
    }

    /* Half of the values are 1 and half are -1, so their mean is 0; the values of t are from published tables. */
    @ParameterizedTest
    @CsvSource({"2, 12.706", "4, 3.182", "6, 2.571", "10, 2.262", "20, 2.093", "60, 2.001", "1000, 1.962"})
    void confidenceIsThatOfStudent(int count, double t) {
        List<Double> values =
                DoubleStream.iterate(1, value -> -value).limit(count).boxed().toList();
        double deviation = Math.sqrt(count / (count - 1.0));
        double expected = t * deviation / Math.sqrt(count);
        assertThat(Figures.confidence(values)).isEqualTo(expected, within(expected / 100));
    }

    @Test
    void tooFewValuesHaveNoFigures() {
        assertThat(Figures.confidence(List.of(1.0))).isNaN();
        assertThat(Figures.mean(List.of())).isNaN();
        assertThat(Figures.median(List.of())).isNaN();
    }

    /* From published tables of the Poisson distribution. */
    @ParameterizedTest
    @CsvSource({"0, 0, 2.996", "1, 0.0513, 4.744", "2, 0.355, 6.296", "10, 5.425, 16.962"})
    void rareThingsMayBeMoreOrFewer(long counted, double least, double most) {
        assertThat(Figures.rareAtLeast(counted)).isEqualTo(least, within(0.001));
        assertThat(Figures.rareAtMost(counted)).isEqualTo(most, within(0.001));
    }
}

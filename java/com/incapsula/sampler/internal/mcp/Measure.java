// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.mcp;

import com.incapsula.sampler.SamplingGroup;
import com.incapsula.sampler.SamplingReport;
import com.incapsula.sampler.SamplingRow;
import java.util.List;
import java.util.Locale;

/** The time by which answers are ordered and shares are computed. */
enum Measure {
    WALL,
    CPU;

    /** The name of the parameter. */
    static final String NAME = "measure";

    /** @return the parameter that chooses a measure */
    static Parameter parameter() {
        return Parameter.choice(
                NAME,
                List.of(WALL.text(), CPU.text()),
                "wall (default): time by the clock, waiting included. cpu: time on a processor only.");
    }

    /** @throws ToolRefusal if this time is not measured */
    static Measure of(ToolArguments arguments, SamplingReport report) {
        Measure by = CPU.text().equals(arguments.text(NAME)) ? CPU : WALL;
        if (by.total(report) == 0) {
            throw new ToolRefusal(
                    report.getWallNanos() == 0
                            ? "nothing was sampled in this interval; call with seconds, which samples first"
                            : "no CPU time was measured in this interval; call with measure: wall");
        }
        return by;
    }

    String text() {
        return name().toLowerCase(Locale.ROOT);
    }

    long total(SamplingReport report) {
        return this == WALL ? report.getWallNanos() : report.getCpuNanos();
    }

    long total(SamplingGroup group) {
        return this == WALL ? group.getWallNanos() : group.getCpuNanos();
    }

    long total(SamplingRow row) {
        return this == WALL ? row.getWallNanos() : row.getCpuNanos();
    }

    long own(SamplingRow row) {
        return this == WALL ? row.getOwnWallNanos() : row.getOwnCpuNanos();
    }

    /** @return the part of {@link #own} without a CPU */
    long waits(SamplingRow row) {
        return this == WALL ? Math.max(row.getOwnWallNanos() - row.getOwnCpuNanos(), 0) : 0;
    }
}

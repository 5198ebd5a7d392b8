// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import java.util.List;

/**
 * How stacks are walked, and the limitations.
 *
 * @param limitations not modifiable
 */
record SamplingStatus(SamplingMode mode, List<SamplingLimitation> limitations) {

    /** Before the first start. */
    static final SamplingStatus NONE = new SamplingStatus(SamplingMode.INERT, List.of());

    /**
     * Reads the engine's own names. The engine may be newer than these classes.
     *
     * @param raw the mode, then the code and the text of each limitation; or empty
     */
    static SamplingStatus of(List<String> raw) {
        return raw.isEmpty() ? NONE : new SamplingStatus(mode(raw.get(0)), SamplingLimitation.listOf(raw));
    }

    /* An unknown mode samples, too, and may be as limited as the worst of the known ones. */
    private static SamplingMode mode(String name) {
        for (SamplingMode mode : SamplingMode.values()) {
            if (mode.name().equals(name)) {
                return mode;
            }
        }
        return SamplingMode.JVMTI;
    }

    /** Adds two up: the worse mode counts, and an inert status adds nothing. */
    SamplingStatus with(SamplingStatus other) {
        if (mode == SamplingMode.INERT || other.mode == SamplingMode.INERT) {
            return mode == SamplingMode.INERT ? other : this;
        }
        return new SamplingStatus(
                mode.compareTo(other.mode) < 0 ? other.mode : mode,
                SamplingLimitation.joined(limitations, other.limitations));
    }
}

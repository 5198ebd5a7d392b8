// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import java.util.List;

/**
 * How stacks are walked, and what is not done in the best way.
 *
 * @param limitations not modifiable
 */
record SamplingStatus(SamplingMode mode, List<SamplingLimitation> limitations) {

    /** Before the first start. */
    static final SamplingStatus NONE = new SamplingStatus(SamplingMode.INERT, List.of());

    /**
     * As the engine names it, which may be newer than these classes.
     *
     * @param raw the mode, then of each limitation its code and its text; or nothing
     */
    static SamplingStatus of(List<String> raw) {
        return raw.isEmpty() ? NONE : new SamplingStatus(mode(raw.get(0)), SamplingLimitation.listOf(raw));
    }

    /* A mode that this version does not know samples all the same, and may show as little as the least of them. */
    private static SamplingMode mode(String name) {
        for (SamplingMode mode : SamplingMode.values()) {
            if (mode.name().equals(name)) {
                return mode;
            }
        }
        return SamplingMode.JVMTI;
    }

    /** Of two that are added up: the mode is the one that shows less, and an inert one adds nothing. */
    SamplingStatus with(SamplingStatus other) {
        if (mode == SamplingMode.INERT || other.mode == SamplingMode.INERT) {
            return mode == SamplingMode.INERT ? other : this;
        }
        return new SamplingStatus(
                mode.compareTo(other.mode) < 0 ? other.mode : mode,
                SamplingLimitation.joined(limitations, other.limitations));
    }
}

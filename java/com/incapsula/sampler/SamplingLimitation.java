// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import java.util.ArrayList;
import java.util.List;

/**
 * Something that is not done in the best way here, or not at all. {@code java/REFERENCE.md} says of each what helps.
 *
 * @param code what it is, for programs
 * @param text why, for people: the text may change with each version
 * @since 1.0
 */
public record SamplingLimitation(Code code, String text) {

    /**
     * What a limitation is. New ones may come in minor versions.
     *
     * @since 1.0
     */
    public enum Code {

        /** Handshakes walk all threads: a walk that interrupts threads is not safe in this JVM, or not allowed. */
        ASYNC_WALK_REFUSED,

        /** Handshakes walk waiting threads, at five to eight times the cost. */
        WAITING_THREADS_BY_JVMTI,

        /** The stacks of virtual threads that have parked show their newest frames only. */
        VIRTUAL_THREADS_CUT,

        /** {@link ThreadsSampler#setSampleUnmountedVirtualThreads sampleUnmountedVirtualThreads} has no effect. */
        UNMOUNTED_VIRTUAL_THREADS_NOT_SAMPLED,

        /** {@link ThreadsSampler#setRootMethods rootMethods} has no effect. */
        CALLS_NOT_COUNTED,

        /** The sampler is inert. */
        NOTHING_SAMPLED
    }

    /* From pairs of a code and a text behind the mode. A newer engine may have codes that are not known here. */
    static List<SamplingLimitation> listOf(List<String> status) {
        List<SamplingLimitation> all = new ArrayList<>();
        for (int i = 1; i + 1 < status.size(); i += 2) {
            String name = status.get(i);
            String text = status.get(i + 1);
            for (Code code : Code.values()) {
                if (code.name().equals(name)) {
                    all.add(new SamplingLimitation(code, text));
                }
            }
        }
        return List.copyOf(all);
    }

    /* Without one that is there already. */
    static List<SamplingLimitation> joined(List<SamplingLimitation> first, List<SamplingLimitation> second) {
        List<SamplingLimitation> all = new ArrayList<>(first);
        second.stream().filter(each -> !all.contains(each)).forEach(all::add);
        return List.copyOf(all);
    }
}

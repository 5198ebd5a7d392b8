// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import java.util.ArrayList;
import java.util.List;

/**
 * Something that the sampler does in a worse way here, or not at all. {@code java/REFERENCE.md} says for each what
 * helps.
 *
 * @param code the kind of limitation, for programs
 * @param text the reason, for people; the text may change with each version
 * @since 1.0
 */
public record SamplingLimitation(Code code, String text) {

    /**
     * The kind of a limitation. Minor versions may add kinds.
     *
     * @since 1.0
     */
    public enum Code {

        /** Handshakes walk all threads, because interrupting threads is not safe in this JVM, or not allowed. */
        ASYNC_WALK_REFUSED,

        /** Handshakes walk waiting threads, at five to eight times the cost. */
        WAITING_THREADS_BY_JVMTI,

        /** The stacks of parked virtual threads have only their innermost frames. */
        VIRTUAL_THREADS_CUT,

        /** {@link ThreadsSampler#setSampleUnmountedVirtualThreads sampleUnmountedVirtualThreads} has no effect. */
        UNMOUNTED_VIRTUAL_THREADS_NOT_SAMPLED,

        /** {@link ThreadsSampler#setRootMethods rootMethods} has no effect. */
        CALLS_NOT_COUNTED,

        /** The sampler is inert. */
        NOTHING_SAMPLED
    }

    /* The pairs of a code and a text follow the mode. A newer engine may have codes that are not known here. */
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

    /* Without duplicates. */
    static List<SamplingLimitation> joined(List<SamplingLimitation> first, List<SamplingLimitation> second) {
        List<SamplingLimitation> all = new ArrayList<>(first);
        second.stream().filter(each -> !all.contains(each)).forEach(all::add);
        return List.copyOf(all);
    }
}

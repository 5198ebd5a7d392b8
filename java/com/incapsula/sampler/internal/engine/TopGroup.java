// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.engine;

/** The group for threads that the caller's own group may not outlive: before JDK 19 groups can be destroyed. */
final class TopGroup {

    private TopGroup() {}

    /** @return the group above all others, or as far above as a security manager allows */
    static ThreadGroup find() {
        ThreadGroup top = Thread.currentThread().getThreadGroup();
        try {
            for (ThreadGroup above = top.getParent(); above != null; above = top.getParent()) {
                top = above;
            }
        } catch (SecurityException forbidden) {
            // this one has to do
        }
        return top;
    }
}

// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.engine;

/** The group for threads that may outlive the caller's group: before JDK 19 groups can be destroyed. */
final class TopGroup {

    private TopGroup() {}

    /** @return the root group, or the highest group that a security manager allows */
    static ThreadGroup find() {
        ThreadGroup top = Thread.currentThread().getThreadGroup();
        try {
            for (ThreadGroup above = top.getParent(); above != null; above = top.getParent()) {
                top = above;
            }
        } catch (SecurityException forbidden) {
            // use the group that was reached
        }
        return top;
    }
}

// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

/**
 * Which methods are counted below {@link ThreadsSampler#setRootMethods root methods}, and from when on. A method that
 * is instrumented counts its calls where a root has called it, and does next to nothing elsewhere.
 *
 * @since 1.0
 */
public enum Instrumentation {

    /**
     * If at most 300 loaded classes pass {@link ThreadsSampler#setInstrumentationFilter}, {@link ThreadsSampler#init()}
     * instruments their methods as {@link #EAGER} does. So a program that is warm and not large lacks no call that begins
     * after {@code init()}. Classes that are loaded later, and those of larger programs, are instrumented as with
     * {@link #LAZY}.
     */
    AUTO,

    /**
     * When a method runs for the first time, all methods that are at most two calls away from it are instrumented, with
     * all overrides that are loaded. So hardly more methods are touched than run. Calls of a method before its probe is
     * in place are not counted: counts are exact from the second entry of a root after the last batch on. For servers
     * and all programs that run for long.
     *
     * <p>A method that is called by reflection is found at its first such call. Methods behind lambdas and proxies are
     * found by the interface that a counted method calls, and the target of a method handle by the constant name it is
     * looked up with. A method that none of these leads to is counted once a sample has found it below a root.
     */
    LAZY,

    /**
     * All methods that can be reached from the roots are instrumented, as soon as their classes are loaded. More
     * methods, fewer batches: for a start or an action that runs once. Methods that are called by reflection or by
     * method handles are found as with {@link #LAZY}.
     */
    EAGER,

    /**
     * All methods of all classes that pass {@link ThreadsSampler#setInstrumentationFilter} are instrumented, as they
     * are loaded; roots only say from where on calls are counted. Without roots these are {@code main} and every
     * {@code run}. For small programs.
     */
    TOTAL
}

// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

/**
 * Which methods are counted below {@link ThreadsSampler#setRootMethods root methods}, and from which moment on. An
 * instrumented method counts its calls below a root method; its other calls cost almost nothing.
 *
 * @since 1.0
 */
public enum Instrumentation {

    /**
     * If at most 300 loaded classes pass {@link ThreadsSampler#setInstrumentationFilter}, {@link ThreadsSampler#init()}
     * instruments their methods as {@link #EAGER} does. So in a warm program of moderate size, every call that begins
     * after {@code init()} is counted. Classes that are loaded later, and those of larger programs, are instrumented as
     * with {@link #LAZY}.
     */
    AUTO,

    /**
     * When a method runs for the first time, all methods that are at most two calls away from it are instrumented, with
     * all loaded overrides. So few methods are instrumented that do not run. Calls of a method before its probe is in
     * place are not counted: counts are exact from the second entry of a root after the last batch on. For servers and
     * other long-running programs.
     *
     * <p>A method that is called by reflection is found at its first such call. Methods behind lambdas and proxies are
     * found by the interface that a counted method calls. The target of a method handle is found by the constant name
     * of its look-up. Any other method is counted once a sample has found it below a root.
     */
    LAZY,

    /**
     * All methods that can be reached from the roots are instrumented as soon as their classes are loaded. This
     * instruments more methods in fewer batches, which suits a start, or an action that runs once. Methods that are
     * called by reflection or by method handles are found as with {@link #LAZY}.
     */
    EAGER,

    /**
     * All methods of all classes that pass {@link ThreadsSampler#setInstrumentationFilter} are instrumented when they
     * are loaded; calls are counted below the roots. Without root methods, the roots are {@code main} and every
     * {@code run}. For small programs.
     */
    TOTAL
}

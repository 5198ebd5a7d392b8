// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.testing;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * A test class or a test that compares measured times, shares or rates with bounds. Other processes on the machine can
 * affect it, so {@code mvn verify} excludes it, and {@code mvn -Ptruth verify} runs it on a quiet machine. If the
 * machine was not quiet, a failure does not count: {@link QuietMachine}.
 */
@Tag("truth")
@ExtendWith(QuietMachine.class)
@Target({ElementType.TYPE, ElementType.METHOD})
@Retention(RetentionPolicy.RUNTIME)
public @interface Measures {

    /** @return true if no other process can affect the result, so a failure always counts */
    boolean besideOthers() default false;
}

// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.testing;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * A test class, or a test, that compares measured times, shares or rates with bounds. Another process on the machine
 * can change them, so it is left out of {@code mvn verify} and run by {@code mvn -Ptruth verify}, on a quiet machine.
 * Where that was not quiet, a failure is none: {@link QuietMachine}.
 */
@Tag("truth")
@ExtendWith(QuietMachine.class)
@Target({ElementType.TYPE, ElementType.METHOD})
@Retention(RetentionPolicy.RUNTIME)
public @interface Measures {

    /** @return no other process changes what is compared: a failure always is one */
    boolean besideOthers() default false;
}

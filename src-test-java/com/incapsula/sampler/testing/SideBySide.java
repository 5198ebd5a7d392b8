// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.testing;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.Tag;

/**
 * A test class that the build runs in one of two JVMs at a time: it takes long, much of it waiting for another program,
 * and holds on a busy machine. Not for one that measures shares or times.
 */
@Tag("side-by-side")
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
public @interface SideBySide {
}

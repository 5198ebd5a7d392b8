// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.junit;

import com.incapsula.sampler.ReportFormat;
import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Samples all threads while a test runs, and reports where the time went if the test fails or is slow.
 *
 * <pre>{@code
 * @Sampled(slowerThanMillis = 500)
 * class OrdersTest {
 *     @Test
 *     void handlesAThousandOrders() { ... }
 * }
 * }</pre>
 *
 * <p>The whole report of such a test is written to a file, and the hottest lines of the test's thread group are
 * published as a report entry with the key {@code sampled}. The exception of a failed test gets the same lines as a
 * suppressed exception, {@link SampledTimes}, so they are in the log of every build. A slow test does not fail because
 * of that.
 *
 * <p>On a class, the annotation applies to each of its tests, including nested, repeated, parameterized and dynamic
 * ones; an annotation on a method takes precedence. A test whose assumption fails is not reported.
 *
 * <p>One sampler serves all tests with the same {@link #samplingFrequencyMillis}, and runs until the last test has
 * ended. If tests run at the same time in threads of a pool, the hottest lines are those of all of them, because their
 * threads are one group. If sampling is not possible, tests run as without this annotation.
 *
 * @since 1.0
 */
@Documented
@Inherited
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.TYPE, ElementType.METHOD})
@ExtendWith(SampledExtension.class)
public @interface Sampled {

    /**
     * {@return the time above which a test that passes is reported, in milliseconds; 0: every test; default: only tests
     * that fail}
     */
    long slowerThanMillis() default Long.MAX_VALUE;

    /** {@return the mean time between two ticks, in milliseconds, 1 to 3600000; default 10} */
    int samplingFrequencyMillis() default 10;

    /** {@return the number of hottest lines in the text, 1 or more; default 15} */
    int lines() default 15;

    /** {@return the format of the file; default HTML} */
    ReportFormat format() default ReportFormat.HTML;

    /**
     * The folder of files, which is created if it is missing. A file has the name of its test, with parameter types if
     * the class has several methods of that name. The next run replaces it.
     *
     * @return a folder; default: JUnit's configuration parameter {@code com.incapsula.sampler.junit.folder}, else
     *         JUnit's folder for the test's files, which it publishes. Before JUnit 5.14, which has no such folder:
     *         {@code target/sampled} (Maven) or {@code build/sampled} (Gradle), else {@code sampled} in the folder for
     *         temporary files
     */
    String folder() default "";
}

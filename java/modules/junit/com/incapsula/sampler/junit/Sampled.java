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
 * Samples all threads while a test runs, and says where the time went if the test fails or is slow.
 *
 * <pre>{@code
 * @Sampled(slowerThanMillis = 500)
 * class OrdersTest {
 *     @Test
 *     void handlesAThousandOrders() { ... }
 * }
 * }</pre>
 *
 * <p>Of such a test, the whole report goes to a file, and the hottest lines of the test's thread group to a report
 * entry with the key {@code sampled}. The exception of a test that fails gets the same as a suppressed exception,
 * {@link SampledTimes}, so it is in the log of every build. A test that is slow does not fail for that.
 *
 * <p>On a class it holds for each of its tests, nested, repeated, parameterized and dynamic ones too; one on a method
 * wins. A test whose assumption is not met is not reported.
 *
 * <p>One sampler serves all tests with the same {@link #samplingFrequencyMillis}, and runs until the last test has
 * ended. Of tests that run at the same time in threads of a pool, the hottest lines are those of all of them, as their
 * threads are one group. Where sampling is not possible the tests run as without this annotation.
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
     * A test that passes is reported if it takes longer than this.
     *
     * @return milliseconds; 0: every test is reported; default: only tests that fail
     */
    long slowerThanMillis() default Long.MAX_VALUE;

    /**
     * The mean time between two ticks.
     *
     * @return milliseconds, 1 to 3600000; default 10
     */
    int samplingFrequencyMillis() default 10;

    /**
     * How many of the hottest lines the text has.
     *
     * @return 1 or more; default 15
     */
    int lines() default 15;

    /**
     * The form of the file.
     *
     * @return the form; default HTML
     */
    ReportFormat format() default ReportFormat.HTML;

    /**
     * Where files go; made where it is missing. A file has the name of its test, with the types of its parameters if
     * the class has several methods of that name, so the next run replaces it.
     *
     * @return a folder; default: JUnit's configuration parameter {@code com.incapsula.sampler.junit.folder}, else the
     *         folder that JUnit has for the test's files, which it then publishes. Before JUnit 5.14, which has none:
     *         {@code target/sampled} (Maven) or {@code build/sampled} (Gradle), else {@code sampled} in the folder for
     *         temporary files
     */
    String folder() default "";
}

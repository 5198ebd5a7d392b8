// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.spring;

import java.util.List;
import java.util.Map;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.env.MapPropertySource;
import org.springframework.test.context.ContextConfigurationAttributes;
import org.springframework.test.context.ContextCustomizer;
import org.springframework.test.context.ContextCustomizerFactory;
import org.springframework.test.context.MergedContextConfiguration;

/**
 * Keeps reports out of the log of tests, unless the application configures logging. Spring's test framework caches an
 * application context and closes it at the exit of the JVM, where the last report would be logged after the last test.
 *
 * <p>Boot treats metrics and traces in the same way: tests do not send them.
 */
final class QuietTests implements ContextCustomizerFactory {

    QuietTests() {}

    @Override
    public ContextCustomizer createContextCustomizer(
            Class<?> testClass, List<ContextConfigurationAttributes> configuration) {
        return new Marker();
    }

    /** All instances are equal, so that contexts with equal configurations share one cached context. */
    private record Marker() implements ContextCustomizer {

        @Override
        public void customizeContext(ConfigurableApplicationContext context, MergedContextConfiguration configuration) {
            context.getEnvironment()
                    .getPropertySources()
                    .addLast(new MapPropertySource(ReportOutput.TESTED, Map.of(ReportOutput.TESTED, true)));
        }
    }
}

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
 * Keeps reports out of the log of tests, unless the application wants them there. Spring's test framework keeps an
 * application context for later tests and closes it at the end of the JVM: there the last report would be logged, when
 * no test runs any more.
 *
 * <p>Boot does so with metrics and traces: tests do not send them.
 */
final class QuietTests implements ContextCustomizerFactory {

    QuietTests() {}

    @Override
    public ContextCustomizer createContextCustomizer(
            Class<?> testClass, List<ContextConfigurationAttributes> configuration) {
        return new Marker();
    }

    /** Equal to each other one: contexts of the same configuration are the same context. */
    private record Marker() implements ContextCustomizer {

        @Override
        public void customizeContext(ConfigurableApplicationContext context, MergedContextConfiguration configuration) {
            context.getEnvironment()
                    .getPropertySources()
                    .addLast(new MapPropertySource(ReportOutput.TESTED, Map.of(ReportOutput.TESTED, true)));
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.spring;

import com.incapsula.sampler.ThreadsSampler;
import com.incapsula.sampler.manipulate.ThreadNameManipulator;
import com.incapsula.sampler.outputer.SamplingOutputer;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.LazyInitializationExcludeFilter;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Bean;
import org.springframework.core.env.Environment;

/**
 * A {@link ThreadsSampler} bean that {@code threads-sampler.*} properties describe, started while the application
 * starts and closed when it ends.
 *
 * <p>Nothing here stops the application: where a property is wrong, a file cannot be written or sampling is not
 * possible, one warning says why, and the application runs without samples. With {@code threads-sampler.required=true}
 * it does not start then.
 *
 * <p>A {@code ThreadsSampler} bean of the application's own takes the place of this one, and the properties have no
 * effect on it; endpoint and meters show it. A bean of type {@link SamplingOutputer} takes the place of
 * {@code threads-sampler.output.*}, and one of type {@link ThreadNameManipulator} groups the threads. Of several the
 * primary one counts; without one a warning says that none does.
 *
 * @since 1.0
 */
@AutoConfiguration
@ConditionalOnProperty(prefix = ThreadsSamplerProperties.PREFIX, name = "enabled", matchIfMissing = true)
public class ThreadsSamplerAutoConfiguration {

    /** For Spring. */
    public ThreadsSamplerAutoConfiguration() {}

    /**
     * The sampler is no part of what a lazy application leaves out.
     *
     * @return the filter
     */
    @Bean
    static LazyInitializationExcludeFilter threadsSamplerIsNotLazy() {
        return LazyInitializationExcludeFilter.forBeanTypes(ThreadsSampler.class);
    }

    /**
     * The sampler, started.
     *
     * @param environment has the properties
     * @param outputer the application's own, if there is one
     * @param manipulator the application's own, if there is one
     * @param all beans of the application
     * @return a sampler; not started where a property is wrong, with a warning
     */
    @Bean
    @ConditionalOnMissingBean
    ThreadsSampler threadsSampler(
            Environment environment,
            ObjectProvider<SamplingOutputer> outputer,
            ObjectProvider<ThreadNameManipulator> manipulator,
            ListableBeanFactory all) {
        ConfiguredSampler configured = new ConfiguredSampler(environment);
        return configured.start(
                one(SamplingOutputer.class, outputer, all), one(ThreadNameManipulator.class, manipulator, all));
    }

    /* Makes no bean where it uses none. */
    private static <T> @Nullable T one(Class<T> type, ObjectProvider<T> beans, ListableBeanFactory all) {
        @Nullable T found = beans.getIfUnique();
        int count = BeanFactoryUtils.beanNamesForTypeIncludingAncestors(all, type, true, false).length;
        if (found == null && count > 1) {
            LogFactory.getLog(ThreadsSampler.class)
                    .warn("there are " + count + " beans of type " + type.getSimpleName()
                            + " and none is primary, so the sampler uses none of them");
        }
        return found;
    }
}

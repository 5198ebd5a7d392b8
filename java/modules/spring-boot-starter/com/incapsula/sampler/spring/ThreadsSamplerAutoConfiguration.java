// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.spring;

import com.incapsula.sampler.ThreadsSampler;
import com.incapsula.sampler.ThreadsSamplerServer;
import com.incapsula.sampler.manipulate.ThreadNameManipulator;
import com.incapsula.sampler.outputer.SamplingOutputer;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.AbstractBeanDefinition;
import org.springframework.boot.LazyInitializationExcludeFilter;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;

/**
 * Configures a {@link ThreadsSampler} bean by {@code threads-sampler.*} properties. It is started when all beans have
 * been created, before web servers and other beans with a lifecycle, and closed after those have stopped. At the exit
 * of the JVM this needs Boot's shutdown hook; without it, as in an application server or with
 * {@code spring.main.register-shutdown-hook=false}, the sampler ends as soon as the JVM exits.
 *
 * <p>If a property is wrong, a file cannot be written or sampling is not possible, a warning with the reason is logged,
 * and the application runs without samples. With {@code threads-sampler.required=true} it does not start.
 *
 * <p>A {@code ThreadsSampler} bean of the application replaces this one, and the properties have no effect on it;
 * endpoint and meters show it. A bean of type {@link SamplingOutputer} replaces {@code threads-sampler.output.*}, and
 * one of type {@link ThreadNameManipulator} groups the threads. If there are several, the primary one is used. Without
 * a primary bean none is used and a warning is logged. If Spring closes a bean, the sampler does not close it.
 *
 * @since 1.0
 */
@AutoConfiguration
@ConditionalOnProperty(prefix = ThreadsSamplerProperties.PREFIX, name = "enabled", matchIfMissing = true)
public class ThreadsSamplerAutoConfiguration {

    /** For Spring. */
    public ThreadsSamplerAutoConfiguration() {}

    /** {@return the filter that excludes the sampler from lazy initialisation} */
    @Bean
    static LazyInitializationExcludeFilter threadsSamplerIsNotLazy() {
        return LazyInitializationExcludeFilter.forBeanTypes(ThreadsSampler.class);
    }

    /** For an application without its own sampler. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnMissingBean(ThreadsSampler.class)
    @EnableConfigurationProperties(ThreadsSamplerProperties.class)
    static class Configured {

        private final ConfigurableListableBeanFactory beans;

        Configured(ConfigurableListableBeanFactory beans) {
            this.beans = beans;
        }

        /** {@return the collector of errors, which prevents a wrong value from ending the application} */
        @Bean
        static SettingFailures threadsSamplerSettingFailures() {
            return new SettingFailures();
        }

        /**
         * The sampler.
         *
         * @param properties its properties
         * @param failures their errors
         * @param environment contains the application's name
         * @param outputer the application's own, if there is one
         * @param manipulator the application's own, if there is one
         * @return a sampler that is not started; if a property is wrong, with defaults and a warning
         */
        @Bean
        ThreadsSampler threadsSampler(
                ThreadsSamplerProperties properties,
                SettingFailures failures,
                Environment environment,
                ObjectProvider<SamplingOutputer> outputer,
                ObjectProvider<ThreadNameManipulator> manipulator) {
            UnknownSettings.in(ConfigurationPropertySources.get(environment))
                    .forEach(LogFactory.getLog(ThreadsSampler.class)::warn);
            ThreadsSampler sampler = new ThreadsSampler();
            try {
                ConfiguredSampler configured = new ConfiguredSampler(sampler);
                configured.configure(properties);
                configured.server(properties.server()); // finds wrong values
                SamplingOutputer own = one(SamplingOutputer.class, outputer);
                sampler.setSamplingOutputer(
                        own == null ? ReportOutput.outputer(properties.output(), environment) : own);
                sampler.setCloseOutputer(own == null || !isClosedBySpring(own));
                ThreadNameManipulator rule = one(ThreadNameManipulator.class, manipulator);
                if (rule != null) {
                    sampler.setThreadNameManipulator(rule);
                }
            } catch (IllegalArgumentException e) {
                failures.add(String.valueOf(e.getMessage()));
            }
            if (failures.isEmpty()) {
                return sampler;
            }
            SettingFailures.stopStart(failures.reason(), null, properties.required());
            return withDefaults();
        }

        /* If the endpoint starts it nevertheless, its reports do not go to standard output. */
        private static ThreadsSampler withDefaults() {
            ThreadsSampler sampler = new ThreadsSampler();
            sampler.setSamplingOutputer(ReportOutput.none());
            return sampler;
        }

        /* Creates no bean that is not used. */
        private <T> @Nullable T one(Class<T> type, ObjectProvider<T> provider) {
            @Nullable T found = provider.getIfUnique();
            int count = BeanFactoryUtils.beanNamesForTypeIncludingAncestors(beans, type, true, false).length;
            if (found == null && count > 1) {
                LogFactory.getLog(ThreadsSampler.class)
                        .warn("there are " + count + " beans of type " + type.getSimpleName()
                                + " and none is primary, so the sampler uses none of them");
            }
            return found;
        }

        /* Follows Spring's rule: by default close() is called for a @Bean, and not for a component. */
        private boolean isClosedBySpring(SamplingOutputer outputer) {
            BeanFactory each = beans;
            while (each instanceof ConfigurableListableBeanFactory factory) {
                for (String name : factory.getBeanNamesForType(SamplingOutputer.class, false, false)) {
                    if (factory.containsBeanDefinition(name) && factory.getSingleton(name) == outputer) {
                        String method = factory.getMergedBeanDefinition(name).getDestroyMethodName();
                        return AbstractBeanDefinition.INFER_METHOD.equals(method)
                                || "close".equals(method)
                                || outputer instanceof AutoCloseable
                                || outputer instanceof DisposableBean;
                    }
                }
                each = parent(factory);
            }
            return false;
        }

        private static @Nullable BeanFactory parent(ConfigurableListableBeanFactory factory) {
            BeanFactory parent = factory.getParentBeanFactory();
            return parent instanceof ConfigurableApplicationContext context ? context.getBeanFactory() : parent;
        }

        /**
         * The sampler's server.
         *
         * @param sampler the sampler to show
         * @param properties its properties
         * @param failures their errors
         * @return a server, which is started together with the sampler; if a property is wrong, with defaults and not
         *     started
         */
        @Bean
        @ConditionalOnMissingBean
        @ConditionalOnProperty(prefix = ThreadsSamplerProperties.PREFIX + ".server", name = "enabled")
        ThreadsSamplerServer threadsSamplerServer(
                ThreadsSampler sampler, ThreadsSamplerProperties properties, SettingFailures failures) {
            return failures.isEmpty()
                    ? new ConfiguredSampler(sampler).server(properties.server())
                    : new ThreadsSamplerServer();
        }

        /**
         * Starts and ends the sampler and its server.
         *
         * @param sampler the sampler
         * @param server the server, if there is one
         * @param properties decide whether they start
         * @param failures prevent them from starting
         * @param context the application context, which Boot may close at the exit of the JVM
         * @return the lifecycle, which Spring calls
         */
        @Bean
        SamplerLifecycle threadsSamplerLifecycle(
                ThreadsSampler sampler,
                ObjectProvider<ThreadsSamplerServer> server,
                ThreadsSamplerProperties properties,
                SettingFailures failures,
                ApplicationContext context) {
            return new SamplerLifecycle(
                    sampler,
                    properties.autoStart() && failures.isEmpty(),
                    () -> ShutdownHook.closes(context),
                    server::getIfUnique);
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.spring;

import com.incapsula.sampler.ThreadsSampler;
import com.incapsula.sampler.manipulate.ThreadNameManipulator;
import com.incapsula.sampler.outputer.SamplingOutputer;
import java.util.ArrayList;
import java.util.List;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.bind.BindException;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.bind.PlaceholdersResolver;
import org.springframework.boot.context.properties.bind.PropertySourcesPlaceholdersResolver;
import org.springframework.boot.context.properties.source.ConfigurationPropertySource;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.origin.Origin;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.core.env.Environment;

/**
 * Makes a sampler of properties and starts it. The sampler's own setters check the values, so there is no second table
 * of properties.
 *
 * <p>Errors: a failure is one warning in the log of {@link ThreadsSampler}, unless the sampler is required.
 *
 * <p>Threads: one.
 */
final class ConfiguredSampler {

    private final Iterable<ConfigurationPropertySource> sources;
    private final Binder binder;

    ConfiguredSampler(Environment environment) {
        sources = ConfigurationPropertySources.get(environment);
        PlaceholdersResolver placeholders = new PropertySourcesPlaceholdersResolver(environment);
        List<ConfigurationPropertySource> settings = new ArrayList<>();
        sources.forEach(each -> settings.add(new SettingSource(each, ThreadsSamplerProperties.PREFIX, placeholders)));
        binder = new Binder(settings, placeholders);
    }

    /**
     * Starts a sampler.
     *
     * @param outputer where reports go; null: what the properties say
     * @param manipulator groups threads; null: the default
     * @return a sampler that runs, unless it is not to be started yet; after a failure one that does not run, with its
     *         properties at their defaults
     * @throws RequiredSamplerException with the failure, where the sampler is required
     */
    ThreadsSampler start(@Nullable SamplingOutputer outputer, @Nullable ThreadNameManipulator manipulator) {
        UnknownSettings.in(sources).forEach(log()::warn);
        try {
            return configureAndStart(outputer, manipulator);
        } catch (RuntimeException | LinkageError e) {
            if (isRequired()) {
                throw new RequiredSamplerException(reason(e), e);
            }
            log().warn("threads-sampler does not sample, and the application runs on: " + reason(e));
            return withDefaults();
        }
    }

    private static Log log() {
        return LogFactory.getLog(ThreadsSampler.class);
    }

    private ThreadsSampler configureAndStart(
            @Nullable SamplingOutputer outputer, @Nullable ThreadNameManipulator manipulator) {
        ThreadsSampler sampler = new ThreadsSampler();
        ThreadsSamplerProperties properties =
                binder.bindOrCreate(ThreadsSamplerProperties.PREFIX, Bindable.of(ThreadsSamplerProperties.class));
        binder.bind(ThreadsSamplerProperties.PREFIX, Bindable.ofInstance(sampler));
        sampler.setSamplingOutputer(outputer == null ? ReportOutput.outputer(properties.getOutput()) : outputer);
        if (manipulator != null) {
            sampler.setThreadNameManipulator(manipulator);
        }
        if (properties.isAutoStart()) {
            sampler.init();
        }
        return sampler;
    }

    /* If the endpoint starts it all the same, its reports do not go to standard output. */
    private static ThreadsSampler withDefaults() {
        ThreadsSampler sampler = new ThreadsSampler();
        sampler.setSamplingOutputer(ReportOutput.none());
        return sampler;
    }

    private boolean isRequired() {
        try {
            return binder.bind(ThreadsSamplerProperties.PREFIX + ".required", Boolean.class)
                    .orElse(false);
        } catch (BindException noBoolean) {
            return false;
        }
    }

    /* Boot's exception says which property and where it stands, its cause what is wrong with the value. */
    private static String reason(Throwable failure) {
        if (!(failure instanceof BindException bind)) {
            return String.valueOf(failure.getMessage());
        }
        Throwable cause = NestedExceptionUtils.getMostSpecificCause(bind);
        Origin origin = bind.getOrigin();
        return bind.getName() + ": " + cause.getMessage() + (origin == null ? "" : " (" + origin + ")");
    }
}

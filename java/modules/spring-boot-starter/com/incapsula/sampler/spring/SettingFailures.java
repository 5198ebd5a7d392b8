// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.spring;

import com.incapsula.sampler.ThreadsSampler;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationPropertiesBindHandlerAdvisor;
import org.springframework.boot.context.properties.bind.AbstractBindHandler;
import org.springframework.boot.context.properties.bind.BindContext;
import org.springframework.boot.context.properties.bind.BindHandler;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.core.NestedExceptionUtils;

/**
 * Collects values below {@code threads-sampler.} that cannot be used. Boot would end the application; instead the
 * property keeps its default, and the sampler does not start.
 *
 * <p>Threads: any.
 */
final class SettingFailures implements ConfigurationPropertiesBindHandlerAdvisor {

    private static final ConfigurationPropertyName PREFIX =
            ConfigurationPropertyName.of(ThreadsSamplerProperties.PREFIX);

    private final List<String> reasons = new CopyOnWriteArrayList<>();

    @Override
    public BindHandler apply(BindHandler handler) {
        return new Recorder(handler);
    }

    /** @return true if every value can be used */
    boolean isEmpty() {
        return reasons.isEmpty();
    }

    /** @return the errors of the values, or an empty text */
    String reason() {
        return String.join("; ", reasons);
    }

    /**
     * Reports that the sampler does not start, so that the application runs on without samples.
     *
     * @param required whether the application must not run without the sampler
     * @throws RequiredSamplerException with the reason, if so
     */
    static void stopStart(String reason, @Nullable Throwable cause, boolean required) {
        if (required) {
            throw new RequiredSamplerException(reason, cause);
        }
        LogFactory.getLog(ThreadsSampler.class)
                .warn("threads-sampler does not sample, and the application runs on: " + reason);
    }

    void add(String reason) {
        reasons.add(reason);
    }

    /** Records a failure instead of throwing it, if it concerns one of the sampler's properties. */
    private final class Recorder extends AbstractBindHandler {

        Recorder(BindHandler parent) {
            super(parent);
        }

        @Override
        public @Nullable Object onFailure(
                ConfigurationPropertyName name, Bindable<?> target, BindContext context, Exception error)
                throws Exception {
            if (!PREFIX.isAncestorOf(name)) {
                return super.onFailure(name, target, context, error);
            }
            ConfigurationProperty property = context.getConfigurationProperty();
            String reason = name + ": "
                    + NestedExceptionUtils.getMostSpecificCause(error).getMessage();
            add(property == null || property.getOrigin() == null ? reason : reason + " (" + property.getOrigin() + ")");
            return null;
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.spring;

import com.incapsula.sampler.ThreadsSampler;
import com.incapsula.sampler.ThreadsSamplerServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.function.Supplier;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.context.SmartLifecycle;

/**
 * Starts the sampler before, and ends it after, all other beans that start and end: web servers, listeners, pools.
 *
 * <p>Threads: any; Spring calls it from one at a time.
 */
final class SamplerLifecycle implements SmartLifecycle {

    /* Not the very first: a few of Spring's own have to be. */
    private static final int PHASE = Integer.MIN_VALUE + 1000;

    private final ThreadsSampler sampler;
    private final boolean autoStart;
    private final Supplier<@Nullable ThreadsSamplerServer> servers;
    private @Nullable ThreadsSamplerServer server; // null: there is none, or it is not started

    /**
     * Makes one.
     *
     * @param autoStart false: something else starts the sampler
     * @param servers gives the sampler's server, or null if it has none
     */
    SamplerLifecycle(ThreadsSampler sampler, boolean autoStart, Supplier<@Nullable ThreadsSamplerServer> servers) {
        this.sampler = sampler;
        this.autoStart = autoStart;
        this.servers = servers;
    }

    @Override
    public int getPhase() {
        return PHASE;
    }

    @Override
    public boolean isAutoStartup() {
        return autoStart;
    }

    /**
     * Of Spring 7, which keeps a context of tests between their classes and pauses it then. A pause would end the
     * interval and close the outputs each time.
     *
     * @return false: the sampler runs on
     */
    public boolean isPauseable() {
        return false;
    }

    @Override
    public synchronized boolean isRunning() {
        return sampler.isRunning() || server != null;
    }

    @Override
    public synchronized void start() {
        try {
            if (!sampler.isRunning()) {
                sampler.init();
            }
        } catch (RuntimeException | LinkageError e) {
            SettingFailures.stopStart(String.valueOf(e.getMessage()), e, sampler.isRequired());
            return;
        }
        startServer();
    }

    private void startServer() {
        ThreadsSamplerServer made = servers.get();
        if (made == null || server != null) {
            return;
        }
        try {
            made.init();
            server = made;
        } catch (RuntimeException | LinkageError e) {
            String problem = "the sampler has no server: " + e.getMessage();
            if (sampler.isRequired()) {
                throw new RequiredSamplerException(problem, e);
            }
            LogFactory.getLog(ThreadsSampler.class).warn(problem);
        }
    }

    @Override
    public synchronized void stop() {
        if (server != null) {
            server.close();
            server = null;
        }
        try {
            sampler.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.spring;

import com.incapsula.sampler.ThreadsSampler;
import com.incapsula.sampler.ThreadsSamplerServer;
import com.incapsula.sampler.internal.engine.ExitOwner;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.context.SmartLifecycle;

/**
 * Starts the sampler before, and ends it after, all other beans that start and end: web servers, listeners, pools. That
 * is so at the exit of the JVM, too, if Boot's shutdown hook closes the application. Without that hook, the sampler ends
 * by its own as soon as the JVM exits.
 *
 * <p>Threads: any; Spring calls it from one at a time.
 */
final class SamplerLifecycle implements SmartLifecycle {

    /* Not the very first: a few of Spring's own have to be. */
    private static final int PHASE = Integer.MIN_VALUE + 1000;

    private final ThreadsSampler sampler;
    private final boolean autoStart;
    private final BooleanSupplier closedAtExit;
    private final Supplier<@Nullable ThreadsSamplerServer> servers;
    private @Nullable ThreadsSamplerServer server; // null: there is none, or another starts it
    private boolean started; // start() came, and stop() not yet
    private boolean interrupted; // stop() has ended a sampler that ran

    /**
     * Makes one.
     *
     * @param autoStart false: something else starts the sampler
     * @param closedAtExit whether Spring ends it when the JVM exits
     * @param servers gives the sampler's server, or null if it has none
     */
    SamplerLifecycle(
            ThreadsSampler sampler,
            boolean autoStart,
            BooleanSupplier closedAtExit,
            Supplier<@Nullable ThreadsSamplerServer> servers) {
        this.sampler = sampler;
        this.autoStart = autoStart;
        this.closedAtExit = closedAtExit;
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

    /**
     * Whether Spring has to stop it, and need not start it. A sampler that another bean has started is not started yet:
     * it may have a server.
     */
    @Override
    public synchronized boolean isRunning() {
        return started || (!autoStart && sampler.isRunning());
    }

    /** Where something else starts the sampler, only continues after {@link #stop()}. */
    @Override
    public synchronized void start() {
        if (!autoStart && !interrupted) {
            return;
        }
        started = true;
        interrupted = false;
        try {
            if (!sampler.isRunning()) {
                init();
            }
        } catch (RuntimeException | LinkageError e) {
            SettingFailures.stopStart(String.valueOf(e.getMessage()), e, sampler.isRequired());
            return;
        }
        if (autoStart) {
            startServer();
        }
    }

    private void init() {
        if (closedAtExit.getAsBoolean()) {
            ExitOwner.start(sampler::init);
        } else {
            sampler.init();
        }
    }

    private void startServer() {
        ThreadsSamplerServer made = servers.get();
        if (made == null || made.getUrl() != null || isOfAnother(made)) {
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

    private boolean isOfAnother(ThreadsSamplerServer made) {
        return made.getSampler() != null && made.getSampler() != sampler;
    }

    /** Throws nothing: Spring would not stop the beans of later phases. */
    @Override
    public synchronized void stop() {
        ThreadsSamplerServer own = server;
        server = null;
        started = false;
        interrupted = sampler.isRunning();
        try {
            if (own != null) {
                end("the sampler's server", own);
            }
        } finally {
            end("the sampler", sampler);
        }
    }

    private static void end(String what, AutoCloseable ended) {
        try {
            ended.close();
        } catch (Exception | LinkageError e) {
            LogFactory.getLog(ThreadsSampler.class).warn(what + " has not ended as it should: " + e.getMessage(), e);
        }
    }

    @Override
    public void stop(Runnable callback) {
        try {
            stop();
        } finally {
            callback.run();
        }
    }
}

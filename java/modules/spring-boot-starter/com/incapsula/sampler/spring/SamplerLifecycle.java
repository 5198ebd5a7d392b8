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
 * Starts the sampler before all other beans with a lifecycle, such as web servers, listeners and pools, and ends it
 * after them. This also holds at the exit of the JVM, if Boot's shutdown hook closes the application. Without that
 * hook, the sampler's own shutdown hook ends it as soon as the JVM exits.
 *
 * <p>Threads: any; Spring calls it from one at a time.
 */
final class SamplerLifecycle implements SmartLifecycle {

    /* Not the very first phase, which a few of Spring's own beans need. */
    private static final int PHASE = Integer.MIN_VALUE + 1000;

    private final ThreadsSampler sampler;
    private final boolean autoStart;
    private final BooleanSupplier closedAtExit;
    private final Supplier<@Nullable ThreadsSamplerServer> servers;
    private @Nullable ThreadsSamplerServer server; // null if there is none, or other code starts it
    private boolean started; // start() was called, and stop() was not
    private boolean interrupted; // stop() has ended a running sampler

    /**
     * Creates the lifecycle.
     *
     * @param autoStart false if other code starts the sampler
     * @param closedAtExit whether Spring ends the sampler when the JVM exits
     * @param servers returns the sampler's server, or null if it has none
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
     * {@return false, so the sampler runs on when Spring 7 pauses cached contexts between test classes} A pause would
     * end the interval and close the outputs each time.
     */
    public boolean isPauseable() {
        return false;
    }

    /**
     * Whether Spring has to stop the sampler, and need not start it. If another bean has started the sampler, this is
     * false, because its server may have to be started.
     */
    @Override
    public synchronized boolean isRunning() {
        return started || (!autoStart && sampler.isRunning());
    }

    /** Starts the sampler. If other code starts it, only restarts it after {@link #stop()}. */
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

    /** Never throws, because Spring would then not stop the beans of later phases. */
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

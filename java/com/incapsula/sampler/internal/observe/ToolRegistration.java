// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.observe;

import com.incapsula.sampler.ThreadsSamplerMXBean;
import com.incapsula.sampler.internal.engine.Snapshot;
import com.incapsula.sampler.internal.report.ApplicationStart;
import com.incapsula.sampler.internal.report.LibraryLog;
import jdk.jfr.FlightRecorder;
import org.jspecify.annotations.Nullable;

/**
 * Registers a running sampler with the JVM's own tools: a bean in the MBean server, events in the flight recorder. A
 * failure is logged and does not stop the sampler.
 *
 * <p>Threads: {@link #begin} and {@link #end} run one after the other, the other methods on the reporter thread in
 * between. The bean of an agent's sampler is registered later, on another thread.
 */
public final class ToolRegistration {

    private static final String JMX_MODULE = "java.management";
    private static final String JFR_MODULE = "jdk.jfr";

    /* Declared as Object, because their classes need modules that may be absent. */
    private @Nullable Object jmx; // guarded by this
    private @Nullable String wantedName; // guarded by this; null: do not register a bean
    private @Nullable Object jfr;

    /** Work that may find its module absent. */
    @FunctionalInterface
    private interface Work {
        void run() throws Exception;
    }

    /** Registers nothing yet. */
    public ToolRegistration() {}

    /**
     * Registers a sampler.
     *
     * @param bean the MXBean; null: do not register one
     * @param jfrEvents whether to switch events on in all recordings
     */
    public void begin(@Nullable ThreadsSamplerMXBean bean, @Nullable String jmxName, boolean jfrEvents) {
        if (bean != null) {
            synchronized (this) {
                wantedName = jmxName;
            }
            ApplicationStart.whenOver(() -> register(bean));
        }
        if (jfrEvents) {
            attempt("the sampler's events are not in flight recordings", JFR_MODULE, () -> {
                JfrEvents events = new JfrEvents();
                events.enable();
                jfr = events;
            });
        }
    }

    private synchronized void register(ThreadsSamplerMXBean bean) {
        String name = wantedName;
        if (name != null && jmx == null) {
            attempt("the sampler is not visible in JMX", JMX_MODULE, () -> jmx = JmxRegistration.of(bean, name));
        }
    }

    private synchronized void unregister() {
        Object registration = jmx;
        wantedName = null;
        jmx = null;
        if (registration != null) {
            attempt(
                    "the sampler's MBean is still registered",
                    JMX_MODULE,
                    () -> ((JmxRegistration) registration).unregister());
        }
    }

    /** Undoes {@link #begin}. */
    public void end() {
        Object events = jfr;
        jfr = null;
        unregister();
        if (events != null) {
            attempt("the sampler's events are still switched on", JFR_MODULE, () -> ((JfrEvents) events).disable());
        }
    }

    /**
     * {@return whether a recording of the flight recorder has one of the events switched on} The first use of an event
     * class starts half of the recorder, which takes a tenth of a second of CPU time, so this method uses none until
     * there was a recording.
     */
    public boolean areEventsWanted() {
        try {
            return FlightRecorder.isInitialized() && JfrEvents.areWanted();
        } catch (LinkageError absent) {
            return false;
        }
    }

    /** Writes the events of an interval. Never fails. */
    public void writeEvents(Snapshot interval) {
        try {
            JfrEvents.write(interval);
        } catch (RuntimeException | Error e) {
            LibraryLog.log(System.Logger.Level.WARNING, "no events of this interval in flight recordings", e);
        }
    }

    private static void attempt(String failure, String module, Work work) {
        try {
            work.run();
        } catch (LinkageError absent) {
            LibraryLog.log(System.Logger.Level.WARNING, failure + ": this JVM runs without the module " + module, null);
        } catch (Exception e) {
            LibraryLog.log(System.Logger.Level.WARNING, failure, e);
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.testing;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadFactory;
import java.util.stream.Stream;
import javax.management.JMException;

/** Virtual threads, created by reflection because the tests are compiled for Java 17. */
public final class Virtual {

    private Virtual() {}

    /**
     * Starts a virtual thread.
     *
     * @param name null for a thread without a name
     */
    public static Thread start(String name, Runnable body) {
        try {
            Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
            Class<?> virtual = Class.forName("java.lang.Thread$Builder$OfVirtual");
            if (name != null) {
                builder = virtual.getMethod("name", String.class).invoke(builder, name);
            }
            return (Thread) virtual.getMethod("start", Runnable.class).invoke(builder, body);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    /** @return an executor that starts a virtual thread for each task */
    public static ExecutorService executor() {
        try {
            return (ExecutorService)
                    Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    /**
     * @param factory makes the threads, which need not be virtual
     * @return an executor that starts a thread for each task
     */
    public static ExecutorService executor(ThreadFactory factory) {
        try {
            return (ExecutorService) Executors.class
                    .getMethod("newThreadPerTaskExecutor", ThreadFactory.class)
                    .invoke(null, factory);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    /** @return a factory of virtual threads */
    public static ThreadFactory factory() {
        try {
            Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
            return (ThreadFactory) Class.forName("java.lang.Thread$Builder")
                    .getMethod("factory")
                    .invoke(builder);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    /**
     * Counts the virtual threads in the JVM's own thread dump.
     *
     * @param folder for the dump, which is deleted afterwards
     * @return the number; 0 on a JDK without virtual threads
     */
    public static long alive(Path folder) throws IOException, JMException {
        if (Runtime.version().feature() < 21) {
            return 0;
        }
        Path dump = folder.resolve("threads.txt").toAbsolutePath();
        DiagnosticCommand.runWith("threadDumpToFile", dump.toString());
        try (Stream<String> lines = Files.lines(dump)) {
            return lines.filter(line -> line.matches("#\\d+ \".*\" virtual.*")).count();
        } finally {
            Files.delete(dump);
        }
    }
}

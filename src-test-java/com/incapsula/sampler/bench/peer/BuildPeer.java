// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.bench.peer;

import java.io.IOException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** This project's sampler, of this build or of an older one's jar, in one JVM. Without an overhead limit. */
public final class BuildPeer {

    private final ClassLoader loader;
    private final long intervalMillis;
    private Object sampler;

    private BuildPeer(ClassLoader loader, long intervalMillis) {
        this.loader = loader;
        this.intervalMillis = intervalMillis;
    }

    /**
     * The build that is tested.
     *
     * @param intervalMillis between two polls of a thread
     * @return not started
     */
    public static BuildPeer current(long intervalMillis) {
        return new BuildPeer(BuildPeer.class.getClassLoader(), intervalMillis);
    }

    /**
     * Another build, in a class loader of its own.
     *
     * @param jar its jar
     * @param intervalMillis between two polls of a thread
     * @return not started
     */
    public static BuildPeer of(Path jar, long intervalMillis) throws IOException {
        URL[] urls = {jar.toUri().toURL()};
        return new BuildPeer(new URLClassLoader(urls, ClassLoader.getPlatformClassLoader()), intervalMillis);
    }

    private Object call(String name, Object... arguments) throws ReflectiveOperationException {
        for (Method method : sampler.getClass().getMethods()) {
            if (method.getName().equals(name) && method.getParameterCount() == arguments.length) {
                return method.invoke(sampler, arguments);
            }
        }
        throw new NoSuchMethodException(name);
    }

    /**
     * Starts.
     *
     * @param threads to sample; empty: all
     */
    public void start(List<Thread> threads) throws ReflectiveOperationException {
        Class<?> outputer = loader.loadClass("com.incapsula.sampler.outputer.SamplingOutputer");
        sampler = loader.loadClass("com.incapsula.sampler.ThreadsSampler")
                .getConstructor()
                .newInstance();
        call("setSamplingFrequencyMillis", intervalMillis);
        call("setReportFrequencySeconds", 0L);
        call("setOverheadLimitPercent", 100.0);
        call(
                "setSamplingOutputer",
                Proxy.newProxyInstance(loader, new Class<?>[] {outputer}, (proxy, method, arguments) -> null));
        if (!threads.isEmpty()) {
            call("setSampleTheseThreadsOnly", threads);
        }
        call("init");
    }

    /**
     * What its own threads have used.
     *
     * @return nanoseconds of CPU time since the start
     */
    public long ownCpuNanos() throws ReflectiveOperationException {
        Object statistics = call("getStatistics");
        return (long) statistics.getClass().getMethod("getOwnCpuNanos").invoke(statistics);
    }

    /**
     * Which engine walks, and how many stacks it has walked in which way.
     *
     * @return for a note below a table
     */
    public String describe() throws ReflectiveOperationException {
        Object statistics = call("getStatistics");
        Class<?> type = statistics.getClass();
        Map<?, ?> outcomes = (Map<?, ?>) type.getMethod("getOutcomes").invoke(statistics);
        return type.getMethod("getEngine").invoke(statistics) + " "
                + outcomes.entrySet().stream()
                        .filter(outcome -> ((Number) outcome.getValue()).longValue() != 0)
                        .map(Object::toString)
                        .collect(Collectors.joining(", "));
    }

    /** Ends. */
    public void stop() throws ReflectiveOperationException {
        call("close");
    }
}

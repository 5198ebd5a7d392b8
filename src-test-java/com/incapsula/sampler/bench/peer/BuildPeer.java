// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.bench.peer;

import com.incapsula.sampler.bench.Jvm;
import com.incapsula.sampler.bench.Plan;
import java.io.IOException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * This project's sampler from this build or from an older build's jar, without an overhead limit.
 *
 * <p>Each build has a JVM of its own. In one JVM the second build would use the first one's native core if both have
 * the same version of the interface between Java and C.
 */
public final class BuildPeer {

    /** The name of an older build. */
    public static final String BEFORE = "the older build";

    private final String name;
    private final ClassLoader loader;
    private final long intervalMillis;
    private Object sampler;

    private BuildPeer(String name, ClassLoader loader, long intervalMillis) {
        this.name = name;
        this.loader = loader;
        this.intervalMillis = intervalMillis;
    }

    /**
     * Measures the tested build and, if there is one, the plan's older build, in turn.
     *
     * @param plan how many rounds, and the length of a window
     * @param jdk its home
     * @param main the measured program; its arguments are scale, milliseconds of a window, and the argument of {@link
     *     #of}
     * @param scale its first argument
     * @return the printed results of all JVMs
     */
    public static List<String[]> inTurn(Plan plan, Path jdk, Class<?> main, int scale)
            throws IOException, InterruptedException {
        List<String> builds =
                plan.before() == null ? List.of("") : List.of("", plan.before().toString());
        List<String[]> told = new ArrayList<>();
        for (int round = 0; round < plan.rounds(); round++) {
            for (String build : builds) {
                told.addAll(Jvm.of(jdk, List.of("-XX:+UseG1GC", "-XX:-UseSerialGC"))
                        .run(main, scale, plan.windowMillis(), build));
            }
        }
        return told;
    }

    /**
     * Creates the sampler of a build; an older build has a class loader of its own.
     *
     * @param jar its jar; empty: the tested build
     * @param intervalMillis between two polls of a thread
     * @return not started
     */
    public static BuildPeer of(String jar, long intervalMillis) throws IOException {
        if (jar.isEmpty()) {
            return new BuildPeer(Peer.HYBRID, BuildPeer.class.getClassLoader(), intervalMillis);
        }
        URL[] urls = {Path.of(jar).toUri().toURL()};
        return new BuildPeer(BEFORE, new URLClassLoader(urls, ClassLoader.getPlatformClassLoader()), intervalMillis);
    }

    /** @return the name in tables */
    public String name() {
        return name;
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
     * @param threads the threads to sample; empty: all
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
     * The CPU time of its own threads.
     *
     * @return nanoseconds of CPU time since the start
     */
    public long ownCpuNanos() throws ReflectiveOperationException {
        Object statistics = call("getStatistics");
        return (long) statistics.getClass().getMethod("getOwnCpuNanos").invoke(statistics);
    }

    /**
     * The engine, and the number of stacks walked in each way.
     *
     * @return text for a note below a table
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

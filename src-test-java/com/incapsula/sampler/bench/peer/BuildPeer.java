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
 * This project's sampler, of this build or of an older one's jar. Without an overhead limit.
 *
 * <p>Each build has a JVM of its own: in one JVM the second would run on the first one's native core, where the seam
 * between Java and C is the same in both.
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
     * Measures the build that is tested, and the plan's older one where there is one, in turn.
     *
     * @param plan how many rounds, of how long a window
     * @param jdk its home
     * @param main the measured program; its arguments: scale, milliseconds of a window, what {@link #of} takes
     * @param scale its first argument
     * @return what all of them told
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
     * A build, an older one in a class loader of its own.
     *
     * @param jar its jar; empty: the build that is tested
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

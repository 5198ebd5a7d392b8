// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.testing;

import static com.incapsula.sampler.testing.Samplers.patiently;
import static com.incapsula.sampler.testing.Samplers.quick;
import static org.assertj.core.api.Assertions.assertThat;

import com.incapsula.sampler.Instrumentation;
import com.incapsula.sampler.ThreadsSampler;
import counted.Work;
import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedMethod;
import jdk.jfr.consumer.RecordingFile;
import one.profiler.AsyncProfiler;

/**
 * Counts the calls of {@link Work} with each scheme, in classes that another agent changes, too. Counting begins before
 * or after that. Both agents have the right numbers, and in the end the class has the bytes that it has without
 * counting. Arguments: the agent, a folder.
 */
public final class BesideAgentProgram {

    private static final String WORK = "counted.Work";
    private static final int TIMES = 100;
    private static final int ROOTS = 5;
    private static final int MORE_LOADERS = 12; // each loads six classes
    /* The number of leaf calls in a call of root, as a multiple of root's argument. */
    private static final int LEAVES = 3;
    private static final byte[] HOOK = "ThreadsSamplerHook".getBytes(StandardCharsets.US_ASCII);

    private static long roots;
    private static long leaves;
    private static Path folder;
    /* More classes in one batch than JNI guarantees local references. */
    private static final List<Class<?>> more = new ArrayList<>();

    /** An agent that changes the class {@link Work}. */
    enum Agent {
        /** An agent that exists from the JVM's start and changes classes when they are loaded. */
        FROM_THE_START {
            @Override
            void start() {}

            @Override
            long stop() {
                return leaves;
            }
        },

        ASYNC_PROFILER {
            @Override
            void start() throws IOException {
                AsyncProfiler.getInstance().execute("start,event=counted.Work.leaf");
            }

            @Override
            long stop() throws IOException {
                String stacks = AsyncProfiler.getInstance().execute("stop,collapsed");
                return stacks.lines()
                        .filter(line -> line.contains("counted/Work.leaf"))
                        .mapToLong(line -> Long.parseLong(line.substring(line.lastIndexOf(' ') + 1)))
                        .sum();
            }
        },

        METHOD_TIMING {
            private Recording recording;

            @Override
            void start() {
                recording = new Recording();
                recording
                        .enable("jdk.MethodTiming")
                        .with("filter", "counted.Work::leaf")
                        .with("period", "endChunk");
                recording.start();
            }

            @Override
            long stop() throws IOException {
                Path file = folder.resolve("timing.jfr");
                recording.stop();
                recording.dump(file);
                recording.close();
                long calls = 0;
                for (RecordedEvent event : RecordingFile.readAllEvents(file)) {
                    if (event.getEventType().getName().equals("jdk.MethodTiming")
                            && event.<RecordedMethod>getValue("method")
                                    .getName()
                                    .equals("leaf")) {
                        calls += event.getLong("invocations");
                    }
                }
                Files.delete(file);
                return calls;
            }
        };

        abstract void start() throws IOException;

        /** Stops the agent. Returns the number of leaf calls that it has seen since the start. */
        abstract long stop() throws IOException;
    }

    private BesideAgentProgram() {}

    public static void main(String[] arguments) throws Exception {
        Agent agent = Agent.valueOf(arguments[0]);
        folder = Path.of(arguments[1]);
        try (ThreadsSampler first = quick(new Recorder())) {
            first.init(); // the other agents then receive the classes after ours has changed them
        }
        HandedBytes.attach(folder.resolve("bytes.jar"));
        loadMore();
        for (Instrumentation scheme : Instrumentation.values()) {
            System.out.println(scheme + ", counting first");
            Class<?> work = countFirst(agent, scheme);
            System.out.println(scheme + ", counting second");
            countSecond(agent, scheme, work);
        }
        System.out.println("roots: " + roots);
        System.out.println("fine");
    }

    private static void loadMore() throws ReflectiveOperationException {
        for (int i = 0; i < MORE_LOADERS; i++) {
            Class<?> work = new FreshLoader().loadClass(WORK);
            root(work); // loads all classes
            more.add(work);
        }
    }

    private static ThreadsSampler sampler(Instrumentation scheme) {
        ThreadsSampler sampler = quick(new Recorder());
        sampler.setOverheadLimitPercent(100); // no method loses its probes
        sampler.setRootMethods(WORK + ".root");
        sampler.setInstrumentationFilter("counted");
        sampler.setInstrumentation(scheme);
        return sampler;
    }

    private static Class<?> countFirst(Agent agent, Instrumentation scheme) throws Exception {
        byte[] without = HandedBytes.atDefinition(new FreshLoader(), WORK);
        Class<?> work;
        try (ThreadsSampler sampler = sampler(scheme)) {
            sampler.init();
            work = new FreshLoader().loadClass(WORK);
            awaitInstrumented(sampler, work);
            agent.start();
            leaves = 0;
            assertCounted(sampler, work);
            assertThat(agent.stop()).isEqualTo(leaves);
            assertCounted(sampler, work);
            assertThat(hasProbes(HandedBytes.of(work))).isTrue();
        }
        assertThat(HandedBytes.of(work)).isEqualTo(without);
        assertThat(hasProbes(without)).isFalse();
        return work;
    }

    private static void countSecond(Agent agent, Instrumentation scheme, Class<?> work) throws Exception {
        byte[] without = HandedBytes.of(work);
        agent.start();
        leaves = 0;
        try (ThreadsSampler sampler = sampler(scheme)) {
            sampler.init();
            awaitInstrumented(sampler, work);
            assertCounted(sampler, work);
            assertThat(agent.stop()).isEqualTo(leaves);
            assertCounted(sampler, work);
            assertThat(hasProbes(HandedBytes.of(work))).isTrue();
        }
        assertThat(HandedBytes.of(work)).isEqualTo(without);
    }

    private static void awaitInstrumented(ThreadsSampler sampler, Class<?> work) {
        patiently().until(() -> {
            take(sampler);
            root(work);
            return take(sampler).equals(callsOf(1));
        });
    }

    private static void assertCounted(ThreadsSampler sampler, Class<?> work) throws ReflectiveOperationException {
        take(sampler);
        for (int i = 0; i < ROOTS; i++) {
            root(work);
        }
        assertThat(take(sampler)).isEqualTo(callsOf(ROOTS));
    }

    private static Map<String, Long> callsOf(long times) {
        Map<String, Long> all = new TreeMap<>(Work.callsOf(TIMES));
        all.replaceAll((path, number) -> number * times);
        return all;
    }

    /* Takes the counts, without the method that JaCoCo adds. */
    private static Map<String, Long> take(ThreadsSampler sampler) {
        Map<String, Long> calls = CallCounts.take(sampler);
        calls.keySet().removeIf(path -> path.contains("$jacocoInit"));
        return calls;
    }

    private static void root(Class<?> work) throws ReflectiveOperationException {
        Method root = work.getMethod("root", int.class);
        try {
            root.invoke(null, TIMES);
        } catch (InvocationTargetException e) {
            throw new AssertionError(e.getCause());
        }
        roots++;
        leaves += LEAVES * TIMES;
    }

    private static boolean hasProbes(byte[] file) {
        for (int i = 0; i + HOOK.length <= file.length; i++) {
            int same = 0;
            while (same < HOOK.length && file[i + same] == HOOK[same]) {
                same++;
            }
            if (same == HOOK.length) {
                return true;
            }
        }
        return false;
    }

    /** Loads its own copies of the classes in {@link Work}'s package. */
    private static final class FreshLoader extends ClassLoader {

        FreshLoader() {
            super(BesideAgentProgram.class.getClassLoader());
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            synchronized (getClassLoadingLock(name)) {
                if (!name.startsWith("counted.")) {
                    return super.loadClass(name, resolve);
                }
                Class<?> loaded = findLoadedClass(name);
                return loaded != null ? loaded : define(name);
            }
        }

        private Class<?> define(String name) throws ClassNotFoundException {
            try (InputStream in = getResourceAsStream(name.replace('.', '/') + ".class")) {
                byte[] bytes = in.readAllBytes();
                return defineClass(name, bytes, 0, bytes.length, Work.class.getProtectionDomain());
            } catch (IOException e) {
                throw new ClassNotFoundException(name, e);
            }
        }
    }
}

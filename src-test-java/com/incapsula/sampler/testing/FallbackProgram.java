// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.testing;

import static com.incapsula.sampler.testing.Samplers.assertEachPollHasItsOutcome;
import static com.incapsula.sampler.testing.Samplers.awaitSeen;
import static com.incapsula.sampler.testing.Samplers.patiently;
import static com.incapsula.sampler.testing.Samplers.quick;
import static org.assertj.core.api.Assertions.assertThat;

import com.incapsula.sampler.SamplerStatistics;
import com.incapsula.sampler.SamplingClock;
import com.incapsula.sampler.ThreadsSampler;
import java.lang.invoke.MethodHandles;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;

/**
 * Samples a running thread and a waiting one. The sampler cannot read the JVM's memory, either from the start or once
 * the file named by the argument exists. Prints the engine.
 */
public final class FallbackProgram {

    private static final String BUSY = "busy";
    private static final String WAITER = "waiter";
    private static final int ENOUGH_CALLS = 20_000;
    private static final SamplingClock CLOCK = SamplingClock.valueOf(System.getProperty("clock", "WALL"));

    private FallbackProgram() {}

    /** Runs the program. */
    public static void main(String... arguments) throws Exception {
        ThreadsSampler sampler = quick(new Recorder());
        sampler.setOverheadLimitPercent(100);
        sampler.setClock(CLOCK);
        try (Worker busy = Worker.busy(BUSY);
                Worker waiter = Worker.doing(WAITER, FallbackProgram::waitAgainAndAgain)) {
            sampler.init();
            awaitBoth(sampler);
            if (arguments.length > 0) {
                String first = engine(sampler);
                System.out.println("first engine: " + first);
                Files.createFile(Path.of(arguments[0]));
                awaitOtherEngine(sampler, first);
            }
            awaitBoth(sampler);
            if (CLOCK == SamplingClock.WALL && engine(sampler).startsWith("HYBRID")) {
                awaitHandlers(sampler);
            }
            assertThat(busy.thread().isAlive() && waiter.thread().isAlive()).isTrue();
        }
        sampler.close();
        SamplerStatistics statistics = sampler.getStatistics();
        assertEachPollHasItsOutcome(statistics);
        System.out.println("engine: " + statistics.getEngine());
        System.out.println("fine");
    }

    private static String engine(ThreadsSampler sampler) {
        return sampler.getStatistics().getEngine();
    }

    private static void waitAgainAndAgain(CountDownLatch goHome) throws Exception {
        while (goHome.getCount() > 0) {
            Wait.PARK.forMillis(5, 5);
        }
    }

    private static void awaitBoth(ThreadsSampler sampler) {
        if (CLOCK == SamplingClock.CPU) { // this clock needs timers, which the sampler cannot create
            patiently().until(() -> sampler.getStatistics().getOutcomes().getOrDefault("NO_CPU_TIMER", 0L) > 0);
            return;
        }
        awaitSeen(sampler, BUSY, "com.incapsula.sampler.testing.work.Desk.calculate");
        awaitSeen(sampler, WAITER, "com.incapsula.sampler.testing.Wait.forMillis");
    }

    /* Waits for a walk in the handler, because a handshake would show the running thread, too. */
    private static void awaitHandlers(ThreadsSampler sampler) {
        long before = sampler.getStatistics().getHandlerSamplesTimed();
        patiently().until(() -> sampler.getStatistics().getHandlerSamplesTimed() > before);
    }

    /*
     * Code that is compiled for the first time is compared with the JVM's own record of it. The JVM may also have
     * compiled something between the creation of the file and this call.
     */
    private static void awaitOtherEngine(ThreadsSampler sampler, String first) {
        patiently().until(() -> {
            compileFreshCode();
            return !engine(sampler).equals(first);
        });
    }

    private static void compileFreshCode() throws Exception {
        CountDownLatch over = new CountDownLatch(0);
        byte[] code = RedefiningAgent.bytesOf(HiddenWork.class);
        WithDefault fresh = (WithDefault) MethodHandles.lookup()
                .defineHiddenClass(code, true)
                .lookupClass()
                .getDeclaredConstructor()
                .newInstance();
        for (int i = 0; i < ENOUGH_CALLS; i++) {
            fresh.work(over);
        }
    }
}

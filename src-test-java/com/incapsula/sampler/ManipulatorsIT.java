// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import static com.incapsula.sampler.testing.Samplers.awaitTicks;
import static com.incapsula.sampler.testing.Samplers.patiently;
import static com.incapsula.sampler.testing.Samplers.quick;
import static com.incapsula.sampler.testing.Samplers.ticks;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.incapsula.sampler.manipulate.MapBasedThreadNameManipulator;
import com.incapsula.sampler.manipulate.RegexThreadNameManipulator;
import com.incapsula.sampler.manipulate.ThreadNameManipulator;
import com.incapsula.sampler.testing.NothingLeft;
import com.incapsula.sampler.testing.Recorder;
import com.incapsula.sampler.testing.Report;
import com.incapsula.sampler.testing.Worker;
import com.incapsula.sampler.testing.work.Desk;
import java.io.IOException;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Rules that group threads. */
@ExtendWith(NothingLeft.class)
class ManipulatorsIT {

    private final Recorder recorder = new Recorder();
    private final ThreadsSampler sampler = quick(recorder);

    @AfterEach
    void close() throws IOException {
        sampler.close();
    }

    private Report freshReport() {
        sampler.printReport();
        awaitTicks(sampler, 5);
        sampler.printReport();
        return recorder.last();
    }

    /** The rule in C gives the same groups as the rule in Java. */
    @Test
    void defaultRuleIsTheRegexRule() {
        RegexThreadNameManipulator rule = new RegexThreadNameManipulator();
        List<Worker> workers = new ArrayList<>();
        List<String> names = randomNames(300);
        names.addAll(List.of(
                "pool-1-thread-23",
                "http-nio-0.0.0.0:8080-exec-7",
                "12345",
                "é7ü日8本",
                "request 0123456789abcdef0123 done",
                "deadbeef",
                "0123456789abcde",
                "0123456789ABCDEF01",
                "req-1b4e28ba-2fa1-11d2-883f-0016d3cca427",
                "aaaa1aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeeeaaa",
                " 1 "));
        names.forEach(name -> workers.add(Worker.waiting(name)));
        try {
            workers.forEach(worker -> sampler.setThreadToBeSampled(worker.thread()));
            sampler.init();
            awaitTicks(sampler, 3);
            sampler.printReport();
            assertThat(recorder.last().names())
                    .containsExactlyInAnyOrderElementsOf(workers.stream()
                            .map(worker -> rule.getManipulatedThreadName(worker.thread()))
                            .distinct()
                            .toList())
                    .contains("pool--thread-", "[unnamed]", "request  done", "req-");
        } finally {
            workers.forEach(Worker::close);
        }
    }

    /** Names made of parts that the rule removes, or almost matches. */
    private static List<String> randomNames(int count) {
        Random random = new Random(29);
        List<String> names = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            StringBuilder name = new StringBuilder(Integer.toString(i, 36).replaceAll("[0-9a-f]", "w"));
            for (int parts = random.nextInt(1, 5); parts > 0; parts--) {
                name.append(randomPart(random));
            }
            names.add(name.toString());
        }
        return names;
    }

    private static String randomPart(Random random) {
        String hex = Long.toHexString(random.nextLong()) + Long.toHexString(random.nextLong());
        String part = switch (random.nextInt(6)) {
            case 0 -> new UUID(random.nextLong(), random.nextLong()).toString();
            case 1 -> hex.substring(0, random.nextInt(6, 18));
            case 2 -> hex.replaceAll("[0-9]", "").substring(0, random.nextInt(3));
            case 3 -> Long.toString(random.nextLong() >>> random.nextInt(64));
            case 4 -> "deadbeefcafebabe".substring(random.nextInt(8), random.nextInt(8, 17));
            default -> List.of("-", ":", ".", " ", "g", "", "é").get(random.nextInt(7));
        };
        return random.nextInt(3) == 0 ? part.toUpperCase(Locale.ROOT) : part;
    }

    @Test
    void aThreadThatIsRenamedGoesUnderItsNewName() {
        try (Worker worker = Worker.waiting("before")) {
            sampler.setThreadToBeSampled(worker.thread());
            sampler.init();
            assertThat(freshReport().names()).containsExactly("before");
            worker.thread().setName("after");
            assertThat(freshReport().names()).containsExactly("after");
        }
    }

    @Test
    void otherPatternsAreUsed() {
        RegexThreadNameManipulator rule = new RegexThreadNameManipulator();
        rule.setThreadNameRemovalPatterns(List.of("-of-.*"));
        try (Worker one = Worker.waiting("work1-of-anna");
                Worker two = Worker.waiting("work1-of-bert")) {
            sampler.setSampleTheseThreadsOnly(List.of(one.thread(), two.thread()));
            sampler.setThreadNameManipulator(rule);
            sampler.init();
            assertThat(freshReport().names()).containsExactly("work1");
            assertThat(recorder.last().groups().get(0).distinctThreads()).isEqualTo(2);
        }
    }

    @Test
    void aUsersRuleGroupsThreadsAndNullLeavesThemOut() {
        try (Worker one = Worker.waiting("one");
                Worker two = Worker.waiting("two");
                Worker out = Worker.waiting("out");
                Worker empty = Worker.waiting("empty")) {
            sampler.setSampleTheseThreadsOnly(List.of(one.thread(), two.thread(), out.thread(), empty.thread()));
            sampler.setThreadNameManipulator(thread -> switch (thread.getName()) {
                case "out" -> null;
                case "empty" -> "";
                default -> "GROUP 1";
            });
            sampler.init();
            Report report = freshReport();
            assertThat(report.names()).containsExactlyInAnyOrder("GROUP 1", "[unnamed]");
            assertThat(report.group("GROUP 1").threadNames()).isEqualTo("one, two");
        }
    }

    @Test
    void aUsersRuleIsCalledOncePerThreadAndTickOnTheSamplersThread() {
        Set<String> callers = ConcurrentHashMap.newKeySet();
        AtomicLong calls = new AtomicLong();
        AtomicInteger inits = new AtomicInteger();
        ThreadNameManipulator rule = new ThreadNameManipulator() {
            @Override
            public String getManipulatedThreadName(Thread thread) {
                callers.add(Thread.currentThread().getName());
                calls.incrementAndGet();
                return thread.getName();
            }

            @Override
            public void init() {
                inits.incrementAndGet();
            }
        };
        try (Worker one = Worker.waiting("one");
                Worker two = Worker.waiting("two")) {
            sampler.setSampleTheseThreadsOnly(List.of(one.thread(), two.thread()));
            sampler.setThreadNameManipulator(rule);
            assertThat(inits).hasValue(0);
            sampler.init();
            assertThat(inits).hasValue(1);
            awaitTicks(sampler, 20);
            sampler.pauseSampling();
            assertThat(calls).hasValue(2 * ticks(sampler));
            assertThat(callers).containsExactly("threads-sampler");
        }
    }

    @Test
    void aRuleSetWhileRunningIsInitialisedFirstAndUsedFromTheNextTick() {
        try (Worker worker = Worker.waiting("worker-1")) {
            sampler.setThreadToBeSampled(worker.thread());
            sampler.init();
            assertThat(freshReport().names()).containsExactly("worker-");
            CountDownLatch inited = new CountDownLatch(1);
            sampler.setThreadNameManipulator(new ThreadNameManipulator() {
                @Override
                public String getManipulatedThreadName(Thread thread) {
                    return inited.getCount() == 0 ? "new rule" : "not initialised";
                }

                @Override
                public void init() {
                    inited.countDown();
                }
            });
            assertThat(freshReport().names()).containsExactly("new rule");
            sampler.setThreadNameManipulator(new RegexThreadNameManipulator());
            assertThat(freshReport().names()).containsExactly("worker-");
        }
    }

    @Test
    void aRuleThatCannotBeInitialisedStopsInit() {
        ThreadNameManipulator broken = new ThreadNameManipulator() {
            @Override
            public String getManipulatedThreadName(Thread thread) {
                return "";
            }

            @Override
            public void init() {
                throw new UnsupportedOperationException("no map");
            }
        };
        ThreadNameManipulator before = sampler.getThreadNameManipulator();
        sampler.setThreadNameManipulator(broken);
        assertThatThrownBy(sampler::init)
                .isInstanceOf(UnsupportedOperationException.class)
                .hasMessage("no map");
        NothingLeft.assertNothingLeft();
        sampler.setThreadNameManipulator(before);
        sampler.init();
        assertThatThrownBy(() -> sampler.setThreadNameManipulator(broken)).hasMessage("no map");
        assertThat(sampler.getThreadNameManipulator()).isSameAs(before);
    }

    @Test
    void mappedThreadsAreGroupedByWhatTheyDo() {
        MapBasedThreadNameManipulator map = new MapBasedThreadNameManipulator();
        Worker.Work request = goHome -> {
            map.mapCurrentThread("GET /orders/7");
            try {
                Desk.serve(goHome);
            } finally {
                map.unmapCurrentThread();
            }
        };
        try (Worker idle = Worker.waiting("http-1")) {
            Worker serving = Worker.doing("http-2", request).awaitWaiting();
            sampler.setSampleTheseThreadsOnly(List.of(idle.thread(), serving.thread()));
            sampler.setThreadNameManipulator(map);
            sampler.init();
            Report report = freshReport();
            assertThat(report.names()).containsExactly("GET /orders/7");
            assertThat(report.groups().get(0).threadNames()).isEqualTo("http-2");
            assertThat(map.getMappingsCount()).isEqualTo(1);
            serving.close();
            assertThat(map.getMappingsCount()).isZero();
        }
    }

    @Test
    void mappedThreadsThatForgetToUnmapDoNotLeak() {
        MapBasedThreadNameManipulator map = new MapBasedThreadNameManipulator();
        sampler.setThreadNameManipulator(map);
        sampler.init();
        List<WeakReference<Thread>> ended = Collections.synchronizedList(new ArrayList<>());
        for (int i = 0; i < 50; i++) {
            Worker worker = Worker.doing("forgetful-" + i, goHome -> {
                        ended.add(new WeakReference<>(Thread.currentThread()));
                        map.mapCurrentThread("forgotten");
                        Desk.serve(goHome);
                    })
                    .awaitWaiting();
            awaitTicks(sampler, 1);
            worker.close();
        }
        assertThat(map.getMappingsCount()).isZero();
        awaitTicks(sampler, 3);
        patiently().until(() -> {
            System.gc();
            return ended.stream().allMatch(thread -> thread.get() == null);
        });
        sampler.printReport();
        assertThat(recorder.last().group("forgotten").distinctThreads()).isPositive();
    }

    private void awaitCollected(WeakReference<Thread> thread) {
        patiently().until(() -> {
            sampler.printReport(); // wakes up the sampler's thread
            System.gc();
            return thread.get() == null;
        });
    }

    private WeakReference<Thread> endAfter(Runnable change) {
        try (Worker worker = Worker.waiting("ends")) {
            awaitTicks(sampler, 3);
            change.run();
            return new WeakReference<>(worker.thread());
        }
    }

    /** A pause may last for months, and a thread keeps its class loader in memory. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void inAPauseNoThreadIsHeldThatHasEnded(boolean hasRule) {
        if (hasRule) {
            sampler.setThreadNameManipulator(Thread::getName);
        }
        sampler.init();
        awaitCollected(endAfter(sampler::pauseSampling));
    }

    @Test
    void aRuleThatIsNotUsedAnyMoreHoldsNoThread() {
        sampler.setThreadNameManipulator(Thread::getName);
        sampler.init();
        awaitCollected(endAfter(() -> {
            sampler.setThreadNameManipulator(new RegexThreadNameManipulator());
            awaitTicks(sampler, 3);
        }));
    }
}

// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.engine;

import static com.incapsula.sampler.testing.Latches.awaitReleased;
import static org.assertj.core.api.Assertions.assertThat;

import com.incapsula.sampler.testing.Samplers;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.security.Permission;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.logging.LogManager;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledForJreRange;

@Timeout(Samplers.HANG_SECONDS)
class ExitReportTest {

    private static final int HOOKS = 20;

    /** A program with a sampler on a fake core. Its argument chooses how it ends. */
    static final class Program {

        private Program() {}

        public static void main(String[] arguments) throws Exception {
            FakeEngine.FakeSource source = new FakeEngine.FakeSource();
            Lifecycle lifecycle = new Lifecycle(source);
            source.prepare = engine -> engine.onStop = () -> {
                System.out.println("daemon " + Thread.currentThread().isDaemon() + ", hidden " + source.hidden);
                engine.writeReport();
            };
            if (!arguments[0].equals("stuck")) {
                PatientExit.set();
            }
            if (arguments[0].equals("forbidden")) {
                NoHooks.forbid();
            }
            if (arguments[0].equals("group")) {
                initInAGroupThatEnds(lifecycle);
            } else if (arguments[0].startsWith("owned")) {
                ExitOwner.start(lifecycle::init);
            } else {
                lifecycle.init();
            }
            switch (arguments[0]) {
                case "group" -> addHooks();
                case "forbidden" -> lifecycle.close();
                case "forget" -> System.out.println("end of main");
                case "close" -> lifecycle.close();
                case "owned" -> System.out.println("end of main");
                case "owned, started again" -> {
                    lifecycle.close();
                    lifecycle.init();
                    System.out.println("end of main");
                }
                case "stuck" -> source.last().onStop = () -> sleep(600_000);
                default -> throw new AssertionError(arguments[0]);
            }
        }

        /* Maven's exec:java and other tools that run programs inside their own JVM do this. */
        private static void initInAGroupThatEnds(Lifecycle lifecycle) throws Exception {
            ThreadGroup group = new ThreadGroup("ends");
            Thread starter = new Thread(group, lifecycle::init);
            starter.start();
            starter.join();
            ThreadGroup.class.getMethod("destroy").invoke(group); // newer JDKs do not have this method, or ignore it
        }

        /* So many that some of them would start after ours. */
        private static void addHooks() {
            for (int i = 0; i < HOOKS; i++) {
                Runtime.getRuntime().addShutdownHook(new Thread(() -> System.out.println("a hook")));
            }
        }
    }

    /** Allows everything except shutdown hooks. */
    @SuppressWarnings("removal")
    static final class NoHooks extends SecurityManager {

        static void forbid() {
            LogManager.getLogManager(); // this class installs a hook of its own
            System.setSecurityManager(new NoHooks());
        }

        @Override
        public void checkPermission(Permission permission) {
            if (permission.getName().equals("shutdownHooks")) {
                throw new SecurityException("no hooks here");
            }
        }

        @Override
        public void checkPermission(Permission permission, Object context) {
            checkPermission(permission);
        }
    }

    private record Result(String output, long millis) {}

    private static Result run(String end, String... options) throws Exception {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.add("-XX:TieredStopAtLevel=1");
        command.addAll(List.of(options));
        command.addAll(List.of(
                "-cp", folderOf(Lifecycle.class) + ":" + folderOf(Program.class), Program.class.getName(), end));
        long start = System.nanoTime();
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes());
        assertThat(process.waitFor()).as(output).isZero();
        return new Result(output, TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start));
    }

    private static Path folderOf(Class<?> type) throws URISyntaxException {
        return Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI());
    }

    @Test
    void forgottenSamplerReportsOnceAtExit() throws Exception {
        assertThat(run("forget").output())
                .startsWith("end of main\ndaemon true, hidden 2\n\nReport interval: from ")
                .endsWith("\nthread\nrow\n\n")
                .containsOnlyOnce("Report interval");
    }

    @Test
    void closedSamplerDoesNotReportAgainAtExit() throws Exception {
        assertThat(run("close").output()).startsWith("daemon true, hidden 0\n").containsOnlyOnce("Report interval");
    }

    /** close() makes the last report, and nothing calls close() here. */
    @Test
    void aSamplerThatOtherCodeClosesIsNotEndedAtTheExit() throws Exception {
        assertThat(run("owned").output()).isEqualTo("end of main\n");
        assertThat(run("owned, started again").output())
                .endsWith("end of main\n")
                .containsOnlyOnce("Report interval");
    }

    /** The JVM cannot start a hook whose thread group was destroyed, and then starts no further hooks. */
    @Test
    @EnabledForJreRange(maxVersion = 18)
    void theGroupOfTheThreadThatStartsMayEndBeforeTheJvmDoes() throws Exception {
        String output = run("group").output();
        assertThat(output).containsOnlyOnce("Report interval");
        assertThat(output.lines().filter("a hook"::equals)).hasSize(HOOKS);
    }

    @Test
    @EnabledForJreRange(maxVersion = 23)
    void theSamplerRunsIfHooksAreForbiddenAndSaysWhatWillBeMissing() throws Exception {
        assertThat(run("forbidden", "-Djava.security.manager=allow").output())
                .containsOnlyOnce(
                        "WARNING: a JVM that exits without close() will write no last report: no hooks here\n")
                .containsOnlyOnce("Report interval")
                .doesNotContain("\tat ");
    }

    @Test
    void stuckReportHoldsTheExitUpForTwoSeconds() throws Exception {
        assertThat(run("stuck").millis()).isGreaterThanOrEqualTo(2_000L);
    }

    @Test
    void waitsNoLongerThanAllowed() throws Exception {
        List<Thread> threads = new CopyOnWriteArrayList<>();
        CountDownLatch stuck = new CountDownLatch(1);
        ExitReport report =
                new ExitReport(() -> threads.add(Thread.currentThread()), () -> awaitReleased(stuck), limit(50));
        long start = System.nanoTime();
        report.run();
        assertThat(TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start)).isGreaterThanOrEqualTo(50);
        assertThat(exceeded).hasSize(1);
        stuck.countDown();
        Awaitility.await().until(() -> threads.size() == 2);
        Thread helper = threads.get(1);
        assertThat(threads.get(0)).isSameAs(Thread.currentThread());
        assertThat(helper.getName()).isEqualTo("threads-sampler-last-report");
        helper.join();
    }

    @Test
    void failureStaysInside() {
        new ExitReport(
                        () -> {},
                        () -> {
                            throw new AssertionError("work");
                        },
                        limit(10_000))
                .run();
    }

    private final List<String> exceeded = new CopyOnWriteArrayList<>();

    private ExitReport.Limit limit(long millis) {
        return new ExitReport.Limit() {
            @Override
            public long millis() {
                return millis;
            }

            @Override
            public void exceeded() {
                exceeded.add("exceeded");
            }
        };
    }

    private static void sleep(long millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}

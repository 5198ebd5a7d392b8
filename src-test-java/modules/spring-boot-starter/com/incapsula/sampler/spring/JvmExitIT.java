// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.spring;

import static com.incapsula.sampler.spring.Patience.patiently;
import static org.assertj.core.api.Assertions.assertThat;

import com.incapsula.sampler.ThreadsSampler;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** An application whose JVM receives SIGTERM: if Spring ends the servers, the sampler ends after them. */
@Timeout(300)
class JvmExitIT {

    private static final String STARTED = "the application runs";

    @TempDir
    Path folder;

    /** A program with a server whose end takes time. */
    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration(ThreadsSamplerAutoConfiguration.class)
    static class Program {

        public static void main(String[] arguments) throws InterruptedException {
            SpringApplication application = new SpringApplication(Program.class);
            application.setWebApplicationType(WebApplicationType.NONE);
            application.run(arguments);
            System.out.println(STARTED);
            new CountDownLatch(1).await();
        }

        @Bean
        SmartLifecycle server(ThreadsSampler sampler) {
            return new SmartLifecycle() {
                private boolean runs;

                @Override
                public void start() {
                    runs = true;
                }

                @Override
                public void stop() {
                    patiently().until(Program::otherHooksHaveEnded);
                    System.out.println("the server ends, the sampler runs: " + sampler.isRunning());
                    runs = false;
                }

                @Override
                public boolean isRunning() {
                    return runs;
                }
            };
        }

        /*
         * The JVM has started all hooks and waits for them. Only Spring's hook is left; the sampler's own hook would be
         * another one.
         */
        private static boolean otherHooksHaveEnded() {
            return Thread.getAllStackTraces().values().stream().anyMatch(Program::waitsForHooks)
                    && Thread.getAllStackTraces().keySet().stream()
                            .noneMatch(thread -> thread.getName().equals("threads-sampler-exit"));
        }

        private static boolean waitsForHooks(StackTraceElement[] stack) {
            return Arrays.stream(stack).anyMatch(frame -> frame.getMethodName().equals("join"))
                    && Arrays.stream(stack)
                            .anyMatch(frame -> frame.getClassName().endsWith(".ApplicationShutdownHooks"));
        }
    }

    private static String outputOfAnEndBySignal(String... arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                Program.class.getName()));
        command.addAll(List.of(arguments));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        try (BufferedReader reader = process.inputReader()) {
            StringBuilder output = new StringBuilder();
            for (String line = reader.readLine(); line != null; line = reader.readLine()) {
                output.append(line).append('\n');
                if (line.equals(STARTED)) {
                    process.toHandle().destroy(); // does not close the stream
                }
            }
            process.waitFor();
            return output.toString();
        } finally {
            process.destroyForcibly();
        }
    }

    @Test
    void theSamplerEndsAfterTheServers() throws Exception {
        assertThat(outputOfAnEndBySignal())
                .contains("the server ends, the sampler runs: true")
                .containsOnlyOnce("Report interval: from ");
    }

    /** The report goes to a file, because Boot's log ends at the same time. */
    @Test
    void theSamplerReportsByItselfIfSpringEndsNothing() throws Exception {
        Path report = folder.resolve("report.txt");
        assertThat(outputOfAnEndBySignal(
                        "--spring.main.register-shutdown-hook=false", "--threads-sampler.output.file.path=" + report))
                .contains(STARTED)
                .doesNotContain("the server ends");
        assertThat(report).content().containsOnlyOnce("Report interval: from ");
    }
}

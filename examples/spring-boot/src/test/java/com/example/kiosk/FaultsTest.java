// SPDX-License-Identifier: Apache-2.0
package com.example.kiosk;

import static org.assertj.core.api.Assertions.assertThat;

import com.example.faults.EveryWayIn;
import com.example.faults.Service;
import com.example.faults.Shown;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.springframework.boot.SpringApplication;
import org.springframework.context.ConfigurableApplicationContext;

class FaultsTest extends EveryWayIn {

    private static final long LONG_RUN_SECONDS = 10;
    private static final int MOST_LINES = 250; // the goal is 150
    private static final String[] DEFAULTS = {"--spring.config.location=optional:classpath:/none/", "--server.port=0"};

    FaultsTest() throws IOException {
        super(Path.of("src", "main", "java", "com", "example", "kiosk"), Unsampled.class, "Tomcat started");
    }

    /** Runs the kiosk without a sampler. */
    public static final class Unsampled implements Service {
        @Override
        public long run(long seconds) throws Exception {
            return sell(seconds, "--threads-sampler.enabled=false");
        }
    }

    /** Runs the kiosk with the starter, and without any property. */
    public static final class WithStarter implements Service {
        @Override
        public long run(long seconds) throws Exception {
            return sell(seconds);
        }
    }

    private static long sell(long seconds, String... properties) throws Exception {
        List<String> arguments = new ArrayList<>(List.of(DEFAULTS));
        arguments.addAll(List.of(properties));
        try (ConfigurableApplicationContext kiosk =
                SpringApplication.run(Kiosk.class, arguments.toArray(String[]::new))) {
            Process customers = new ProcessBuilder(
                            Path.of(System.getProperty("java.home"), "bin", "java")
                                    .toString(),
                            "-cp",
                            System.getProperty("java.class.path"),
                            Customers.class.getName(),
                            kiosk.getEnvironment().getProperty("local.server.port"),
                            Long.toString(seconds))
                    .inheritIO()
                    .start();
            Runtime.getRuntime().addShutdownHook(new Thread(customers::destroyForcibly));
            return customers.waitFor() == 0 ? 1 : 0;
        }
    }

    @Test
    void theStarterLogsThem() throws Exception {
        assertAllFound(seconds -> Shown.in(readProgram(WithStarter.class, seconds)));
    }

    /**
     * The kiosk has the threads of a servlet container, most of which wait. The report shows all rows of the others.
     */
    @Test
    void theTextOfAReportIsShort() throws Exception {
        Path report = folder.resolve("report.txt");
        readAttached(LONG_RUN_SECONDS, report);
        assertThat(Files.readAllLines(report)).contains("Summary.").hasSizeLessThanOrEqualTo(MOST_LINES);
    }
}

// SPDX-License-Identifier: Apache-2.0
package com.example.faults;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.Assumptions;
import org.openqa.selenium.chrome.ChromeDriver;
import org.openqa.selenium.chrome.ChromeDriverService;
import org.openqa.selenium.chrome.ChromeOptions;

/** The part of a page that a browser on a small laptop shows before the user scrolls. */
final class FirstScreen implements AutoCloseable {

    private static final Path BINARY = Path.of("/usr/bin/chromium");
    private static final Path DRIVER = Path.of("/usr/bin/chromedriver");
    private static final int WIDTH = 1280;
    private static final int HEIGHT = 720;
    private static final Duration PATIENCE = Duration.ofMinutes(1);

    private static final String UNTIL_DRAWN = """
            const done = arguments[0];
            const look = () => document.documentElement.dataset.ready === 'true' ? done() : setTimeout(look, 20);
            look();
            """;

    /* The lines that are completely in the window. */
    private static final String WHOLE_LINES = """
            return [...document.querySelectorAll('#summary > *')]
                .filter((line) => {
                    const range = document.createRange();
                    range.selectNodeContents(line);
                    const text = range.getBoundingClientRect();
                    return text.height > 0 && text.top >= 0 && text.left >= 0
                        && text.bottom <= innerHeight && text.right <= innerWidth
                        && line.scrollWidth <= line.clientWidth + 1;
                })
                .map((line) => line.textContent)
            """;

    private final ChromeDriver driver;

    private FirstScreen(ChromeDriver driver) {
        this.driver = driver;
    }

    /** Skips the test if there is no browser, unless the environment demands one. */
    static FirstScreen open() {
        boolean isPresent = Files.isExecutable(BINARY) && Files.isExecutable(DRIVER);
        String advice = "no browser: apt-get install chromium chromium-driver fonts-dejavu-core";
        if ("required".equals(System.getenv("SMP_BROWSER"))) {
            Assertions.assertTrue(isPresent, advice);
        }
        Assumptions.assumeTrue(isPresent, advice);
        ChromeOptions options = new ChromeOptions();
        options.setBinary(BINARY.toFile());
        /* No sandbox, because tests run as root, in containers. */
        options.addArguments("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage");
        options.addArguments("--disable-background-networking", "--no-first-run", "--disable-component-update");
        ChromeDriver driver = new ChromeDriver(
                new ChromeDriverService.Builder()
                        .usingDriverExecutable(DRIVER.toFile())
                        .build(),
                options);
        driver.executeCdpCommand(
                "Emulation.setDeviceMetricsOverride",
                Map.of("width", WIDTH, "height", HEIGHT, "deviceScaleFactor", 1, "mobile", false));
        driver.manage().timeouts().scriptTimeout(PATIENCE);
        return new FirstScreen(driver);
    }

    /** @return the lines of the summary that are in the window */
    @SuppressWarnings("unchecked")
    Shown read(Path page) {
        driver.get(page.toUri().toString());
        driver.executeAsyncScript(UNTIL_DRAWN);
        List<String> lines = (List<String>) driver.executeScript(WHOLE_LINES);
        return new Shown(Spot.ofSummary(lines), String.join("\n", lines));
    }

    @Override
    public void close() {
        driver.quit();
    }
}

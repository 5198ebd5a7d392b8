// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.page;

import com.incapsula.sampler.internal.report.HtmlPage;
import com.incapsula.sampler.testing.Samplers;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.logging.Level;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.Assumptions;
import org.openqa.selenium.By;
import org.openqa.selenium.JavascriptExecutor;
import org.openqa.selenium.Keys;
import org.openqa.selenium.OutputType;
import org.openqa.selenium.WebElement;
import org.openqa.selenium.chrome.ChromeDriver;
import org.openqa.selenium.chrome.ChromeDriverService;
import org.openqa.selenium.chrome.ChromeOptions;
import org.openqa.selenium.interactions.Actions;
import org.openqa.selenium.logging.LogEntry;
import org.openqa.selenium.logging.LogType;
import org.openqa.selenium.logging.LoggingPreferences;

/** Debian's Chromium without a window, with the screen of a laptop. */
final class Browser implements AutoCloseable {
    private static final Path BINARY = Path.of("/usr/bin/chromium");
    private static final Path DRIVER = Path.of("/usr/bin/chromedriver");
    private static final Duration PATIENCE = Samplers.LONG;
    private static final Pattern REQUEST =
            Pattern.compile("\"Network\\.requestWillBeSent\".*?\"request\":\\{.*?\"url\":\"([^\"]*)\"", Pattern.DOTALL);

    private final ChromeDriver driver;

    private Browser(ChromeDriver driver) {
        this.driver = driver;
    }

    /** Skips the test if there is no browser, unless the environment demands one. */
    static Browser start() {
        boolean present = Files.isExecutable(BINARY) && Files.isExecutable(DRIVER);
        String advice = "no browser: apt-get install chromium chromium-driver fonts-dejavu-core";
        if ("required".equals(System.getenv("SMP_BROWSER"))) {
            Assertions.assertTrue(present, advice);
        }
        Assumptions.assumeTrue(present, advice);
        ChromeOptions options = new ChromeOptions();
        options.setBinary(BINARY.toFile());
        // No sandbox, because tests run as root, in containers. The other options prevent any network use of the
        // browser itself.
        options.addArguments(
                "--headless=new",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--window-size=1366,768",
                "--disable-background-networking",
                "--no-first-run",
                "--disable-component-update",
                "--force-color-profile=srgb");
        LoggingPreferences logs = new LoggingPreferences();
        logs.enable(LogType.BROWSER, Level.ALL);
        logs.enable(LogType.PERFORMANCE, Level.ALL);
        options.setCapability("goog:loggingPrefs", logs);
        ChromeDriverService service = new ChromeDriverService.Builder()
                .usingDriverExecutable(DRIVER.toFile())
                .build();
        options.setScriptTimeout(PATIENCE); // a script that waits for a frame may have to wait for a CPU
        options.setPageLoadTimeout(PATIENCE);
        Browser browser = new Browser(new ChromeDriver(service, options));
        browser.size(1366, 768, 1);
        return browser;
    }

    void size(int width, int height, double scale) {
        driver.executeCdpCommand(
                "Emulation.setDeviceMetricsOverride",
                Map.of("width", width, "height", height, "deviceScaleFactor", scale, "mobile", false));
    }

    void systemColours(String scheme) {
        driver.executeCdpCommand(
                "Emulation.setEmulatedMedia",
                Map.of("features", List.of(Map.of("name", "prefers-color-scheme", "value", scheme))));
    }

    /** Renders the page for this medium, such as "print"; "" ends that. */
    void medium(String name) {
        driver.executeCdpCommand("Emulation.setEmulatedMedia", Map.of("media", name));
    }

    void saveDownloadsIn(Path folder) {
        driver.executeCdpCommand(
                "Browser.setDownloadBehavior", Map.of("behavior", "allow", "downloadPath", folder.toString()));
    }

    void allowClipboard() {
        driver.executeCdpCommand(
                "Browser.grantPermissions",
                Map.of("permissions", List.of("clipboardReadWrite", "clipboardSanitizedWrite")));
    }

    /** Waits until the page has rendered. */
    void open(String url) {
        driver.get(url);
        until("return document.documentElement.dataset.ready === 'true'");
    }

    /** Opens the page of a report from a file in the folder. */
    void show(Path folder, String json) throws IOException {
        open(fileOf(folder, json));
    }

    static String fileOf(Path folder, String json) throws IOException {
        Path file = Files.createTempFile(folder, "report", ".html");
        try (var out = Files.newOutputStream(file)) {
            HtmlPage.write(out, data -> data.write(json.getBytes(StandardCharsets.UTF_8)));
        }
        return file.toUri().toString();
    }

    void openBroken(String url) {
        driver.get(url);
    }

    void until(String script) {
        Awaitility.await(script)
                .atMost(PATIENCE)
                .pollDelay(Duration.ZERO)
                .pollInterval(Duration.ofMillis(5))
                .until(() -> Boolean.TRUE.equals(run(script)));
    }

    @SuppressWarnings("unchecked")
    <T> T run(String script, Object... arguments) {
        return (T) ((JavascriptExecutor) driver).executeScript(script, arguments);
    }

    @SuppressWarnings("unchecked")
    <T> T runAsync(String script) {
        return (T) driver.executeAsyncScript(script);
    }

    WebElement find(String selector) {
        return driver.findElement(By.cssSelector(selector));
    }

    List<WebElement> all(String selector) {
        return driver.findElements(By.cssSelector(selector));
    }

    String text(String selector) {
        return run("return document.querySelector(arguments[0]).textContent", selector);
    }

    List<String> texts(String selector) {
        return run("return [...document.querySelectorAll(arguments[0])].map(e => e.textContent)", selector);
    }

    void click(String selector) {
        find(selector).click();
    }

    /** Types into the element that has the focus. */
    void type(CharSequence... keys) {
        new Actions(driver).sendKeys(keys).perform();
    }

    void search(String text) {
        WebElement field = find("#search");
        field.sendKeys(Keys.chord(Keys.CONTROL, "a"), Keys.DELETE);
        field.sendKeys(text);
    }

    void tab(String name) {
        click("#tab-" + name);
    }

    /** Moves the mouse over the graph: x as a fraction of its width, y in rows from its top. */
    void pointAtGraph(double x, double row, boolean click) {
        WebElement graph = find("#flame .scroller");
        int dx = (int) Math.round((x - 0.5) * graph.getSize().width);
        int dy = (int) Math.round(row * 20 + 10 - graph.getSize().height / 2.0);
        Actions actions = new Actions(driver).moveToElement(graph, dx, dy);
        (click ? actions.click() : actions).perform();
    }

    /** Red, green and blue of a point of the graph. */
    List<Number> graphColour(double x, double row) {
        return run(
                "const c = document.querySelector('#flame canvas'), r = c.width / c.clientWidth;"
                        + "return [...c.getContext('2d').getImageData(Math.round(arguments[0] * c.width),"
                        + "Math.round((arguments[1] * 20 + 3) * r), 1, 1).data].slice(0, 3)",
                x,
                row);
    }

    String focused() {
        return run("const e = document.activeElement; return e.id || e.className || e.tagName");
    }

    /** The browser's console messages since the last call. */
    List<String> complaints() {
        return driver.manage().logs().get(LogType.BROWSER).getAll().stream()
                .filter(entry -> entry.getLevel().intValue() >= Level.WARNING.intValue())
                .map(LogEntry::getMessage)
                .filter(text -> !text.contains("willReadFrequently")) // a hint about graphColour() above
                .toList();
    }

    /** All addresses requested since the last call. */
    List<String> requests() {
        return driver.manage().logs().get(LogType.PERFORMANCE).getAll().stream()
                .map(entry -> REQUEST.matcher(entry.getMessage()))
                .filter(Matcher::find)
                .map(found -> found.group(1))
                .filter(url -> !url.startsWith("data:"))
                .toList();
    }

    void picture(Path file) throws IOException {
        Files.createDirectories(file.getParent());
        Files.write(file, driver.getScreenshotAs(OutputType.BYTES));
    }

    @Override
    public void close() {
        driver.quit();
    }
}

// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.page;

import static org.assertj.core.api.Assertions.assertThat;

import com.incapsula.sampler.ThreadsSampler;
import com.incapsula.sampler.ThreadsSamplerServer;
import com.incapsula.sampler.outputer.PrintStreamSamplingOutputer;
import com.incapsula.sampler.testing.Samplers;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.openqa.selenium.Keys;

/** The page of a real server with a real sampler, in a real browser. */
@Timeout(Samplers.HANG_SECONDS)
class LivePageIT {

    private final ThreadsSampler sampler = new ThreadsSampler();
    private final ThreadsSamplerServer server = new ThreadsSamplerServer();
    private final CountDownLatch done = new CountDownLatch(1);

    @BeforeEach
    void start() {
        sampler.setSamplingFrequencyMillis(10);
        sampler.setReportFrequencySeconds(0);
        startSampler();
        server.setSampler(sampler);
    }

    private void startSampler() {
        sampler.setSamplingOutputer(new PrintStreamSamplingOutputer(new PrintStream(OutputStream.nullOutputStream())));
        sampler.init();
    }

    @AfterEach
    void stop() throws IOException {
        done.countDown();
        server.close();
        sampler.close();
    }

    private void startThread(String name) {
        Thread thread = new Thread(
                () -> {
                    try {
                        done.await();
                    } catch (InterruptedException e) {
                        Thread.currentThread().interrupt();
                    }
                },
                name);
        thread.setDaemon(true);
        thread.start();
    }

    private static String hasGroup(String name) {
        return "return [...document.querySelectorAll('#groups .group-name')].some(e => e.textContent === '" + name
                + "')";
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "s3cret"})
    void pageFollowsTheSampler(String token) {
        server.setToken(token);
        server.init();
        startThread("early <b>bird</b>");
        try (Browser browser = Browser.start()) {
            String url = server.getUrl().toString();
            browser.open(token.isEmpty() ? url : url.replace("http://", "http://me:" + token + "@"));
            browser.until(hasGroup("early <b>bird</b>"));
            startThread("newcomer");
            browser.until(hasGroup("newcomer"));
            assertThat(browser.complaints()).isEmpty();
        }
    }

    @Test
    void pageSaysWhenTheSamplerIsGoneAndComesBack() throws IOException {
        server.init();
        try (Browser browser = Browser.start()) {
            browser.open(server.getUrl().toString());
            sampler.close();
            browser.until("return document.querySelector('#live-text').textContent.includes('503')");
            startSampler();
            browser.until("return document.querySelector('#live-text').textContent.startsWith('Live, ')");
        }
    }

    private void open(Browser browser, String query) {
        server.init();
        startThread("worker");
        browser.open(server.getUrl() + query);
        browser.until(hasGroup("worker"));
    }

    private static String pressed() {
        return "return document.querySelector('#windows [aria-pressed=true]').dataset.window";
    }

    private static String requested(String file) {
        return "return performance.getEntriesByType('resource').some(e => e.name.endsWith('" + file + "'))";
    }

    @Test
    void windowIsChosenByButtonKeyAndAddress() {
        try (Browser browser = Browser.start()) {
            open(browser, "?window=15m");
            assertThat(browser.<String>run(pressed())).isEqualTo("15m");
            browser.until(requested("/report.json?window=15m"));
            browser.click("#windows [data-window='1m']");
            browser.until(requested("/report.json?window=1m"));
            assertThat(browser.<String>run(pressed())).isEqualTo("1m");
            assertThat(browser.<String>run("return location.search")).isEqualTo("?window=1m");
            browser.type("t");
            browser.until(requested("/report.json?window=5m"));
            assertThat(browser.<String>run(pressed())).isEqualTo("5m");
            browser.click("#live-pause");
            browser.click("#windows [data-window=start]");
            browser.until(requested("/report.json?window=start"));
            assertThat(browser.text("#live-text")).isEqualTo("Paused");
            assertThat(browser.complaints()).isEmpty();
        }
    }

    @Test
    void unknownWindowOfTheAddressIsTheServersToRefuse() {
        try (Browser browser = Browser.start()) {
            server.init();
            browser.openBroken(server.getUrl() + "?window=2m");
            assertThat(browser.text("body").strip()).isEqualTo("window must be one of 1m, 5m, 15m, start, got \"2m\"");
        }
    }

    /** Each format that the server offers, for the window that is shown. */
    @Test
    void allFormsAreDownloadedOfTheWindow() throws Exception {
        try (Browser browser = Browser.start()) {
            open(browser, "?window=1m");
            browser.type("f");
            List<String> links =
                    browser.run("return [...document.querySelectorAll('#server-forms a')].map(a => a.href)");
            assertThat(links)
                    .extracting(link -> URI.create(link).getPath())
                    .containsExactly(
                            "/report.txt", "/top.txt", "/collapsed", "/profile.json", "/profile.pb.gz", "/report.json");
            for (String link : links) {
                assertThat(URI.create(link).getQuery()).isEqualTo("window=1m");
                HttpResponse<byte[]> answer = HttpClient.newHttpClient()
                        .send(
                                HttpRequest.newBuilder(URI.create(link)).build(),
                                HttpResponse.BodyHandlers.ofByteArray());
                assertThat(answer.statusCode()).as(link).isEqualTo(200);
                assertThat(answer.body()).as(link).isNotEmpty();
            }
            browser.click("#windows [data-window='15m']");
            assertThat(browser.<String>run("return document.querySelector('#server-forms a').href"))
                    .endsWith("/report.txt?window=15m");
        }
    }

    @Test
    void everythingOfTheStaticPageIsThere() {
        try (Browser browser = Browser.start()) {
            open(browser, "");
            browser.run("navigator.clipboard.writeText = text => { window.copied = text; return Promise.resolve(); }");
            browser.type("f");
            browser.find("#filter-hide").sendKeys("java[.]util", Keys.TAB);
            String reports = "return String(performance.getEntriesByType('resource').length)";
            int before = Integer.parseInt(browser.run(reports));
            browser.until("return performance.getEntriesByType('resource').length > " + (before + 1));
            assertThat(browser.find("#filter-hide").getDomProperty("value"))
                    .as("a refresh keeps it")
                    .isEqualTo("java[.]util");
            assertThat(browser.<String>run("return location.hash")).contains("hide=");
            browser.click("#filter-clear");
            browser.tab("graph");
            browser.pointAtGraph(0.1, 1, true);
            browser.click("#copy-stack");
            browser.until("return document.querySelector('#copied').textContent === 'Copied'");
            assertThat(browser.<String>run("return window.copied")).startsWith("\"");
            assertThat(browser.find("#strip").isDisplayed()).isTrue();
            assertThat(browser.complaints()).isEmpty();
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1280, 760, 500, 390})
    void nothingIsWiderThanTheWindow(int width) {
        try (Browser browser = Browser.start()) {
            browser.size(width, 844, 1);
            open(browser, "");
            assertThat(browser.<Boolean>run(
                            "return document.documentElement.scrollWidth <= document.documentElement.clientWidth"))
                    .isTrue();
            assertThat(browser.find("#windows").isDisplayed()).isTrue();
        }
    }

    /** A screen reader announces another state, but not the arrival of another report. */
    @Test
    void screenReadersHearOfAnotherStateOnly() throws IOException {
        try (Browser browser = Browser.start()) {
            open(browser, "");
            browser.run(
                    "window.heard = []; new MutationObserver(() =>"
                            + " window.heard.push(document.querySelector('#live-news').textContent))"
                            + ".observe(document.querySelector('#live-news'), {childList: true, characterData: true, subtree: true})");
            assertThat(browser.<Boolean>run(
                            "return document.querySelector('#live').closest('[role=status],[aria-live]')"
                                    + " === null"))
                    .isTrue();
            browser.until("return window.shown = window.shown || document.querySelector('#live-text').textContent,"
                    + " document.querySelector('#live-text').textContent !== window.shown");
            assertThat(browser.<List<String>>run("return window.heard")).isEmpty();
            sampler.close();
            browser.until("return window.heard.length > 0");
            assertThat(browser.<List<String>>run("return window.heard"))
                    .containsExactly("No new report: the server answered 503");
        }
    }
}

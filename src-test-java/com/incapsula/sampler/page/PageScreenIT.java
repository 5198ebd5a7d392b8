// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.page;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.openqa.selenium.Keys;

/** The page on a laptop, on a large screen and on a phone, light and dark. */
class PageScreenIT extends WithBrowser {
    @TempDir
    Path folder;

    /** A report with a group of twenty rows and a summary of ten hot spots. */
    private static String service() {
        ReportJson report = new ReportJson();
        String[] stack = IntStream.range(0, 20)
                .mapToObj(i -> "com.acme.orders.Service" + (char) ('A' + i) + ".handle:" + (10 + i))
                .toArray(String[]::new);
        report.group("http-nio--exec-", 6).stack(100_000, 2_000, 200, stack);
        StringBuilder lines = new StringBuilder("\"20.1 s, 13 threads in 6 groups. CPU: 0.44 of 2. Active: 141 s.\"");
        lines.append(",\"running 6.7 s, runnable 96.0 s, blocked 35.3 s, I/O 0 s; your code: com.acme (guessed)\"");
        StringBuilder spots = new StringBuilder();
        for (int i = 0; i < 10; i++) {
            lines.append(String.format(
                    ",\"%2d. 17.5 ± 1.9 s runnable  OrderRepository.bestCustomer(OrderRepository.java:38)"
                            + "  …PreparedStatement.executeQuery  http-nio--exec-\"",
                    i + 1));
            spots.append(i == 0 ? "" : ",")
                    .append("{\"class\":\"com.acme.orders.OrderRepository\",\"method\":\"bestCustomer\"}");
        }
        lines.append(
                ",\"           8.7 s in 27 more places\",\"Garbage collection 0.07 s, JIT 1.7 s, sampler 0.13 s.\"");
        return report.json()
                .replaceFirst(
                        ",\"samples\":\\[[^]]*]", ",\"running\":[" + "0,".repeat(19) + "100000000000],\"idle\":[0]$0")
                .replaceFirst(
                        ",\"frames\":",
                        ",\"summary\":{\"threads\":13,\"groups\":6,\"lines\":[" + lines + "],\"hotSpots\":[" + spots
                                + "]},\"seconds\":{\"from\":1790000000,\"width\":1,\"count\":3,\"groups\":["
                                + "{\"name\":\"http-nio--exec-\",\"running\":[800,0,1500],\"idle\":[0,7]}]},\"frames\":");
    }

    @ParameterizedTest
    @CsvSource({"1280, 720", "1920, 1080", "390, 844"})
    void theFirstScreenHasTheSummaryAndTwelveRowsOfTheGraph(int width, int height) throws IOException {
        browser.size(width, height, 1);
        browser.show(folder, service());
        assertThat((Boolean) browser.run("const e = document.getElementById('summary');"
                        + "return e.children.length === 14 && e.scrollHeight <= e.clientHeight"
                        + " && [...e.children].every(c => c.getBoundingClientRect().right <= innerWidth)"))
                .isTrue();
        Number rows = browser.run("const e = document.getElementById('flame').getBoundingClientRect();"
                + "return Math.floor((Math.min(e.bottom, innerHeight) - e.top) / 20)");
        assertThat(rows.intValue()).isGreaterThanOrEqualTo(12);
        assertThat((Boolean) browser.run("return document.documentElement.scrollWidth <= innerWidth"))
                .isTrue();
        assertThat(browser.text("#interval")).endsWith("13 threads in 6 groups");
    }

    @Test
    void theStripSaysItsColours() throws IOException {
        browser.size(1280, 720, 1);
        browser.show(folder, service());
        assertThat(browser.texts(".seconds-text > span"))
                .containsExactly("Active time per second, http-nio--exec-:", "running 2.30 s", "idle 7.0 ms");
        assertThat(browser.all(".seconds-text .swatch")).hasSize(1);
        browser.find(".seconds").sendKeys(Keys.END);
        assertThat(browser.texts(".seconds-text > span")).element(1).isEqualTo("running 1.50 s");
    }

    @ParameterizedTest
    @CsvSource({
        "1280, 720, light",
        "1280, 720, dark",
        "1920, 1080, light",
        "1920, 1080, dark",
        "390, 844, light",
        "390, 844, dark"
    })
    void thePageIsAccessible(int width, int height, String colours) throws IOException {
        browser.size(width, height, 1);
        browser.systemColours(colours);
        browser.show(folder, service());
        browser.run(axe());
        assertThat(complaints("the graph")).isEmpty();
        browser.run("document.getElementById('tab-methods').click()");
        assertThat(complaints("methods")).isEmpty();
        if (width != 1280) {
            return; // the other views consist of the same parts
        }
        for (String tab : List.of("tree", "account", "callers")) {
            browser.run("document.getElementById('tab-" + tab + "').click()");
            assertThat(complaints(tab)).isEmpty();
        }
        browser.run("document.getElementById('filter-open').click()");
        assertThat(complaints("the filter")).isEmpty();
        browser.run("document.getElementById('downloads').showPopover()");
        assertThat(complaints("downloads")).isEmpty();
        browser.run("document.getElementById('downloads').hidePopover(); document.getElementById('help').showModal()");
        assertThat(complaints("help")).isEmpty();
    }

    private static String axe() throws IOException {
        try (InputStream script = PageScreenIT.class.getResourceAsStream("/axe.min.js")) {
            return new String(script.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    private static List<String> complaints(String view) {
        List<String> found =
                browser.runAsync("const done = arguments[0]; axe.run(document, {resultTypes: ['violations']})"
                        + ".then(r => done(r.violations.map(v => v.id + ': ' + v.nodes.map(n => n.target.join(' ')).join(', '))),"
                        + " e => done([String(e)]))");
        return found.stream().map(text -> view + ": " + text).toList();
    }
}

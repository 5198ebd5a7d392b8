// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.page;

import static org.assertj.core.api.Assertions.assertThat;

import com.incapsula.sampler.testing.PprofFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.openqa.selenium.Keys;

/** Files, clipboard and print, from the page in a real browser. */
class PageExportIT extends WithBrowser {
    @TempDir
    Path folder;

    @AfterEach
    void nothingWasComplainedOf() {
        browser.medium("");
        assertThat(browser.complaints()).isEmpty();
    }

    /** Clicks as a user does, and waits until the browser has given the file its name. */
    private Path download(String format, String name) throws IOException {
        Path saved = Files.createTempDirectory(folder, format);
        browser.saveDownloadsIn(saved);
        browser.click("[popovertarget=downloads]");
        browser.click("[data-download=" + format + "]");
        Path file = saved.resolve(name);
        Awaitility.await().until(() -> Files.exists(file) && Files.size(file) > 0);
        return file;
    }

    @Test
    void stacksOfWhatIsShownAreSaved() throws IOException {
        browser.show(folder, SampleReports.twoGroups().json());
        assertThat(Files.readAllLines(download("collapsed", "report.collapsed")))
                .containsExactly(
                        "main;com.acme.A.run(A.java:10) 1000000000",
                        "main;com.acme.A.run(A.java:10);com.acme.A.load(A.java:20) 2000000000",
                        "worker-;java.lang.Thread.run(Thread.java:840);com.acme.B.waitForWork(Native Method)"
                                + " 1000000000");
        browser.click("#filter-open");
        browser.find("#filter-hide").sendKeys("run", Keys.ENTER);
        assertThat(Files.readAllLines(download("collapsed", "report.collapsed")))
                .contains("main 1000000000", "main;com.acme.A.load(A.java:20) 2000000000");
    }

    @Test
    void textIsThatOfTheReport() throws IOException {
        browser.show(
                folder,
                SampleReports.twoGroups()
                        .json()
                        .replaceFirst(
                                ",\"elapsedNanos",
                                ",\"zone\":\"UTC\",\"zoneOffsetSeconds\":0,\"summary\":{\"lines\":[\"1 s\"]}$0"));
        List<String> lines = Files.readAllLines(download("text", "report.txt"));
        assertThat(lines)
                .startsWith("Report interval: 2026-09-21 13:58:20 – 14:13:20 UTC", "", "Summary.", "1 s", "")
                .contains("Aggregated thread: main. Distinct threads: 1 [main1, main2]");
        String row = lines.stream()
                .filter(line -> line.contains("A.load"))
                .findFirst()
                .orElseThrow();
        assertThat(row)
                .startsWith("  com.acme.A.load(A.java:20) ")
                .endsWith("  Cumulative time(ms): 2000, Method time(ms): 2000");
        assertThat(row.indexOf("Cumulative")).isEqualTo(152);
    }

    @Test
    void pprofIsReadBack() throws IOException {
        browser.show(folder, SampleReports.twoGroups().json());
        PprofFile file = new PprofFile(Files.readAllBytes(download("pprof", "report.pb.gz")));
        assertThat(file.isCanonical()).isTrue();
        assertThat(file.sampleTypes()).containsExactly("samples/count", "cpu/nanoseconds", "wall/nanoseconds");
        assertThat(file.defaultSampleType()).isEqualTo("wall");
        assertThat(file.number("duration_nanos")).isEqualTo(900_000_000_000L);
        assertThat(file.samples())
                .contains(new PprofFile.Sample(
                        40,
                        2_000_000_000L,
                        1_000_000_000L,
                        "main",
                        List.of("com.acme.A.run com/acme/A.java:10", "com.acme.A.load com/acme/A.java:20")));
    }

    @Test
    void speedscopeHasAProfileForEachGroup() throws IOException {
        browser.show(folder, SampleReports.twoGroups().json());
        String file = Files.readString(download("speedscope", "report.speedscope.json"));
        String profiles = browser.run(
                "const f = JSON.parse(arguments[0]); return f.profiles.map(p => p.name + ' ' + p.endValue + ' '"
                        + " + p.samples.map(s => s.map(i => f.shared.frames[i].name).join(';'))).join('\\n')",
                file);
        assertThat(profiles)
                .isEqualTo("main 3000000000 com.acme.A.run,com.acme.A.run;com.acme.A.load\n"
                        + "worker- 1000000000 java.lang.Thread.run;com.acme.B.waitForWork");
    }

    @Test
    void jsonIsTheWholeReportAndAPageAgain() throws IOException {
        String json = SampleReports.twoGroups().json();
        browser.show(folder, json);
        browser.click("#filter-open");
        browser.find("#filter-keep").sendKeys("load", Keys.ENTER);
        String saved = Files.readString(download("json", "report.json"));
        assertThat((Boolean) browser.run(
                        "return JSON.stringify(JSON.parse(arguments[0])) === JSON.stringify(JSON.parse(arguments[1]))",
                        json,
                        saved))
                .isTrue();
        browser.show(folder, saved);
        assertThat(browser.texts("#groups .group-time")).containsExactly("4.00 s", "3.00 s", "1.00 s");
    }

    @Test
    void aDifferenceIsSavedAsLinesAndAsJson() throws IOException {
        ReportJson before = new ReportJson().elapsedMillis(450_000);
        before.group("main", 1).stack(500, 500, 10, "a.A.run:1", "a.A.slow:2");
        ReportJson after = new ReportJson().elapsedMillis(900_000);
        after.group("main", 1).stack(3_000, 3_000, 60, "a.A.run:1", "a.A.slow:7");
        browser.show(folder, DifferenceJson.of(before, after));
        browser.click("[popovertarget=downloads]");
        assertThat(browser.find("[data-download=pprof]").isDisplayed()).isFalse();
        browser.click("[popovertarget=downloads]");
        assertThat(Files.readAllLines(download("collapsed", "difference.collapsed")))
                .containsExactly("main;a.A.run;a.A.slow 500000000 3000000000");
        browser.show(folder, Files.readString(download("json", "difference.json")));
        assertThat(browser.text("#interval")).contains("scaled × 2.00 to the length of after");
    }

    @Test
    void aStackIsCopied() throws IOException {
        browser.allowClipboard();
        browser.show(folder, SampleReports.twoGroups().json());
        browser.pointAtGraph(0.1, 3, true);
        browser.click("#copy-stack");
        browser.until("return document.querySelector('#copied').textContent === 'Copied'");
        String copied = browser.runAsync("navigator.clipboard.readText().then(arguments[0], arguments[0])");
        assertThat(copied).isEqualTo("\"main\"\n    at com.acme.A.load(A.java:20)\n    at com.acme.A.run(A.java:10)\n");
    }

    @Test
    void paperHasAllRowsAndNoControls() throws IOException {
        ReportJson report = new ReportJson();
        String[] stack = new String[80];
        for (int i = 0; i < stack.length; i++) {
            stack[i] = "com.acme.Deep.level" + (char) ('a' + i / 26) + (char) ('a' + i % 26) + ":1";
        }
        report.group("main", 1).stack(1_000, 0, 20, stack);
        browser.systemColours("dark");
        browser.show(folder, report.json());
        browser.medium("print");
        Awaitility.await().untilAsserted(() -> {
            Number height = browser.run("return document.querySelector('#flame canvas').offsetHeight");
            assertThat(height.intValue()).isEqualTo(81 * 20);
        });
        assertThat((Object)
                        browser.run("return [...document.querySelectorAll('button, input, [role=tab], [role=option]')]"
                                + ".filter(e => e.checkVisibility()).map(e => e.id || e.textContent).join()"))
                .isEqualTo("");
        assertThat(browser.find("#detail").isDisplayed()).isTrue();
        assertThat((Object) browser.run("return getComputedStyle(document.body).backgroundColor"))
                .isEqualTo("rgb(244, 245, 248)");
        browser.medium("");
        browser.tab("lines");
        browser.medium("print");
        browser.until("return document.querySelectorAll('#lines .row').length === 80");
        browser.medium("");
        browser.until("return document.querySelectorAll('#lines .row').length < 80");
    }
}

// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.page;

import static org.assertj.core.api.Assertions.assertThat;

import com.incapsula.sampler.internal.report.HtmlPage;
import com.incapsula.sampler.testing.Measures;
import com.sun.net.httpserver.HttpServer;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.openqa.selenium.Keys;
import org.openqa.selenium.WebElement;

/** The page in a real browser. The test leaves a picture of a large report in {@code target/page-pictures}. */
class PageIT extends WithBrowser {
    private static final Path PICTURES = Path.of("target", "page-pictures");
    private static final int LARGE = 100_000;

    @TempDir
    Path folder;

    private boolean expectsComplaints;

    @BeforeEach
    void forget() {
        browser.openBroken("about:blank");
        browser.complaints();
        browser.requests();
        browser.size(1366, 768, 1);
        browser.systemColours("light");
    }

    @AfterEach
    void nothingWasComplainedOfAndNothingFetched() {
        if (!expectsComplaints) {
            assertThat(browser.complaints()).isEmpty();
            assertThat(browser.requests()).allMatch(url -> url.startsWith("file:///"));
        }
    }

    // ---- the graph

    @Test
    void graphDescribesTheFrameUnderTheMouseAndZoomsOnAClick() throws IOException {
        show(twoGroups().json());
        browser.pointAtGraph(0.1, 1, false);
        assertThat(browser.texts("#tip *")).startsWith("main", "3.00 s = 75.0 %");
        browser.pointAtGraph(0.9, 1, false);
        assertThat(browser.texts("#tip *")).startsWith("worker-", "1.00 s = 25.0 %");

        browser.pointAtGraph(0.05, 2, true); // A.run
        assertThat(browser.text("#path")).isEqualTo("A.run: 75.0 % of all");
        browser.pointAtGraph(0.2, 3, false); // A.load, two thirds of A.run
        assertThat(browser.texts("#tip *"))
                .startsWith("com.acme.A.load(A.java:20)", "2.00 s = 50.0 %, 66.7 % of the zoom", "own time 2.00 s");
        browser.pointAtGraph(0.2, 3, true);
        browser.click("#back");
        assertThat(browser.text("#path")).isEqualTo("A.run: 75.0 % of all");
        browser.click("#reset");
        assertThat(browser.text("#path")).isEmpty();
        assertThat(browser.find("#back").isEnabled()).isFalse();
    }

    @Test
    void graphTurnsOver() throws IOException {
        show(twoGroups().json());
        List<Number> top = browser.graphColour(0.5, 0);
        browser.type("i");
        assertThat(browser.graphColour(0.5, 0)).isNotEqualTo(top);
        double lastRow = lastRowOfGraph();
        browser.pointAtGraph(0.1, lastRow, false);
        assertThat(browser.texts("#tip *")).startsWith("All threads");
        browser.click("[data-direction=icicle]");
        assertThat(browser.graphColour(0.5, 0)).isEqualTo(top);
    }

    private double lastRowOfGraph() {
        Number height = browser.run("return document.querySelector('#flame .scroller').clientHeight");
        return height.doubleValue() / 20 - 1;
    }

    @Test
    void searchHighlightsAndShowsTheShareOnce() throws IOException {
        show(twoGroups().json());
        browser.search("a.LOAD");
        assertThat(browser.text("#found")).isEqualTo("50.0 % in 1 place");
        // The text changes at once; the graph is drawn with the next frame.
        Awaitility.await()
                .untilAsserted(() -> assertThat(browser.graphColour(0.02, 3)).containsExactly(0xb5L, 0x17L, 0xc9L));
        // Both of its rows match, one inside the other; their time counts once.
        browser.search("com.acme.A");
        assertThat(browser.text("#found")).isEqualTo("75.0 % in 2 places");
        browser.search("no such thing");
        assertThat(browser.text("#found")).isEqualTo("nothing found");
        browser.search("B.wait");
        browser.type(Keys.ENTER);
        assertThat(browser.text("#detail b")).isEqualTo("com.acme.B.waitForWork(Native Method)");
        browser.type(Keys.ESCAPE);
        assertThat(browser.text("#found")).isEmpty();
    }

    @Test
    void aStackOfTwentyThousandFramesIsShown() throws IOException {
        ReportJson report = new ReportJson();
        ReportJson.Group group = report.group("deep", 1);
        int node = -1;
        for (int i = 0; i < 20_000; i++) {
            node = group.child(node, report.frame("com.acme.Deep.call:" + i % 50));
        }
        group.add(node, 1_000, 1_000, 20);
        show(report.json());
        browser.pointAtGraph(0.5, 10, true);
        assertThat(browser.text("#detail")).contains("1.00 s = 100.0 %");
        browser.tab("tree");
        assertThat(browser.all("#tree .row")).hasSizeBetween(1, 3);
        browser.click("#compact");
        browser.click("#hot-path");
        browser.find("#tree").sendKeys(Keys.END);
        browser.until("return [...document.querySelectorAll('#tree .row')].some(e => e.ariaLevel === '20001')");
        assertThat(browser.all("#tree .row")).hasSizeLessThan(100);
    }

    // ---- tables

    @Test
    void callTreeOpensClosesAndSorts() throws IOException {
        show(twoGroups().json());
        browser.tab("tree");
        browser.click("#collapse");
        assertThat(names("tree")).containsExactly("main", "worker-");
        assertThat(cells("tree", 0)).containsExactly("75.0 %", "3,000", "0", "1,500", "60", "main");

        browser.click("#tree .row .mark");
        assertThat(names("tree")).containsExactly("main", "com.acme.A.run(A.java:10)", "worker-");
        WebElement tree = browser.find("#tree");
        tree.sendKeys(Keys.ARROW_DOWN, Keys.ARROW_RIGHT);
        assertThat(names("tree"))
                .containsExactly("main", "com.acme.A.run(A.java:10)", "com.acme.A.load(A.java:20)", "worker-");
        tree.sendKeys(Keys.HOME, Keys.ARROW_LEFT);
        assertThat(names("tree")).containsExactly("main", "worker-");
        assertThat(browser.find("#tree .row").getDomAttribute("aria-expanded")).isEqualTo("false");

        browser.click("#tree .head [data-key=name] button");
        browser.click("#tree .head [data-key=name] button");
        assertThat(names("tree")).containsExactly("worker-", "main");
        browser.click("#tree .head [data-key=samples] button");
        assertThat(names("tree")).containsExactly("main", "worker-");
        assertThat(browser.find("#tree .head [data-key=samples]").getDomAttribute("aria-sort"))
                .isEqualTo("descending");
    }

    /** The core's list of measures may grow, and the page shows every measure of a report. */
    @Test
    void aMeasureThatThePageDoesNotKnowHasAColumn() throws IOException {
        show(twoGroups().json().replaceAll("\"samples\":(\\[[^]]*])", "$0,\"waits\":$1"));
        browser.tab("tree");
        browser.click("#collapse");
        assertThat(browser.text("#tree .head [data-key=waits]")).contains("Waits");
        assertThat(cells("tree", 0)).containsExactly("75.0 %", "3,000", "0", "1,500", "60", "60", "main");
    }

    /** Adds a counted tree with frames 0 and 1, as native/src/export/json.c writes it. */
    private static String withCounted(String json) {
        String counted = ",\"counted\":[{\"name\":\"main\",\"threads\":1,\"threadNames\":[\"main\"],\"maxDepth\":2,"
                + "\"polls\":0,\"outcomes\":{},\"hookNanos\":1000000000,\"parent\":[-1,0],\"frame\":[0,1],"
                + "\"wall\":[1000000000,2000000000],\"cpu\":[0,0],\"samples\":[0,0],\"calls\":[5,4000],"
                + "\"rootTimes\":[[0,5,3000000000,1000,2000000000]]}]}";
        return json.stripTrailing().replaceFirst("}$", counted);
    }

    @Test
    void countedCallsAreShownInPlaceOfTheSamples() throws IOException {
        show(twoGroups().json());
        assertThat(browser.find("#data").isDisplayed()).isFalse();
        show(withCounted(twoGroups().json()));
        browser.click("[data-data=counted]");
        assertThat(browser.find("#tab-lines").isDisplayed()).isFalse();
        browser.tab("tree");
        browser.click("#hot-path");
        assertThat(cells("tree", 0)).containsExactly("100.0 %", "3,000", "0", "4,005", "749", "main");
        assertThat(cells("tree", 1))
                .containsExactly("100.0 %", "3,000", "1,000", "5", "600,000", "com.acme.A.run(A.java:10)");
        browser.type("n");
        assertThat(cells("tree", 2)).startsWith("99.9 %", "2,000", "2,000", "4,000", "500");
        browser.tab("graph");
        browser.pointAtGraph(0.5, 1, false);
        assertThat(browser.texts("#tip *")).startsWith("com.acme.A.run(A.java:10)", "4,005 calls = 100.0 %");
    }

    /** Adds the calls of nodes 0 and 1 of the first group; node 1 shares them with another path. */
    private static String withRowCalls(String json) {
        return json.replaceFirst("\"samples\":\\[[^]]*]", "$0,\"rowCalls\":[[0,5,1],[1,4000,2]]");
    }

    @Test
    void sampledRowsShowHowOftenTheirMethodWasCalled() throws IOException {
        show(withRowCalls(withCounted(twoGroups().json())));
        browser.tab("tree");
        browser.click("#hot-path");
        assertThat(browser.text("#tree .head [data-key=counted]")).contains("Calls");
        assertThat(cells("tree", 0)).containsExactly("75.0 %", "3,000", "0", "1,500", "60", "", "main");
        assertThat(cells("tree", 1)).contains("5").endsWith("com.acme.A.run(A.java:10)");
        assertThat(cells("tree", 2)).contains("≤ 4,000").endsWith("com.acme.A.load(A.java:20)");
        browser.tab("graph");
        browser.pointAtGraph(0.05, 3, false);
        assertThat(browser.texts("#tip *")).contains("called 4,000 times over 2 paths");
        show(twoGroups().json());
        browser.tab("tree");
        assertThat(browser.all("#tree .head [data-key=counted]")).isEmpty();
    }

    @Test
    void accountSaysWhatCountingLeftOut() throws IOException {
        show(twoGroups()
                .json()
                .replaceFirst(
                        ",\"frames\":",
                        ",\"counting\":{\"EXCLUDED\":{\"text\":\"excluded by filter\",\"count\":3,"
                                + "\"names\":[\"com.acme.Big.run\"]},\"NEWER\":{\"text\":\"something new\",\"count\":1,"
                                + "\"names\":[]}},\"frames\":"));
        browser.tab("account");
        assertThat(browser.texts("#panel-account td"))
                .containsSequence(
                        "excluded by filter",
                        "3",
                        "com.acme.Big.run",
                        "Counted methods may call them, and instrumentationFilter leaves out their class: add it if "
                                + "its calls matter. The JDK's methods are not listed.",
                        "something new",
                        "1");
    }

    @Test
    void countedCallsHaveCallersClassesAndPackages() throws IOException {
        show(withCounted(twoGroups().json()));
        browser.click("[data-data=counted]");
        browser.tab("callers");
        assertThat(browser.text("#callers-of")).isEqualTo("Callers of com.acme.A.load");
        assertThat(names("callers")).containsExactly("com.acme.A.run");
        browser.tab("methods");
        assertThat(names("methods")).containsExactly("com.acme.A.load", "com.acme.A.run");
        browser.click("[data-level=class]");
        assertThat(names("methods")).containsExactly("com.acme.A");
        browser.click("[data-level=package]");
        assertThat(names("methods")).containsExactly("com.acme");
        browser.click("[data-data=sampled]");
        assertThat(browser.find("#tab-lines").isDisplayed()).isTrue();
        browser.tab("methods");
        assertThat(names("methods")).contains("com.acme.A.load");
    }

    @Test
    void callTreeLeavesOutFramesThatOnlyPassOn() throws IOException {
        ReportJson report = new ReportJson();
        report.group("main", 1)
                .stack(100, 0, 2, "a.A.one:1", "a.A.two:2", "a.A.three:3", "a.A.four:4")
                .stack(50, 0, 1, "a.A.one:1", "a.A.two:2", "a.A.other:5");
        show(report.json());
        browser.tab("tree");
        browser.click("#hot-path");
        assertThat(names("tree"))
                .containsExactly(
                        "main",
                        "a.A.one(A.java:1)",
                        "a.A.three(A.java:3)",
                        "a.A.four(A.java:4)",
                        "a.A.other(A.java:5)");
        browser.click("#compact");
        browser.click("#hot-path");
        assertThat(names("tree"))
                .containsExactly(
                        "main",
                        "a.A.one(A.java:1)",
                        "a.A.two(A.java:2)",
                        "a.A.three(A.java:3)",
                        "a.A.four(A.java:4)",
                        "a.A.other(A.java:5)");
    }

    @Test
    void hotMethodsAndLinesCountRecursionOnce() throws IOException {
        ReportJson report = new ReportJson();
        report.group("main", 1).stack(100, 0, 2, "a.A.walk:1", "a.A.walk:1", "a.A.walk:2", "a.B.leaf:9");
        show(report.json());
        browser.tab("methods");
        assertThat(names("methods")).containsExactly("a.B.leaf", "a.A.walk");
        assertThat(cells("methods", 1)).containsExactly("0.0 %", "100", "0", "0", "a.A.walk");
        browser.tab("lines");
        assertThat(names("lines")).containsExactly("a.B.leaf(B.java:9)", "a.A.walk(A.java:1)", "a.A.walk(A.java:2)");
        assertThat(cells("lines", 1)).containsExactly("0.0 %", "100", "0", "0", "a.A.walk(A.java:1)");
    }

    @Test
    void percentagesAreOfTheChosenGroup() throws IOException {
        show(twoGroups().json());
        assertThat(browser.texts("#groups .group-name")).containsExactly("All threads", "main", "worker-");
        assertThat(browser.texts("#groups .group-time")).containsExactly("4.00 s", "3.00 s", "1.00 s");
        browser.all("#groups .group").get(2).click();
        browser.tab("tree");
        assertThat(cells("tree", 0)).startsWith("100.0 %", "1,000").endsWith("worker-");
        browser.tab("methods");
        assertThat(names("methods")).containsExactly("com.acme.B.waitForWork", "java.lang.Thread.run");
        browser.find("#groups").sendKeys(Keys.HOME);
        assertThat(names("methods"))
                .containsExactly("com.acme.A.load", "com.acme.A.run", "com.acme.B.waitForWork", "java.lang.Thread.run");
    }

    @Test
    void timeOnAProcessorIsShownWhereThereIsAny() throws IOException {
        show(twoGroups().json());
        browser.type("c");
        assertThat(browser.texts("#groups .group-time")).containsExactly("1.50 s", "1.50 s", "0 s");
        browser.tab("tree");
        assertThat(cells("tree", 0)).startsWith("100.0 %", "3,000", "0", "1,500");

        ReportJson report = new ReportJson();
        report.group("main", 1).stack(100, 0, 2, "a.A.run:1");
        show(report.json());
        assertThat(browser.find("#metrics").isDisplayed()).isFalse();
        browser.tab("tree");
        assertThat(browser.texts("#tree .head button")).noneMatch(title -> title.contains("CPU"));
    }

    @Test
    void withTheCpuClockThereIsOneTime() throws IOException {
        show(twoGroups().json().replaceFirst(",\"ownCpuNanos", ",\"clock\":\"CPU\",\"ownCpuNanos"));
        assertThat(browser.find("#metrics").isDisplayed()).isFalse();
        assertThat(browser.find("#interval").getText()).endsWith(", all times are CPU times");
    }

    // ---- the account

    @Test
    void accountSaysInWordsWhatWasNotSeen() throws IOException {
        ReportJson report = twoGroups()
                .outcome("THREAD_ENDED_IN_WALK", 20)
                .outcome("constructor", 0)
                .counter("LATE_TICKS", 2);
        report.group("short-", 9).stack(400, 0, 20, "[thread ended]").stack(600, 600, 0, "a.A.run:1", "[libmSin]");
        report.group("[JVM]", 5).stack(1_000, 1_000, 0, "[GC]");
        show(report.json());
        browser.tab("account");
        assertThat(browser.texts("#panel-account p"))
                .element(0)
                .asString()
                .endsWith("the sampler polled threads 120 times. 83.3 % of the polls found where the thread was.");
        assertThat(browser.texts("#panel-account p"))
                .element(1)
                .asString()
                .startsWith("400.0 ms of 6.00 s of thread time (6.7 %) have no stack.");
        assertThat(browser.texts("#panel-account h3"))
                .containsExactly(
                        "How each poll of a thread ended", "Time without a stack", "Other events", "By thread group");
        assertThat(browser.texts("#panel-account tr"))
                .contains(
                        "failedfailed, thread ended during the walk2016.7 %"
                                + "The thread ended during the walk. Frame: [thread ended].",
                        "constructor00.0 %",
                        "late ticks2Ticks that began more than half an interval late."
                                + " They are credited with their real length.");
    }

    @Test
    void accountSaysThatNoFrameOfTheMonitoredPackagesWasSeen() throws IOException {
        show(twoGroups().missedPackages("com.foo, com.bar").json());
        browser.tab("account");
        assertThat(browser.texts("#panel-account p"))
                .element(0)
                .asString()
                .isEqualTo(
                        "No frame of the monitored packages was seen: com.foo, com.bar. Each stack is its root frame alone.");
        show(twoGroups().json());
        browser.tab("account");
        assertThat(browser.texts("#panel-account p")).noneMatch(text -> text.contains("monitored packages"));
    }

    // ---- the summary

    @Test
    void theSummaryStandsAboveTheViews() throws IOException {
        show(twoGroups().json());
        assertThat(browser.all("#summary:not([hidden])")).isEmpty();
        show(twoGroups()
                .json()
                .replaceFirst(
                        ",\"frames\":",
                        ",\"summary\":{\"lines\":[\"1.0 s, 2 threads in 2 groups.\","
                                + "\" 1. 0.9 s running   <b>A</b>.run(A.java:1)  main\"]},\"frames\":"));
        assertThat(browser.texts("#summary > *"))
                .containsExactly("1.0 s, 2 threads in 2 groups.", " 1. 0.9 s running   <b>A</b>.run(A.java:1)  main");
        assertThat((Object) browser.run("return document.getElementById('summary').getBoundingClientRect().bottom"
                        + " <= document.getElementById('panels').getBoundingClientRect().top"))
                .isEqualTo(true);
    }

    @Test
    void aLineOfTheSummaryFocusesTheGraph() throws IOException {
        String json = twoGroups()
                .json()
                .replaceFirst(
                        ",\"frames\":",
                        ",\"summary\":{\"lines\":[\"title\",\" 1. 2.0 s running   A.load(A.java:20)  main\"],"
                                + "\"hotSpots\":[{\"class\":\"com.acme.A\",\"method\":\"load\",\"file\":\"A.java\","
                                + "\"line\":20,\"group\":\"main\"}]},\"frames\":");
        show(json);
        browser.click("#summary button");
        assertThat(browser.text("#path")).isEqualTo("A.load: 50.0 % of all");
        assertThat(browser.text("#detail b")).isEqualTo("com.acme.A.load(A.java:20)");
        show(json);
        browser.tab("methods");
        browser.run("document.querySelector('#summary button').focus()");
        browser.type(Keys.ENTER);
        assertThat(browser.text("#path")).isEqualTo("A.load: 50.0 % of all");
        assertThat(browser.focused()).isEqualTo("scroller");
    }

    // ---- states

    /** Adds states: half of main is idle, and all of worker-. */
    private static String withStates() {
        return twoGroups()
                .json()
                .replaceFirst(",\"samples\":\\[", ",\"running\":[1000000000,500000000],\"idle\":[0,1500000000]$0")
                .replaceFirst(",\"samples\":\\[0,20", ",\"idle\":[0,1000000000]$0");
    }

    @Test
    void activeTimeIsShownUntilIdleTimeIsWanted() throws IOException {
        show(withStates());
        assertThat(browser.texts("#groups .group-time")).containsExactly("1.50 s", "1.50 s", "0 s");
        assertThat(browser.texts("#legend li")).containsExactly("running");
        browser.pointAtGraph(0.9, 2, false);
        assertThat(browser.texts("#tip *")).startsWith("com.acme.A.run(A.java:10)", "1.50 s = 100.0 %");
        assertThat(browser.graphColour(0.999, 1)).isNotEqualTo(browser.graphColour(0.5, 1));
        browser.tab("tree");
        browser.click("#collapse");
        assertThat(names("tree")).containsExactly("main");
        browser.tab("graph");
        browser.click("#metric-wall");
        assertThat(browser.text("#metric-wall")).isEqualTo("Show idle");
        assertThat(browser.texts("#groups .group-time")).containsExactly("4.00 s", "3.00 s", "1.00 s");
        assertThat(browser.texts("#legend li")).containsExactly("running", "idle");
        List<Number> byState = browser.graphColour(0.02, 2);
        browser.type("p");
        assertThat(browser.graphColour(0.02, 2)).isNotEqualTo(byState);
        browser.type("a");
        assertThat(browser.texts("#groups .group-time")).startsWith("1.50 s");
    }

    @Test
    void theAddressHasTheViewAndTheFilter() throws IOException {
        show(withStates());
        browser.type("p");
        browser.tab("methods");
        String address = browser.run("return location.hash");
        assertThat(address).isEqualTo("#colours=package&view=methods");
        browser.run("history.back()");
        browser.until("return document.getElementById('tab-graph').ariaSelected === 'true'");
        browser.run("history.forward()");
        browser.until("return document.getElementById('tab-methods').ariaSelected === 'true'");
        browser.click("#filter-open");
        browser.find("#filter-hide").sendKeys("load", Keys.ENTER);
        assertThat(names("methods")).containsExactly("com.acme.A.run");
        assertThat((String) browser.run("return location.hash")).endsWith("&hide=load");
        browser.click("#filter-clear");
        browser.find("#filter-keep").sendKeys("\\.load\\(.*:20\\)$", Keys.ENTER);
        assertThat(cells("methods", 0)).endsWith("com.acme.A.load");
        assertThat(names("methods")).doesNotContain("com.acme.B.waitForWork");
        assertThat((String) browser.run("return location.hash")).endsWith("keep=%5C.load%5C%28.*%3A20%5C%29%24");
        browser.click("#filter-clear");
        browser.find("#filter-focus").sendKeys("^com\\.acme\\.A\\.[lx]o", Keys.ENTER);
        browser.tab("tree");
        assertThat(names("tree")).containsExactly("main", "com.acme.A.load(A.java:20)");
        browser.tab("methods");
        browser.click("#filter-clear");
        browser.find("#filter-hide").sendKeys("(", Keys.ENTER);
        assertThat(browser.text("#filter-error")).isEqualTo("This is not a regular expression.");
    }

    @Test
    void callersAndCalleesOfTheMarkedFrame() throws IOException {
        show(withStates());
        browser.pointAtGraph(0.3, 2, true);
        browser.type("s");
        assertThat(browser.text("#callers-of")).isEqualTo("Callers of com.acme.A.run");
        assertThat(names("callers")).containsExactly("main");
        assertThat(names("callees")).containsExactly("com.acme.A.load");
    }

    @Test
    void aNarrowWindowShowsTheNameWithItsLineAndOneNumber() throws IOException {
        browser.size(390, 844, 1);
        show(withStates());
        browser.tab("lines");
        assertThat((Object) browser.run("return [...document.querySelectorAll('#lines-row-0 > div')]"
                        + ".filter(e => e.offsetWidth > 0).map(e => e.className.split(' ')[0]).join()"))
                .isEqualTo("name,number");
        assertThat((Object) browser.run("const e = document.querySelector('#lines-row-0 .place'),"
                        + " cell = e.closest('.name'), end = e.lastChild.getBoundingClientRect().right;"
                        + " return e.textContent + (end > 0 && end <= cell.getBoundingClientRect().right + 1)"))
                .isEqualTo("(A.java:10)true");
        assertThat(width("document.documentElement.scrollWidth")).isLessThanOrEqualTo(390);
    }

    // ---- the locks

    @Test
    void locksHaveTheirWaitingAndTheirHoldingLines() throws IOException {
        show(twoGroups().json());
        assertThat(browser.all("#tab-locks:not([hidden])")).isEmpty();
        show(twoGroups()
                .json()
                .replaceFirst(
                        ",\"frames\":",
                        ",\"locks\":["
                                + "{\"lock\":\"com.acme.Cart\",\"waiting\":\"a.B.add(B.java:4)\","
                                + "\"holding\":\"a.B.audit(B.java:9)\",\"wall\":3000000000},"
                                + "{\"lock\":\"com.acme.<b>Stock\",\"waiting\":\"a.B.take(B.java:5)\","
                                + "\"holding\":\"[owner not read]\",\"wall\":900000000},"
                                + "{\"lock\":\"com.acme.Cart\",\"waiting\":\"a.B.take(B.java:6)\","
                                + "\"holding\":\"a.B.audit(B.java:9)\",\"wall\":100000000}],\"frames\":"));
        browser.tab("locks");
        assertThat(browser.texts("#panel-locks h3"))
                .containsExactly("com.acme.Cart: 3.10 s, 77.5 %", "com.acme.<b>Stock: 900.0 ms, 22.5 %");
        assertThat(browser.texts("#panel-locks th")).startsWith("Waiting line", "Holding line", "Blocked", "Share");
        assertThat(browser.texts("#panel-locks td"))
                .containsExactly(
                        "a.B.add(B.java:4)",
                        "a.B.audit(B.java:9)",
                        "3.00 s",
                        "75.0 %",
                        "a.B.take(B.java:6)",
                        "a.B.audit(B.java:9)",
                        "100.0 ms",
                        "2.5 %",
                        "a.B.take(B.java:5)",
                        "[owner not read]",
                        "900.0 ms",
                        "22.5 %");
    }

    // ---- two reports

    @Test
    void differenceShowsWhatGotSlowerFirst() throws IOException {
        ReportJson before = new ReportJson().elapsedMillis(450_000);
        before.group("main", 1)
                .stack(500, 500, 10, "a.A.run:1", "a.A.slow:2")
                .stack(1_500, 0, 30, "a.A.run:1", "a.A.quick:3")
                .stack(500, 0, 10, "a.A.run:1", "a.A.same:4");
        ReportJson after = new ReportJson().elapsedMillis(900_000);
        after.group("main", 1)
                .stack(3_000, 3_000, 60, "a.A.run:1", "a.A.slow:7")
                .stack(1_000, 0, 20, "a.A.run:1", "a.A.quick:3")
                .stack(1_000, 0, 20, "a.A.run:1", "a.A.same:4")
                .stack(200, 0, 4, "a.A.run:1", "a.A.fresh:9");
        show(DifferenceJson.of(before, after));

        assertThat(browser.text("#interval")).contains("scaled × 2.00 to the length of after");
        browser.tab("methods");
        assertThat(names("methods")).containsExactly("a.A.slow", "a.A.fresh", "a.A.run", "a.A.same", "a.A.quick");
        assertThat(cells("methods", 0)).containsExactly("+2,000", "+2,000", "+200.0 %", "1,000", "3,000", "a.A.slow");
        assertThat(cells("methods", 1)).contains("new");
        assertThat(cells("methods", 4)).startsWith("-2,000", "-2,000", "-66.7 %");
        browser.tab("tree");
        assertThat(names("tree")).startsWith("main", "a.A.run", "a.A.slow", "a.A.fresh");

        browser.tab("graph");
        // From left to right, the total of both: slow 4.0 s, quick 4.0 s, same 2.0 s.
        List<Number> slow = browser.graphColour(0.1, 2);
        List<Number> quick = browser.graphColour(0.5, 2);
        List<Number> same = browser.graphColour(0.85, 2);
        assertThat(slow.get(0).intValue()).isGreaterThan(slow.get(2).intValue() + 60);
        assertThat(quick.get(2).intValue()).isGreaterThan(quick.get(0).intValue() + 60);
        assertThat(Math.abs(same.get(0).intValue() - same.get(2).intValue())).isLessThan(30);
        browser.pointAtGraph(0.1, 2, false);
        assertThat(browser.texts("#tip *"))
                .containsExactly("a.A.slow", "before 1.00 s, after 3.00 s", "+2.00 s (+200.0 %)");
    }

    /** A file that the library wrote: src-test-c/export/test_difference.c compares it. */
    @Test
    void differenceOfTheLibraryIsShown() throws IOException {
        show(Files.readString(Path.of("src-test-c", "golden", "difference.json")));
        assertThat(browser.text("#interval")).contains("scaled × 2.00 to the length of after");
        assertThat(browser.texts("#groups .group-name")).containsExactly("All threads", "main", "pool-");
        assertThat(browser.texts("#groups .group-time")).containsExactly("±0", "+200.0 ms", "-200.0 ms");
        browser.tab("methods");
        assertThat(names("methods"))
                .containsExactly("a.A.slow", "a.A.fresh", "a.A.run", "a.A.same", "[thread ended]", "a.A.quick");
        assertThat(cells("methods", 0)).containsExactly("+2,000", "+2,000", "+200.0 %", "1,000", "3,000", "a.A.slow");
        browser.tab("tree");
        assertThat(names("tree")).startsWith("main", "a.A.run", "a.A.slow", "a.A.fresh");
        browser.tab("account");
        assertThat(browser.texts("#panel-account p")).element(1).asString().startsWith("200.0 ms of 5.20 s");
    }

    // ---- appearance and keys

    @Test
    void darkIsTheSystemsOrTheUsersChoice() throws IOException {
        show(twoGroups().json());
        assertThat(background()).isEqualTo("rgb(244, 245, 248)");
        List<Number> light = browser.graphColour(0.5, 0);
        browser.systemColours("dark");
        browser.until("return getComputedStyle(document.body).backgroundColor === 'rgb(15, 18, 22)'");
        // The style changes at once; an event redraws the graph, perhaps later.
        Awaitility.await()
                .untilAsserted(() -> assertThat(browser.graphColour(0.5, 0)).isNotEqualTo(light));
        browser.click("#theme");
        assertThat(browser.text("#theme")).isEqualTo("Theme: light");
        assertThat(background()).isEqualTo("rgb(244, 245, 248)");
        assertThat(browser.graphColour(0.5, 0)).isEqualTo(light);
        browser.click("#theme");
        assertThat(background()).isEqualTo("rgb(15, 18, 22)");
        browser.click("#theme");
        assertThat(browser.text("#theme")).isEqualTo("Theme: auto");
    }

    private static String background() {
        return browser.run("return getComputedStyle(document.body).backgroundColor");
    }

    @Test
    void everythingIsReachedByKeys() throws IOException {
        show(twoGroups().json());
        StringBuilder order = new StringBuilder();
        for (int i = 0; i < 13; i++) {
            browser.type(Keys.TAB);
            String outline = browser.run("const e = document.activeElement; return getComputedStyle(e).outlineStyle");
            assertThat(outline).as("focus ring of " + browser.focused()).isEqualTo("solid");
            order.append(browser.focused()).append(' ');
        }
        assertThat(order.toString())
                .startsWith("skip BUTTON help-open theme groups tab-graph metric-wall BUTTON filter-open "
                        + "search BUTTON BUTTON scroller");

        browser.run("document.activeElement.blur()");
        browser.type("/");
        assertThat(browser.focused()).isEqualTo("search");
        browser.type(Keys.ESCAPE);
        browser.run("document.querySelector('#flame .scroller').focus()");
        browser.type(Keys.ARROW_DOWN, Keys.ARROW_DOWN);
        assertThat(browser.text("#detail b")).isEqualTo("com.acme.A.run(A.java:10)");
        browser.type(Keys.ENTER);
        assertThat(browser.text("#path")).isEqualTo("A.run: 75.0 % of all");
        browser.type(Keys.BACK_SPACE);
        assertThat(browser.text("#path")).isEmpty();
        browser.type(Keys.ENTER, Keys.ESCAPE);
        assertThat(browser.text("#path")).isEmpty();

        browser.type("3");
        assertThat(browser.find("#panel-methods").isDisplayed()).isTrue();
        browser.type("?");
        assertThat(browser.find("#help").isDisplayed()).isTrue();
        browser.type(Keys.ESCAPE);
        assertThat(browser.find("#help").isDisplayed()).isFalse();
    }

    @Test
    void singleKeysCanBeSwitchedOff() throws IOException {
        show(twoGroups().json());
        browser.type("?");
        browser.click("#shortcuts");
        browser.type(Keys.ESCAPE, "3", "/", "f");
        assertThat(browser.find("#panel-graph").isDisplayed()).isTrue();
        assertThat(browser.find("#filters").isDisplayed()).isFalse();
        show(twoGroups().json());
        browser.type("3");
        assertThat(browser.find("#panel-graph").isDisplayed()).isTrue();
        browser.click("#help-open");
        browser.click("#shortcuts");
        browser.type(Keys.ESCAPE, "3");
        assertThat(browser.find("#panel-methods").isDisplayed()).isTrue();
    }

    @Test
    void timesAreThoseOfTheJvmWithTheirZone() throws IOException {
        String zone = ",\"zone\":\"NPT\",\"zoneOffsetSeconds\":20700,\"seconds\":{\"from\":1789999100,\"width\":1,"
                + "\"count\":1,\"groups\":[{\"name\":\"main\",\"running\":[900]}]}";
        show(twoGroups().json().replaceFirst(",\"elapsedNanos", zone + "$0"));
        assertThat(browser.text("#interval b")).isEqualTo("2026-09-21 19:43:20 – 19:58:20 NPT (15 min 0 s)");
        browser.find(".seconds").sendKeys(Keys.HOME);
        assertThat(browser.texts(".seconds-text > span")).containsExactly("19:43:20 NPT:", "running 900.0 ms");
        browser.tab("account");
        assertThat(browser.text("#panel-account p")).startsWith("From 2026-09-21 19:43:20 – 19:58:20 NPT (");
    }

    // ---- names are data

    @Test
    void hostileNamesAreShownAndNeverRun() throws IOException {
        String script = "</script><script>window.broken = 1; alert(1)</script>";
        String image = "<img src=x onerror=\"window.broken = 1\">";
        String quotes = "'\"&amp;<!--\\ \u2028;`${1}";
        String emoji = "r\u00e9sum\u00e9\ud83d\ude80\u4e16\u754c";
        String huge = "x".repeat(65_536);
        ReportJson report = new ReportJson();
        ReportJson.Group group = report.group(script, 1);
        int node = group.child(-1, report.frame(script, image, quotes, 1));
        node = group.child(node, report.frame(emoji, "run", emoji, 2));
        node = group.child(node, report.frame("", "", "", 3));
        node = group.child(node, report.frame(huge, huge, huge, 4));
        node = group.child(node, report.frame("a.\u202egpj", "b\nc\u0000", "__proto__", 5));
        group.add(node, 1_000, 0, 20);
        report.group("", 1).stack(1, 0, 1, "[" + image + "]");
        report.group("constructor", 1).stack(1, 0, 1, "__proto__.toString:1");
        report.outcome(image, 1).counter(script, 1);
        show(report.json());

        assertThat(browser.texts("#groups .group-name"))
                .containsExactlyInAnyOrder("All threads", script, "(empty name)", "constructor");
        browser.find("#groups").sendKeys(Keys.ARROW_DOWN);
        browser.pointAtGraph(0.5, 1, false);
        assertThat(browser.text("#tip b"))
                .isEqualTo(script + "." + image + "(" + quotes.replace("\u2028", "\\u2028") + ":1)");
        browser.tab("tree");
        browser.click("#compact");
        browser.click("#hot-path");
        assertThat(names("tree")).hasSize(6);
        assertThat(names("tree").get(2)).isEqualTo(emoji + ".run(" + emoji + ":2)");
        assertThat(names("tree").get(3)).isEqualTo(".(:3)");
        assertThat(names("tree").get(4)).startsWith("xxxx").endsWith("x… (196,613 characters)");
        assertThat(names("tree").get(5)).isEqualTo("a.\\u202egpj.b\\u000ac\\u0000(__proto__:5)");
        for (String tab : List.of("methods", "lines", "account", "graph")) {
            browser.tab(tab);
        }
        browser.search(image);
        assertThat(browser.<Object>run("return window.broken")).isNull();
        assertThat(browser.all("img")).isEmpty();
        assertThat(browser.all("script")).hasSize(2);
    }

    @Test
    void thePolicyStopsWhatTheCodeWouldNot() throws IOException {
        expectsComplaints = true;
        show(twoGroups().json());
        String fetched = browser.runAsync("const done = arguments[0];"
                + "fetch('https://example.org/').then(() => done('fetched'), e => done('refused'))");
        assertThat(fetched).isEqualTo("refused");
        browser.run("const s = document.createElement('script'); s.textContent = 'window.broken = 1';"
                + "document.body.append(s); const i = new Image(); i.src = 'https://example.org/a.png';"
                + "document.body.append(i);"
                + "document.body.insertAdjacentHTML('beforeend', '<b onclick=\"window.broken=2\">');"
                + "document.body.lastChild.click()");
        assertThat(browser.<Object>run("return window.broken")).isNull();
        assertThat(browser.complaints()).anyMatch(text -> text.contains("Content Security Policy"));
    }

    @Test
    void aFileThatIsNoReportIsRefused() throws IOException {
        browser.openBroken(fileOf("{\"format\":\"other/9\"}"));
        assertThat(browser.text("#fatal"))
                .isEqualTo("The report cannot be shown: "
                        + "This is not a report that this page can read (format: other/9).");
        browser.openBroken(fileOf("{\"format\":"));
        assertThat(browser.text("#fatal")).startsWith("The report cannot be shown: ");
    }

    @Test
    void anEmptyReportIsShown() throws IOException {
        show(new ReportJson().json());
        for (String tab : List.of("tree", "methods", "lines", "account", "graph")) {
            browser.tab(tab);
        }
        assertThat(browser.texts("#groups .group-name")).containsExactly("All threads");
        assertThat(browser.find("#tree .empty").getDomProperty("hidden")).isEqualTo("false");
    }

    // ---- live

    @Test
    void livePageRefreshesWithoutLosingTheView() throws IOException {
        expectsComplaints = true; // the messages are checked here
        AtomicReference<String> report = new AtomicReference<>(twoGroups().json());
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", exchange -> {
            boolean page = exchange.getRequestURI().getPath().equals("/");
            byte[] body = page ? livePage(report.get()) : report.get().getBytes(StandardCharsets.UTF_8);
            exchange.getResponseHeaders().set("Content-Type", page ? "text/html; charset=utf-8" : "application/json");
            exchange.sendResponseHeaders(200, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
        server.start();
        try {
            String address = "http://127.0.0.1:" + server.getAddress().getPort() + "/";
            browser.open(address);
            browser.find("#groups").sendKeys(Keys.ARROW_DOWN);
            browser.pointAtGraph(0.5, 1, true);
            browser.search("load");
            browser.tab("tree");
            assertThat(names("tree")).contains("com.acme.A.load(A.java:20)");

            ReportJson next = twoGroups();
            next.group("newcomer", 1).stack(90_000, 0, 20, "a.A.run:1");
            next.group("main ", 1).stack(1, 0, 1, "a.A.run:1");
            report.set(next.json());
            browser.until("return [...document.querySelectorAll('#groups .group-name')]"
                    + ".some(e => e.textContent === 'newcomer')");

            assertThat(browser.find("#panel-tree").isDisplayed()).isTrue();
            assertThat(browser.text("#groups [aria-selected=true] .group-name")).isEqualTo("main");
            assertThat(names("tree")).contains("com.acme.A.load(A.java:20)");
            assertThat(browser.find("#search").getDomProperty("value")).isEqualTo("load");
            assertThat(browser.text("#found")).startsWith("66.7 %");
            browser.tab("graph");
            assertThat(browser.text("#path")).startsWith("A.run: ");
            assertThat(browser.text("#live-text")).startsWith("Live, ");
            browser.click("#live-pause");
            assertThat(browser.text("#live-text")).isEqualTo("Paused");
            assertThat(browser.complaints()).isEmpty();
            assertThat(browser.requests())
                    .allMatch(url -> url.equals(address) || url.equals(address + "report.json?window=5m"));
        } finally {
            server.stop(0);
        }
    }

    private static byte[] livePage(String json) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        HtmlPage.writeLive(out, data -> data.write(json.getBytes(StandardCharsets.UTF_8)));
        return out.toByteArray();
    }

    // ---- size, and pictures

    @Test
    void aHundredThousandNodesAreDrawn() throws IOException {
        browser.open(fileOf(SampleReports.large(LARGE, 8).json()));
        browser.search("Service1");
        assertThat(browser.text("#found")).contains(" in ");
        browser.search("");
        picture("large");
        assertThat(browser.complaints()).isEmpty();
    }

    @Test
    @Measures
    void aHundredThousandNodesAreDrawnSoon() throws IOException {
        browser.open(fileOf(SampleReports.large(LARGE, 8).json()));
        Number moment = browser.run("return performance.getEntriesByName('threads-sampler-painted')[0].startTime");
        long painted = moment.longValue();
        browser.search("Service1");
        double search = Double.parseDouble(browser.run("return document.getElementById('found').dataset.millis"));
        long turned = time("document.querySelector('[data-direction=flame]').click()");
        long tree = time("document.querySelector('#tab-tree').click()");
        long methods = time("document.querySelector('#tab-methods').click()");
        System.out.printf(
                "page of %,d nodes: painted after %d ms; search %.0f, graph %d, " + "call tree %d, methods %d ms%n",
                LARGE, painted, search, turned, tree, methods);
        assertThat(painted).isLessThan(3_000);
        assertThat(search).isLessThan(200);
        browser.tab("graph");
        browser.click("[data-direction=icicle]");
        browser.search("");
    }

    private static long time(String script) {
        Number millis =
                browser.run("const t = performance.now();" + script + "; return Math.round(performance.now() - t)");
        return millis.longValue();
    }

    @Test
    void aDifferenceFitsIntoASmallDarkWindow() throws IOException {
        browser.systemColours("dark");
        browser.size(800, 700, 1);
        show(DifferenceJson.of(SampleReports.shop(1, 1), SampleReports.shop(1.8, 0.45)));
        for (String tab : List.of("methods", "tree", "graph")) {
            browser.tab(tab);
            assertThat(width("window.innerWidth")).isEqualTo(800);
            assertThat(width("document.documentElement.scrollWidth")).as(tab).isLessThanOrEqualTo(800);
        }
    }

    private static int width(String expression) {
        Number pixels = browser.run("return " + expression);
        return pixels.intValue();
    }

    private static void picture(String name) throws IOException {
        browser.run("return new Promise(done => requestAnimationFrame(() => setTimeout(done)))");
        browser.picture(PICTURES.resolve(name + ".png"));
    }

    // ---- data

    private static ReportJson twoGroups() {
        return SampleReports.twoGroups();
    }

    private void show(String json) throws IOException {
        browser.show(folder, json);
    }

    private String fileOf(String json) throws IOException {
        return Browser.fileOf(folder, json);
    }

    private static List<String> names(String grid) {
        return browser.texts("#" + grid + " .row .name .text");
    }

    /** The numbers of a row, then its name, although the name is the first column. */
    private static List<String> cells(String grid, int row) {
        List<String> cells = new ArrayList<>(browser.texts("#" + grid + "-row-" + row + " > div"));
        Collections.rotate(cells, -1);
        return cells;
    }
}

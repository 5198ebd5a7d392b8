// SPDX-License-Identifier: Apache-2.0
package com.example.kiosk;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.springframework.boot.SpringApplication;
import org.springframework.context.ConfigurableApplicationContext;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The Grafana dashboard in examples/grafana uses exactly the metrics that Prometheus reads from the kiosk. */
class DashboardTest {

    private static final Path DASHBOARD = Path.of("..", "grafana", "threads-sampler.json");
    private static final Path GLOSSARY = Path.of("..", "..", "java", "REFERENCE.md");

    private static final long HANG_NANOS = TimeUnit.MINUTES.toNanos(2);
    private static final int COLUMNS = 24;

    private static final Set<String> FUNCTIONS = Set.of("avg", "clamp_min", "max", "or", "rate", "sum", "topk");
    private static final Set<String> LABELS_OF_PROMETHEUS = Set.of("job", "instance");
    /* Metrics of a scrape with the values of the last interval. */
    private static final Set<String> STATES = Set.of("running", "runnable", "blocked", "io", "waiting", "idle");

    private static final Pattern SELECTOR = Pattern.compile("(\\w+)\\{([^}]*)}");
    private static final Pattern MATCHER = Pattern.compile("(\\w+)(?:=~|!~|!=|=)\"([^\"]*)\"");
    private static final Pattern GROUPING = Pattern.compile("\\b(?:by|ignoring) ?\\(([^)]*)\\)");
    private static final Pattern LABEL_VALUES = Pattern.compile("^label_values\\((\\w+)(\\{[^}]*})?, (\\w+)\\)$");
    private static final Pattern LEGEND = Pattern.compile("\\{\\{(\\w+)}}");

    private static JsonNode dashboard;

    /* The values of each metric and label. */
    private static final Map<String, Map<String, Set<String>>> SCRAPE = new TreeMap<>();

    @BeforeAll
    static void readBoth() throws IOException, InterruptedException {
        dashboard = JsonMapper.builder().build().readTree(Files.readString(DASHBOARD));
        try (ConfigurableApplicationContext kiosk = SpringApplication.run(Kiosk.class, "--server.port=0")) {
            String address = "http://127.0.0.1:" + kiosk.getEnvironment().getProperty("local.server.port");
            long start = System.nanoTime();
            /* A state appears once a group was in it. */
            do {
                assertThat(get(address + "/ticket")).startsWith("show 1, seat ");
                read(get(address + "/actuator/prometheus"));
            } while (!SCRAPE.getOrDefault("threadsampler_group_threads", Map.of())
                            .getOrDefault("state", Set.of())
                            .contains("running")
                    && System.nanoTime() - start < HANG_NANOS);
        }
    }

    private static String get(String url) throws IOException, InterruptedException {
        return HttpClient.newHttpClient()
                .send(HttpRequest.newBuilder(URI.create(url)).build(), HttpResponse.BodyHandlers.ofString())
                .body();
    }

    private static void read(String scrape) {
        Pattern labels = Pattern.compile("(\\w+)=\"([^\"]*)\"");
        for (String line : scrape.lines().filter(each -> !each.startsWith("#")).toList()) {
            String[] parts = line.split("[{ ]", 2);
            Map<String, Set<String>> values = SCRAPE.computeIfAbsent(parts[0], name -> new TreeMap<>());
            labels.matcher(parts[1])
                    .results()
                    .forEach(found -> values.computeIfAbsent(found.group(1), label -> new TreeSet<>())
                            .add(found.group(2)));
        }
    }

    // ---- the document ----

    /* All panels, including those within collapsed rows. */
    private static List<JsonNode> panels() {
        List<JsonNode> all = new ArrayList<>();
        for (JsonNode panel : dashboard.get("panels")) {
            all.add(panel);
            panel.path("panels").forEach(all::add);
        }
        return all;
    }

    private static String text(JsonNode node, String field) {
        return node.path(field).asString("");
    }

    private static List<JsonNode> charts() {
        return panels().stream()
                .filter(panel -> !text(panel, "type").equals("row"))
                .toList();
    }

    @Test
    void itCanBeImported() {
        assertThat(text(dashboard.get("__inputs").get(0), "pluginId")).isEqualTo("prometheus");
        assertThat(text(dashboard, "uid")).hasSizeBetween(1, 40);
        assertThat(dashboard.get("id").isNull()).isTrue();
        assertThat(dashboard.get("schemaVersion").asInt()).isPositive();
        Set<String> required = new HashSet<>();
        dashboard.get("__requires").forEach(each -> required.add(text(each, "id")));
        assertThat(charts()).extracting(panel -> text(panel, "type")).allMatch(required::contains);
        assertThat(panels()).extracting(panel -> panel.get("id").asInt()).doesNotHaveDuplicates();
    }

    @Test
    void eachPanelHasATitleAUnitAndASentence() {
        assertThat(charts()).hasSizeGreaterThan(10).allSatisfy(panel -> {
            assertThat(text(panel, "title")).isNotEmpty();
            assertThat(text(panel.get("fieldConfig").get("defaults"), "unit")).isNotEmpty();
            assertThat(text(panel, "description")).matches("[A-Z][^.]+\\.");
            assertThat(text(panel.get("datasource"), "uid")).isEqualTo("${datasource}");
        });
        assertThat(charts()).extracting(panel -> text(panel, "title")).doesNotHaveDuplicates();
    }

    @Test
    void noPanelCoversAnother() {
        Set<List<Integer>> taken = new HashSet<>();
        for (JsonNode panel : panels()) {
            JsonNode at = panel.get("gridPos");
            int right = at.get("x").asInt() + at.get("w").asInt();
            assertThat(right).as(text(panel, "title")).isLessThanOrEqualTo(COLUMNS);
            for (int x = at.get("x").asInt(); x < right; x++) {
                for (int y = 0; y < at.get("h").asInt(); y++) {
                    assertThat(taken.add(List.of(x, at.get("y").asInt() + y)))
                            .as(text(panel, "title"))
                            .isTrue();
                }
            }
        }
    }

    // ---- its queries ----

    private static List<String> queries() {
        List<String> all = new ArrayList<>();
        for (JsonNode panel : charts()) {
            assertThat(panel.get("targets")).as(text(panel, "title")).isNotEmpty();
            panel.get("targets").forEach(target -> all.add(text(target, "expr")));
        }
        for (JsonNode variable : dashboard.get("templating").get("list")) {
            if (text(variable, "type").equals("query")) {
                String query = text(variable.get("query"), "query");
                assertThat(text(variable, "definition")).isEqualTo(query);
                all.add(query);
            }
        }
        return all;
    }

    private static Stream<MatchResult> find(Pattern pattern, String text) {
        return pattern.matcher(text).results();
    }

    /* Each query with its braces; some queries of variables have none. */
    private static Set<String> metrics(String query) {
        Set<String> found = find(SELECTOR, query).map(match -> match.group(1)).collect(Collectors.toSet());
        find(LABEL_VALUES, query).forEach(match -> found.add(match.group(1)));
        return found;
    }

    private static void assertLabel(String metric, String label) {
        if (!LABELS_OF_PROMETHEUS.contains(label)) {
            assertThat(SCRAPE.get(metric)).as(metric).containsKey(label);
        }
    }

    private static void assertValue(String metric, String label, String value) {
        if (value.startsWith("$")) {
            assertThat(value).isIn("$application", "$instance", "$group");
        } else if (metric.equals("threadsampler_group_threads") && label.equals("state")) {
            assertThat(STATES).contains(value);
        } else {
            assertThat(SCRAPE.get(metric).get(label)).as(metric + " " + label).contains(value);
        }
    }

    @Test
    void eachMetricLabelAndValueIsInAScrape() {
        for (String query : queries()) {
            Set<String> metrics = metrics(query);
            assertThat(metrics).as(query).isNotEmpty();
            assertThat(SCRAPE).as(query).containsKeys(metrics.toArray(String[]::new));
            find(SELECTOR, query)
                    .forEach(selector -> find(MATCHER, selector.group(2)).forEach(matcher -> {
                        assertLabel(selector.group(1), matcher.group(1));
                        Stream.of(matcher.group(2).split("\\|"))
                                .forEach(value -> assertValue(selector.group(1), matcher.group(1), value));
                    }));
            Stream.concat(
                            find(GROUPING, query)
                                    .flatMap(match -> Stream.of(match.group(1).split(", "))),
                            find(LABEL_VALUES, query).map(match -> match.group(3)))
                    .forEach(label -> metrics.forEach(metric -> assertLabel(metric, label)));
        }
    }

    /** Makes sure that no metric bypasses the previous test. */
    @Test
    void everyOtherWordIsAFunction() {
        for (String query : queries()) {
            String rest = LABEL_VALUES.matcher(query).replaceFirst("");
            for (Pattern known : List.of(SELECTOR, GROUPING, Pattern.compile("\\[\\$__rate_interval]"))) {
                rest = known.matcher(rest).replaceAll(" ");
            }
            assertThat(find(Pattern.compile("[A-Za-z_]\\w*"), rest.replaceAll("\\b1e9\\b", ""))
                            .map(MatchResult::group))
                    .as(query)
                    .allMatch(FUNCTIONS::contains);
        }
    }

    @Test
    void legendsNameLabelsThatTheQueryKeeps() {
        for (JsonNode panel : charts()) {
            for (JsonNode target : panel.get("targets")) {
                Set<String> kept = find(GROUPING, text(target, "expr"))
                        .flatMap(match -> Stream.of(match.group(1).split(", ")))
                        .collect(Collectors.toSet());
                assertThat(find(LEGEND, text(target, "legendFormat")).map(match -> match.group(1)))
                        .as(text(panel, "title"))
                        .allMatch(kept::contains);
            }
        }
    }

    @Test
    void eachMeterOfTheSamplerIsShown() {
        Set<String> shown =
                queries().stream().flatMap(query -> metrics(query).stream()).collect(Collectors.toSet());
        assertThat(SCRAPE.keySet().stream().filter(metric -> metric.startsWith("threadsampler_")))
                .hasSizeGreaterThanOrEqualTo(7)
                .allMatch(shown::contains);
    }

    private static Set<String> outcomes(String panelTitle) {
        JsonNode panel = charts().stream()
                .filter(each -> text(each, "title").equals(panelTitle))
                .findFirst()
                .orElseThrow();
        return find(MATCHER, text(panel.get("targets").get(0), "expr"))
                .filter(match -> match.group(1).equals("outcome"))
                .flatMap(match -> Stream.of(match.group(2).split("\\|")))
                .collect(Collectors.toSet());
    }

    private static Set<String> codes(String kind) throws IOException {
        return find(Pattern.compile("(?m)^\\| `" + kind + ", [^`]+` \\| `(\\w+)` \\|"), Files.readString(GLOSSARY))
                .map(match -> match.group(1))
                .collect(Collectors.toSet());
    }

    /** If the core gets a further code, this test fails until the dashboard has it. */
    @Test
    void lossesAreThoseOfTheGlossary() throws IOException {
        assertThat(outcomes("Skipped polls")).isNotEmpty().isEqualTo(codes("skipped"));
        assertThat(outcomes("Failed polls")).isNotEmpty().isEqualTo(codes("failed"));
        Set<String> both = new HashSet<>(codes("skipped"));
        both.addAll(codes("failed"));
        assertThat(outcomes("Polls without a stack")).isEqualTo(both);
    }
}

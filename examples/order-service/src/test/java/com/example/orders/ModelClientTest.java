// SPDX-License-Identifier: Apache-2.0
package com.example.orders;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.incapsula.sampler.ThreadsSampler;
import com.incapsula.sampler.ThreadsSamplerServer;
import com.incapsula.sampler.outputer.SamplingOutputer;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/**
 * A reader that knows nothing of this service finds what is wrong with it, by the Model Context Protocol, in a few calls
 * and characters. It looks at the texts of the answers only, and at nothing but what their descriptions explain.
 */
class ModelClientTest {

    private static final long FEW_SECONDS = 4;
    private static final long HANG_SECONDS = 100;
    private static final String LOCK = "com.example.orders.PriceBook.priceOf";
    private static final String QUERY = "com.example.orders.OrderRepository.bestCustomer";
    private static final String POOL = "com.zaxxer.hikari.HikariDataSource.getConnection";
    private static final int MOST_CALLS = 5;
    private static final int MOST_CHARACTERS = 8_000;

    /* Not those in brackets: they are the JVM's own. */
    private static final Pattern GROUP = Pattern.compile(" *([\\d.]+) +([\\d.]+) +(\\d+) ([^\\[]\\S*)( \\| .*)?");
    private static final Pattern ROW = Pattern.compile(" *([\\d.]+) +([\\d.]+) +([\\d.]+) ( *)(\\S.*)");

    /** A row of a tree; a chain of calls has several frames. */
    record Row(double all, double own, double waits, List<String> way) {}

    /** What the reader says. */
    record Findings(String lock, String query, String pool, int calls, int characters) {

        boolean isRight() {
            return LOCK.equals(lock) && QUERY.equals(query) && POOL.equals(pool);
        }
    }

    @Test
    void aReaderFindsTheLockTheSlowQueryAndTheSmallPool() throws Exception {
        Findings found = new Findings(null, null, null, 0, 0);
        /* On a busy machine a short run is mostly the service's start: longer ones, until it shows what the service does. */
        for (long seconds = FEW_SECONDS; seconds < HANG_SECONDS && !found.isRight(); seconds *= 2) {
            found = findings(seconds);
        }
        System.out.println(found);
        assertThat(found.lock()).isEqualTo(LOCK);
        assertThat(found.query()).isEqualTo(QUERY);
        assertThat(found.pool()).isEqualTo(POOL);
        assertThat(found.calls()).isLessThanOrEqualTo(MOST_CALLS);
        assertThat(found.characters()).isLessThanOrEqualTo(MOST_CHARACTERS);
    }

    /** The reader asks while the service runs. */
    private static Findings findings(long seconds) throws Exception {
        try (ThreadsSampler sampler = new ThreadsSampler();
                ThreadsSamplerServer server = new ThreadsSamplerServer()) {
            sampler.setReportFrequencySeconds(0);
            sampler.setSamplingFrequencyMillis(10);
            sampler.setSamplingOutputer(SamplingOutputer.of(report -> {}));
            sampler.init();
            server.setSampler(sampler);
            server.setMcp(true);
            server.init();
            OrderService.run(OrderService.IN_MEMORY, seconds);
            return new Reader(server).findings();
        }
    }

    /** Calls tools, and draws conclusions from their texts. */
    private static final class Reader {

        private static final ObjectMapper JSON = new ObjectMapper();

        private final HttpClient client = HttpClient.newHttpClient();
        private final ThreadsSamplerServer server;
        private final AtomicInteger calls = new AtomicInteger();
        private int characters;

        Reader(ThreadsSamplerServer server) {
            this.server = server;
        }

        String call(String tool, Map<String, Object> arguments) throws Exception {
            Map<String, Object> request = Map.of(
                    "jsonrpc",
                    "2.0",
                    "id",
                    calls.incrementAndGet(),
                    "method",
                    "tools/call",
                    "params",
                    Map.of("name", tool, "arguments", arguments));
            HttpResponse<String> response = client.send(
                    HttpRequest.newBuilder(server.getUrl().resolve("/mcp"))
                            .header("Content-Type", "application/json")
                            .header("Accept", "application/json, text/event-stream")
                            .POST(HttpRequest.BodyPublishers.ofString(JSON.writeValueAsString(request)))
                            .build(),
                    HttpResponse.BodyHandlers.ofString());
            JsonNode result = JSON.readTree(response.body()).path("result");
            assertThat(result.path("isError").isBoolean()).as(response.body()).isTrue();
            String text = result.path("content").path(0).path("text").asText();
            characters += text.length();
            return text;
        }

        Findings findings() throws Exception {
            String group = busiestPool(call("groups", Map.of("budget_chars", 1_500)));
            List<Row> rows = rows(call("tree", Map.of("group", group, "budget_chars", 5_000)));
            List<Row> connections =
                    rows(call("tree", Map.of("group", group, "from", "getConnection", "budget_chars", 1_400)));
            return new Findings(lock(rows), query(rows), pool(connections), calls.get(), characters);
        }

        /** Of the groups with several threads the one that uses a CPU most: the others are idle pools. */
        private static String busiestPool(String groups) {
            return groups.lines()
                    .map(GROUP::matcher)
                    .filter(Matcher::matches)
                    .filter(row -> Integer.parseInt(row.group(3)) > 1)
                    .max(Comparator.comparingDouble(
                            row -> Double.parseDouble(row.group(1)) * Double.parseDouble(row.group(2))))
                    .map(row -> row.group(4))
                    .orElseThrow(() -> new AssertionError("no pool in\n" + groups));
        }

        /** Rows with all frames from the root down, in full. */
        private static List<Row> rows(String tree) {
            List<Row> rows = new ArrayList<>();
            List<List<String>> ways = new ArrayList<>();
            for (Matcher row :
                    tree.lines().map(ROW::matcher).filter(Matcher::matches).toList()) {
                int depth = row.group(4).length();
                ways.subList(Math.min(depth, ways.size()), ways.size()).clear();
                List<String> way = new ArrayList<>(depth == 0 ? List.of() : ways.get(depth - 1));
                for (String frame : row.group(5).split(" > ")) {
                    way.add(frame.startsWith(".") ? packageOf(way) + frame : frame);
                }
                ways.add(way);
                rows.add(new Row(number(row, 1), number(row, 2), number(row, 3), List.copyOf(way)));
            }
            return rows;
        }

        private static double number(Matcher row, int column) {
            return Double.parseDouble(row.group(column));
        }

        private static String packageOf(List<String> way) {
            String method = method(way.get(way.size() - 1));
            return method.replaceFirst("\\.[^.]+\\.[^.]+$", "");
        }

        private static String method(String frame) {
            return frame.replaceFirst(":\\d+$", "");
        }

        private static boolean isOfTheJdk(String frame) {
            return frame.startsWith("java.") || frame.startsWith("jdk.") || frame.startsWith("sun.");
        }

        /** A method that is not native and waits itself waits to be let in. */
        private static String lock(List<Row> rows) {
            return rows.stream()
                    .filter(row -> !isOfTheJdk(last(row)) && last(row).matches(".*:\\d+"))
                    .filter(row -> row.waits() > row.own() / 2)
                    .max(Comparator.comparingDouble(Row::waits))
                    .map(row -> method(last(row)))
                    .orElse(null);
        }

        private static String last(Row row) {
            return row.way().get(row.way().size() - 1);
        }

        /** The service's code that calls a query which takes long: the first frame above the driver's. */
        private static String query(List<Row> rows) {
            return rows.stream()
                    .filter(row -> row.all() >= 1)
                    .max(Comparator.comparingDouble(row -> indexOf(row, ".executeQuery") < 0 ? -1 : row.all()))
                    .filter(row -> indexOf(row, ".executeQuery") > 0)
                    .map(row -> method(row.way().get(indexOf(row, ".executeQuery") - 1)))
                    .orElse(null);
        }

        /** A call that takes a connection waits for another thread to give one back. */
        private static String pool(List<Row> rows) {
            return rows.stream()
                    .filter(row -> row.waits() > 0 && last(row).endsWith(".park"))
                    .max(Comparator.comparingDouble(Row::waits))
                    .map(row -> method(row.way().get(indexOf(row, ".getConnection"))))
                    .orElse(null);
        }

        private static int indexOf(Row row, String method) {
            for (int i = 0; i < row.way().size(); i++) {
                if (method(row.way().get(i)).endsWith(method)) {
                    return i;
                }
            }
            return -1;
        }
    }
}

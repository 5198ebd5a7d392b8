// SPDX-License-Identifier: Apache-2.0
package com.example.model;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.incapsula.sampler.ThreadsSampler;
import com.incapsula.sampler.ThreadsSamplerServer;
import com.incapsula.sampler.outputer.SamplingOutputer;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A reader that knows nothing of a service asks the sampler what is wrong with it, as a language model would, by the
 * Model Context Protocol: it calls {@code summary} and then {@code hot_spots}, and reads nothing but their texts.
 */
public final class ModelClient {

    private static final long FEW_SECONDS = 4;
    private static final long HANG_SECONDS = 100;
    private static final int MOST_CHARACTERS = 3_000;
    private static final int LEAST_BUDGET = 500;
    private static final ObjectMapper JSON = new ObjectMapper();

    /* " 2. 12.1 s blocked  Stock.take(Stock.java:41)  lock of Stock, held in line 52 by pool-" */
    private static final Pattern SUMMARY_LINE = Pattern.compile(
            "\\s*\\d+\\. .*? s (running|runnable|blocked|I/O|waiting) +\\S*?\\(([^():]+):(\\d+)\\)(.*)");
    private static final Pattern SUMMARY_LOCK =
            Pattern.compile(" +lock of .*, held in (?:line (\\d+)|([^ ]+:\\d+))(?: by (.*?))?(?: +.*)?");

    /* "blocked 12.10 + running 1.20 .Stock.take:41 > Map.get | lock of Stock, held in X.java:52 by "p" | "q"" */
    private static final Pattern SPOT_LINE =
            Pattern.compile("((?:[a-z]+ [\\d.]+(?: \\+ )?)+) \\S*?([^. ]+)\\.[^. ]+:(\\d+)( .*)");
    private static final Pattern STATE = Pattern.compile("([a-z]+) [\\d.]+");
    private static final Pattern SPOT_LOCK =
            Pattern.compile(".* \\| lock of .*, held in (\\S+:\\d+)(?: by \"([^\"]*)\")? \\| .*");

    private final HttpClient client = HttpClient.newHttpClient();
    private final URI server;
    private final StringBuilder texts = new StringBuilder();
    private int calls;

    /**
     * A place where time went.
     *
     * @param line {@code Stock.java:41}
     * @param state as {@code hot_spots} names it
     * @param holdingLine of the lock that is waited for; null: none
     * @param holder the group that held it; null: not known
     */
    public record Spot(String line, String state, String holdingLine, String holder) {}

    /**
     * The places that the reader has found.
     *
     * @param spots of both answers
     * @param calls how many were made
     * @param texts the answers
     */
    public record Findings(List<Spot> spots, int calls, String texts) {

        /** @return whether a place is among them; holdingLine and holder: null where it is not blocked */
        public boolean has(String line, String state, String holdingLine, String holder) {
            return spots.stream()
                    .anyMatch(spot -> spot.line().equals(line)
                            && spot.state().equals(state)
                            && (holdingLine == null || holdingLine.equals(spot.holdingLine()))
                            && (holder == null || holder.equals(spot.holder())));
        }
    }

    /** A service under load: runs for so many seconds and gives how much it has done. */
    @FunctionalInterface
    public interface Service {
        long run(long seconds) throws Exception;
    }

    /** Judges what was found. */
    @FunctionalInterface
    public interface Judge {
        boolean isEnough(Findings found) throws Exception;
    }

    private ModelClient(URI server) {
        this.server = server;
    }

    /**
     * Runs a service with a sampler and reads that. On a busy machine a short run is mostly the service's start: so
     * longer runs follow, until one shows enough.
     *
     * @param service that runs
     * @param judge of what is found
     * @return what the last run has shown
     */
    public static Findings readUntil(Service service, Judge judge) throws Exception {
        Findings found = readDuring(service, FEW_SECONDS);
        for (long seconds = 2 * FEW_SECONDS; seconds < HANG_SECONDS && !judge.isEnough(found); seconds *= 2) {
            found = readDuring(service, seconds);
        }
        return found;
    }

    private static Findings readDuring(Service service, long seconds) throws Exception {
        try (ThreadsSampler sampler = new ThreadsSampler();
                ThreadsSamplerServer server = new ThreadsSamplerServer()) {
            sampler.setReportFrequencySeconds(0);
            sampler.setSamplingOutputer(SamplingOutputer.of(report -> {}));
            sampler.init();
            server.setSampler(sampler);
            server.setMcp(true);
            server.init();
            assertThat(service.run(seconds)).isPositive();
            return read(server.getUrl());
        }
    }

    /**
     * Reads a sampler.
     *
     * @param server the URL of its server
     * @return what two calls and {@value #MOST_CHARACTERS} characters tell
     */
    private static Findings read(URI server) throws IOException, InterruptedException {
        ModelClient reader = new ModelClient(server);
        List<Spot> spots = new ArrayList<>();
        String summary = reader.call("summary", Map.of());
        summary.lines().forEach(line -> addOfSummary(line, spots));
        int budget = Math.max(MOST_CHARACTERS - summary.length(), LEAST_BUDGET);
        reader.call("hot_spots", Map.of("budget_chars", budget)).lines().forEach(line -> addHotSpot(line, spots));
        return new Findings(List.copyOf(spots), reader.calls, reader.texts.toString());
    }

    private static void addOfSummary(String text, List<Spot> spots) {
        Matcher line = SUMMARY_LINE.matcher(text);
        if (!line.matches()) {
            return;
        }
        Matcher lock = SUMMARY_LOCK.matcher(line.group(4));
        boolean isLocked = lock.matches();
        String holding = !isLocked ? null : lock.group(1) == null ? lock.group(2) : line.group(2) + ":" + lock.group(1);
        spots.add(new Spot(
                line.group(2) + ":" + line.group(3),
                line.group(1).replace("I/O", "io"),
                holding,
                isLocked ? lock.group(3) : null));
    }

    private static void addHotSpot(String text, List<Spot> spots) {
        Matcher line = SPOT_LINE.matcher(text);
        if (!line.matches()) {
            return;
        }
        Matcher lock = SPOT_LOCK.matcher(line.group(4));
        boolean isLocked = lock.matches();
        String file = line.group(2).replaceFirst("\\$.*", "") + ".java";
        Matcher state = STATE.matcher(line.group(1));
        while (state.find()) {
            boolean isBlocked = isLocked && state.group(1).equals("blocked");
            spots.add(new Spot(
                    file + ":" + line.group(3),
                    state.group(1),
                    isBlocked ? lock.group(1) : null,
                    isBlocked ? lock.group(2) : null));
        }
    }

    private String call(String tool, Map<String, Object> arguments) throws IOException, InterruptedException {
        calls++;
        Map<String, Object> request = Map.of(
                "jsonrpc",
                "2.0",
                "id",
                calls,
                "method",
                "tools/call",
                "params",
                Map.of("name", tool, "arguments", arguments));
        HttpResponse<String> response = client.send(
                HttpRequest.newBuilder(server.resolve("/mcp"))
                        .header("Content-Type", "application/json")
                        .header("Accept", "application/json, text/event-stream")
                        .POST(HttpRequest.BodyPublishers.ofString(JSON.writeValueAsString(request)))
                        .build(),
                HttpResponse.BodyHandlers.ofString());
        JsonNode result = JSON.readTree(response.body()).path("result");
        if (result.path("isError").asBoolean(true)) {
            throw new IOException("refused: " + response.body());
        }
        String text = result.path("content").path(0).path("text").asText();
        texts.append(text).append('\n');
        return text;
    }
}

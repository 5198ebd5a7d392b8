// SPDX-License-Identifier: Apache-2.0
package com.example.faults;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * A reader who does not know the service asks the sampler for its faults, as a language model would, by the Model
 * Context Protocol. It calls {@code summary} and then {@code hot_spots}, and reads only their texts.
 */
final class ModelClient {

    /** The limit of both texts together. */
    static final int MOST_CHARACTERS = 3_000;

    private static final int LEAST_BUDGET = 500;
    private static final ObjectMapper JSON = new ObjectMapper();

    private final HttpClient client = HttpClient.newHttpClient();
    private final URI server;
    private int calls;

    private ModelClient(URI server) {
        this.server = server;
    }

    /**
     * Reads a sampler.
     *
     * @param server the URL of its server
     * @return the texts of the two calls, at most {@value #MOST_CHARACTERS} characters
     */
    static Shown read(URI server) throws IOException, InterruptedException {
        ModelClient reader = new ModelClient(server);
        String summary = reader.call("summary", Map.of());
        int budget = Math.max(MOST_CHARACTERS - summary.length(), LEAST_BUDGET);
        String hotSpots = reader.call("hot_spots", Map.of("budget_chars", budget));
        List<Spot> spots = new ArrayList<>(Spot.ofSummary(summary.lines().toList()));
        spots.addAll(Spot.ofHotSpots(hotSpots.lines().toList()));
        return new Shown(spots, summary + "\n" + hotSpots);
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
        return result.path("content").path(0).path("text").asText();
    }
}

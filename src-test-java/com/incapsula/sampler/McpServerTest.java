// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import static com.incapsula.sampler.testing.Samplers.patiently;
import static org.assertj.core.api.Assertions.assertThat;

import com.incapsula.sampler.internal.engine.FakeSampler;
import com.incapsula.sampler.internal.engine.FakeSnapshot;
import com.incapsula.sampler.testing.Samplers;
import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The path for language models, with a fake core: which requests are allowed, and how the transport answers. */
@Timeout(Samplers.HANG_SECONDS)
class McpServerTest {

    private static final String PING = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}";
    private static final String PONG = "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}";
    private static final String SLOW_CALL = "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":"
            + "{\"name\":\"groups\",\"arguments\":{\"seconds\":30}}}";

    private final HttpClient client = HttpClient.newHttpClient();
    private final FakeSampler fake = new FakeSampler();
    private final ThreadsSampler sampler = Fakes.sampler(fake.lifecycle());
    private final ThreadsSamplerServer server = new ThreadsSamplerServer();
    private final int liveBefore = FakeSnapshot.LIVE.get();

    @BeforeEach
    void startSampler() {
        server.setSampler(sampler);
        server.setMcp(true);
        sampler.init();
    }

    @AfterEach
    void nothingIsLeft() throws IOException {
        server.close();
        sampler.close();
        patiently().untilAsserted(() -> assertThat(FakeSnapshot.LIVE.get()).isEqualTo(liveBefore));
    }

    private HttpRequest.Builder post(String message) {
        return HttpRequest.newBuilder(server.getUrl().resolve("/mcp"))
                .header("Content-Type", "application/json")
                .header("Accept", "application/json, text/event-stream")
                .POST(HttpRequest.BodyPublishers.ofString(message));
    }

    private HttpResponse<String> send(HttpRequest.Builder request) throws Exception {
        return client.send(request.build(), HttpResponse.BodyHandlers.ofString());
    }

    @Test
    void thePathIsThereOnlyWhereItIsAskedFor() throws Exception {
        assertThat(new ThreadsSamplerServer().isMcp()).isFalse();
        assertThat(server.isMcp()).isTrue();
        server.setMcp(false);
        server.init();
        assertThat(send(post(PING)).statusCode()).isEqualTo(405);
        assertThat(send(HttpRequest.newBuilder(server.getUrl().resolve("/mcp"))).statusCode())
                .isEqualTo(404);
    }

    @Test
    void aMessageIsAnsweredInOnePiece() throws Exception {
        server.init();
        HttpResponse<String> answer = send(post(PING).header("MCP-Protocol-Version", "2025-11-25"));
        assertThat(answer.statusCode()).isEqualTo(200);
        assertThat(answer.body()).isEqualTo(PONG);
        assertThat(answer.headers().firstValue("Content-Type")).hasValue("application/json");
        assertThat(answer.headers().firstValue("Cache-Control")).hasValue("no-store");
        assertThat(answer.headers().firstValue("X-Content-Type-Options")).hasValue("nosniff");
        assertThat(answer.headers().firstValue("Content-Length")).hasValue(String.valueOf(PONG.length()));
        HttpResponse<String> noted = send(post("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}"));
        assertThat(noted.statusCode()).isEqualTo(202);
        assertThat(noted.body()).isEmpty();
        assertThat(send(post("{")).statusCode()).isEqualTo(400);
        assertThat(send(post(PING).header("MCP-Protocol-Version", "1")).statusCode())
                .isEqualTo(400);
    }

    @Test
    void aRequestOfTheNewestVersionHasItsHeadersChecked() throws Exception {
        server.init();
        String list = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"params\":{\"_meta\":"
                + "{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","
                + "\"io.modelcontextprotocol/clientCapabilities\":{}}}}";
        HttpResponse<String> answer =
                send(post(list).header("MCP-Protocol-Version", "2026-07-28").header("Mcp-Method", "tools/list"));
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
        assertThat(answer.body()).contains("\"resultType\":\"complete\"").contains("\"name\":\"tree\"");
        assertThat(send(post(list).header("MCP-Protocol-Version", "2026-07-28")).body())
                .contains("-32020")
                .contains("Mcp-Method is missing");
    }

    @ParameterizedTest
    @CsvSource({"GET, 405", "HEAD, 405", "DELETE, 405", "PUT, 405", "OPTIONS, 405"})
    void thereIsNoStreamAndNoSession(String method, int status) throws Exception {
        server.init();
        HttpResponse<String> answer =
                send(HttpRequest.newBuilder(server.getUrl().resolve("/mcp"))
                        .method(method, HttpRequest.BodyPublishers.noBody()));
        assertThat(answer.statusCode()).isEqualTo(status);
        assertThat(answer.headers().firstValue("Allow")).hasValue("POST");
    }

    @Test
    void otherPathsTakeNoMessages() throws Exception {
        server.init();
        HttpResponse<String> answer =
                send(HttpRequest.newBuilder(server.getUrl().resolve("/report.json"))
                        .POST(HttpRequest.BodyPublishers.ofString(PING)));
        assertThat(answer.statusCode()).isEqualTo(405);
        assertThat(answer.headers().firstValue("Allow")).hasValue("GET, HEAD");
    }

    @Test
    void pagesOfOtherSitesAreRefused() throws Exception {
        server.init();
        String own = server.getUrl().toString().replaceFirst("/$", "");
        assertThat(send(post(PING).header("Origin", own)).statusCode()).isEqualTo(200);
        for (String other : List.of("null", "http://evil.example", "http://127.0.0.1:1", own + ".evil.example", "")) {
            assertThat(send(post(PING).header("Origin", other)).statusCode())
                    .as(other)
                    .isEqualTo(403);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "application/json, 200",
        "application/json; charset=utf-8, 200",
        "Application/JSON, 200",
        "text/plain, 415",
        "application/x-www-form-urlencoded, 415",
        "application/jsonp, 415",
        "multipart/form-data, 415",
    })
    void aContentTypeThatAFormCanSendIsRefused(String type, int status) throws Exception {
        server.init();
        assertThat(send(post(PING).setHeader("Content-Type", type)).statusCode())
                .isEqualTo(status);
    }

    @Test
    void theTokenIsThatOfThePage() throws Exception {
        server.setToken("s3cret");
        server.init();
        HttpResponse<String> refused = send(post(PING));
        assertThat(refused.statusCode()).isEqualTo(401);
        assertThat(refused.headers().firstValue("WWW-Authenticate")).hasValue("Bearer realm=\"threads-sampler\"");
        assertThat(send(post(PING).header("Authorization", "Bearer other")).statusCode())
                .isEqualTo(401);
        assertThat(send(post(PING).header("Authorization", "Bearer s3cret")).body())
                .isEqualTo(PONG);
    }

    @Test
    void aMessageHasALimit() throws Exception {
        server.init();
        String longest = PING + " ".repeat(64 * 1024 - PING.length());
        assertThat(send(post(longest)).body()).isEqualTo(PONG);
        assertThat(send(post(longest + " ")).statusCode()).isEqualTo(413);
    }

    /** One call is answered and one waits; meanwhile the other threads serve the page. */
    @Test
    void manyCallsLeaveThreadsForThePage() throws Exception {
        server.init();
        List<CompletableFuture<HttpResponse<String>>> calls = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            calls.add(client.sendAsync(post(SLOW_CALL).build(), HttpResponse.BodyHandlers.ofString()));
        }
        patiently()
                .until(() -> calls.stream()
                                .filter(CompletableFuture::isDone)
                                .filter(call -> call.join().statusCode() == 429)
                                .count()
                        == 4);
        assertThat(send(HttpRequest.newBuilder(server.getUrl().resolve("/top.txt")))
                        .statusCode())
                .isEqualTo(200);
        server.close();
        for (CompletableFuture<HttpResponse<String>> call : calls) {
            patiently().until(call::isDone);
        }
        assertThat(calls)
                .filteredOn(CompletableFuture::isCompletedExceptionally)
                .hasSize(2);
    }

    @Test
    void theNextCallIsAnsweredAfterTheSamplerWasStartedAgain() throws Exception {
        server.init();
        String call = SLOW_CALL.replace("\"seconds\":30", "");
        assertThat(send(post(call)).body()).contains("Interval 0 (the whole time so far)");
        sampler.close();
        assertThat(send(post(SLOW_CALL.replace("30", "1"))).body())
                .contains("the sampler does not run")
                .contains("\"isError\":true");
        sampler.init();
        assertThat(send(post(call)).body()).contains("Interval 0 (the whole time so far)");
    }
}

// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.mcp;

import static org.assertj.core.api.Assertions.assertThat;

import com.incapsula.sampler.Fakes;
import com.incapsula.sampler.ThreadsSampler;
import com.incapsula.sampler.internal.engine.FakeSampler;
import com.incapsula.sampler.internal.engine.FakeSnapshot;
import com.incapsula.sampler.internal.json.Json;
import com.incapsula.sampler.internal.json.JsonParser;
import com.incapsula.sampler.internal.json.MalformedJson;
import com.incapsula.sampler.internal.mcp.McpProtocol.Answer;
import com.incapsula.sampler.internal.mcp.McpProtocol.Headers;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The protocol with a fake core. */
class McpProtocolTest {

    private static final String MODERN_META = "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","
            + "\"io.modelcontextprotocol/clientCapabilities\":{}}";

    private final FakeSampler fake = new FakeSampler();
    private final ThreadsSampler sampler = Fakes.sampler(fake.lifecycle());
    private final int liveBefore = FakeSnapshot.LIVE.get();
    private KeptIntervals intervals;
    private McpProtocol protocol;

    @BeforeEach
    void start() {
        sampler.init();
        intervals = new KeptIntervals(sampler);
        protocol = new McpProtocol(intervals);
    }

    @AfterEach
    void nothingIsLeft() throws IOException {
        intervals.close();
        sampler.close();
        assertThat(FakeSnapshot.LIVE.get()).isEqualTo(liveBefore);
    }

    private Answer send(String message, Headers headers) throws InterruptedException {
        return protocol.answer(message.getBytes(StandardCharsets.UTF_8), headers);
    }

    private String send(String message) throws InterruptedException {
        return String.valueOf(send(message, null).body());
    }

    private static Map<?, ?> json(String text) {
        try {
            return (Map<?, ?>) JsonParser.parse(text);
        } catch (MalformedJson e) {
            throw new AssertionError(text, e);
        }
    }

    private static String request(String method, String parameters) {
        return "{\"jsonrpc\":\"2.0\",\"id\":\"i-1\",\"method\":\"" + method + "\",\"params\":{" + parameters + "}}";
    }

    /** @return the text of the result of a call, with the prefix "error: " if it is an error */
    private String call(String tool, String arguments) throws InterruptedException {
        String answer = send(request("tools/call", "\"name\":\"" + tool + "\",\"arguments\":{" + arguments + "}"));
        Map<?, ?> result = (Map<?, ?>) json(answer).get("result");
        Map<?, ?> content = (Map<?, ?>) ((List<?>) result.get("content")).get(0);
        return (result.get("isError") == Boolean.TRUE ? "error: " : "") + content.get("text");
    }

    // ---- messages ----

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "{\"jsonrpc\":\"2.0\" | -32700 | Parse error: \"}\" is missing at character 16",
                "1 | -32600 | no message of JSON-RPC 2.0",
                "{\"method\":\"ping\"} | -32600 | no message of JSON-RPC 2.0",
                "{\"jsonrpc\":\"2.0\",\"method\":7} | -32600 | method must be a string",
                "{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"} | -32600 | id must be a string or an integer",
                "{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"ping\"} | -32600 | id must be a string or an integer",
                "{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"ping\"} | -32600 | id must be a string or an integer",
                "[] | -32600 | no message of JSON-RPC 2.0",
            })
    void aTextThatIsNotAMessageIsAnsweredWithoutId(String message, int code, String text) throws Exception {
        Answer answer = send(message, null);
        assertThat(answer.status()).isEqualTo(400);
        assertThat(json(answer.body()))
                .isEqualTo(Json.object("jsonrpc", "2.0", "error", Json.object("code", (long) code, "message", text)));
    }

    /** Every request needs an answer, or its client waits for ever. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "{\"id\":1,\"method\":\"ping\"} | no message of JSON-RPC 2.0",
                "{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"ping\"} | no message of JSON-RPC 2.0",
                "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":7} | method must be a string",
                "{\"jsonrpc\":\"2.0\",\"id\":1} | method must be a string",
            })
    void aMessageThatIsNotARequestIsAnsweredByItsId(String message, String text) throws Exception {
        assertThat(json(send(message, null).body()))
                .isEqualTo(Json.object(
                        "jsonrpc",
                        "2.0",
                        "id",
                        1L,
                        "error",
                        Json.object("code", (long) RpcError.INVALID_REQUEST, "message", text)));
    }

    @Test
    void bytesThatAreNoTextAreRefused() throws Exception {
        Answer answer = protocol.answer(new byte[] {'"', (byte) 0xc3, '"'}, null);
        assertThat(answer.body()).contains("-32700").contains("no UTF-8");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "no/such | {} | -32601 | Method not found: no/such",
                "server/discover | {} | -32601 | Method not found: server/discover",
                "tools/list | [] | -32602 | params must be an object",
                "tools/list | {\"cursor\":\"x\"} | -32602 | there is no such cursor: all tools are on one page",
                "tools/call | {} | -32602 | a call has a name, a string, and arguments, an object",
                "tools/call | {\"name\":\"top\",\"arguments\":[]} | -32602 | a call has a name, a string, and arguments, an object",
                "tools/call | {\"name\":\"rm\"} | -32602 | Unknown tool: rm",
            })
    void wrongRequestsAreAnsweredByTheirId(String method, String parameters, int code, String text) throws Exception {
        String answer = send("{\"jsonrpc\":\"2.0\",\"id\":12345678901234567890,\"method\":\"" + method
                + "\",\"params\":" + parameters + "}");
        assertThat(json(answer))
                .isEqualTo(Json.object(
                        "jsonrpc",
                        "2.0",
                        "id",
                        new Json.Numeral("12345678901234567890"),
                        "error",
                        Json.object("code", (long) code, "message", text)));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}",
                "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":1}}",
                "{\"jsonrpc\":\"2.0\",\"method\":\"no/such\"}",
                "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}",
                "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{}}",
            })
    void aMessageThatWantsNoAnswerGetsNone(String message) throws Exception {
        assertThat(send(message, null)).isEqualTo(new Answer(202, null));
    }

    // ---- versions ----

    @ParameterizedTest
    @ValueSource(strings = {"2025-06-18", "2025-11-25", "2026-07-28", "2031-01-01", ""})
    void initializeAgreesOnTheNewestVersionThatHasIt(String wanted) throws Exception {
        Map<?, ?> result = (Map<?, ?>) json(send(request(
                        "initialize",
                        "\"protocolVersion\":\"" + wanted + "\",\"capabilities\":{},\"clientInfo\":{\"name\":\"x\"}")))
                .get("result");
        assertThat(result.get("protocolVersion")).isEqualTo("2025-11-25");
        assertThat(result.get("capabilities")).isEqualTo(Json.object("tools", Json.object("listChanged", false)));
        assertThat(((Map<?, ?>) result.get("serverInfo")).get("name")).isEqualTo("threads-sampler");
        assertThat(result.get("instructions")).asString().startsWith("Shows where the threads");
    }

    @Test
    void aHeaderWithAnUnknownVersionIsRefused() throws Exception {
        String ping = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}";
        assertThat(send(ping, new Headers("2025-11-25", null, null)).status()).isEqualTo(200);
        Answer refused = send(ping, new Headers("1999-01-01", null, null));
        assertThat(refused.status()).isEqualTo(400);
        assertThat(refused.body())
                .contains("-32022")
                .contains("\"supported\":[\"2026-07-28\",\"2025-11-25\"]")
                .contains("\"requested\":\"1999-01-01\"");
        assertThat(send(request("initialize", "\"protocolVersion\":\"1\""), new Headers("1", null, null))
                        .status())
                .as("initialize is how versions are agreed on")
                .isEqualTo(200);
    }

    @Test
    void aRequestOfTheNewestVersionNeedsNoBeginning() throws Exception {
        Map<?, ?> discovered =
                (Map<?, ?>) json(send(request("server/discover", MODERN_META))).get("result");
        assertThat(discovered.get("resultType")).isEqualTo("complete");
        assertThat((List<?>) discovered.get("supportedVersions")).first().isEqualTo("2026-07-28");
        assertThat(discovered.get("ttlMs")).isEqualTo(3_600_000L);
        assertThat(discovered.get("cacheScope")).isEqualTo("public");
        Map<?, ?> listed =
                (Map<?, ?>) json(send(request("tools/list", MODERN_META))).get("result");
        assertThat(listed.get("cacheScope")).isEqualTo("public");
        Map<?, ?> called = (Map<?, ?>) json(send(request("tools/call", "\"name\":\"account\"," + MODERN_META)))
                .get("result");
        assertThat(called.get("resultType")).isEqualTo("complete");
        assertThat(called.get("isError")).isEqualTo(false);
        assertThat(called.get("_meta").toString())
                .startsWith("{io.modelcontextprotocol/serverInfo={name=threads-sampler, ");
    }

    @ParameterizedTest
    @ValueSource(strings = {"ping", "initialize", "subscriptions/listen"})
    void methodsThatTheNewestVersionLacksAreNotFound(String method) throws Exception {
        Answer answer = send(request(method, MODERN_META), new Headers("2026-07-28", method, null));
        assertThat(answer.status()).isEqualTo(404);
        assertThat(answer.body()).contains("-32601");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "2026-07-28 | tools/call | account | 200 | result",
                "2026-07-28 | tools/call | =?base64?YWNjb3VudA==?= | 200 | result",
                "2026-07-28 | tools/call | =?base64?*?= | 400 | Mcp-Name is missing",
                "2026-07-28 | tools/call | top | 400 | Mcp-Name is not what the body says",
                "2026-07-28 | tools/call | | 400 | Mcp-Name is missing",
                "2026-07-28 | tools/list | account | 400 | Mcp-Method is not what the body says",
                "2026-07-28 | | account | 400 | Mcp-Method is missing",
                "2025-11-25 | tools/call | account | 400 | MCP-Protocol-Version is not what the body says",
                " | tools/call | account | 400 | MCP-Protocol-Version is missing",
            })
    void headersOfTheNewestVersionMustAgreeWithTheBody(
            String version, String method, String name, int status, String text) throws Exception {
        Answer answer =
                send(request("tools/call", "\"name\":\"account\"," + MODERN_META), new Headers(version, method, name));
        assertThat(answer.status()).as(answer.body()).isEqualTo(status);
        assertThat(answer.body()).contains(text);
        if (status != 200) {
            assertThat(answer.body()).contains("-32020");
        }
    }

    @Test
    void aRequestOfTheNewestVersionNamesItAndTheClientsCapabilities() throws Exception {
        assertThat(send(request("tools/list", ""), new Headers("2026-07-28", "tools/list", null)))
                .matches(answer -> answer.status() == 400)
                .extracting(Answer::body)
                .asString()
                .contains("-32602");
        assertThat(send(request(
                        "tools/list", "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\"}")))
                .contains("-32602")
                .contains("clientCapabilities");
        assertThat(send(request("tools/list", MODERN_META.replace("2026-07-28", "2027-01-01"))))
                .contains("-32022")
                .contains("\"requested\":\"2027-01-01\"");
    }

    // ---- tools ----

    @Test
    void theToolsAreDescribed() throws Exception {
        List<?> tools =
                (List<?>) ((Map<?, ?>) json(send(request("tools/list", ""))).get("result")).get("tools");
        assertThat(tools)
                .extracting(tool -> (Object) ((Map<?, ?>) tool).get("name"))
                .containsExactly("summary", "hot_spots", "groups", "top", "calls", "tree", "locks", "diff", "account");
        for (Object each : tools) {
            Map<?, ?> tool = (Map<?, ?>) each;
            assertThat(tool.get("description")).asString().hasSizeBetween(100, 1_000);
            Map<?, ?> schema = (Map<?, ?>) tool.get("inputSchema");
            assertThat(schema.get("type")).isEqualTo("object");
            assertThat(schema.get("additionalProperties")).isEqualTo(false);
            assertThat(((Map<?, ?>) schema.get("properties")).values())
                    .isNotEmpty()
                    .allSatisfy(property -> assertThat(((Map<?, ?>) property).get("description"))
                            .asString()
                            .hasSizeGreaterThan(20));
        }
    }

    @Test
    void aWrongArgumentIsExplainedToTheModel() throws Exception {
        assertThat(call("tree", "")).isEqualTo("error: tree needs the argument group");
        assertThat(call("tree", "\"group\":\"main\",\"depht\":3"))
                .isEqualTo(
                        "error: tree has no argument \"depht\"; it has group, depth, from, begin, interval, window, seconds, measure,"
                                + " budget_chars");
        assertThat(call("tree", "\"group\":\"main\",\"depth\":0"))
                .isEqualTo("error: depth must be a whole number from 1 to 1000, got 0");
        assertThat(call("tree", "\"group\":7")).isEqualTo("error: group must be a string, got 7");
        assertThat(call("top", "\"measure\":\"time\""))
                .isEqualTo("error: measure must be one of wall, cpu, calls, got \"time\"");
        assertThat(call("groups", "\"budget_chars\":1e3"))
                .isEqualTo("error: budget_chars must be a whole number from 500 to 50000, got 1e3");
        assertThat(call("groups", "\"budget_chars\":99999999999999999999"))
                .isEqualTo("error: budget_chars must be a whole number from 500 to 50000, got 99999999999999999999");
        assertThat(call("tree", "\"group\":\"missing\""))
                .isEqualTo("error: group: no group is called \"missing\"; groups are \"main\", \"pool\". "
                        + BudgetText.NAMES);
        assertThat(call("hot_spots", "\"state\":\"idle\""))
                .isEqualTo("error: state must be one of running, runnable, blocked, io, waiting, got \"idle\"");
        assertThat(call("groups", "\"seconds\":[1]"))
                .isEqualTo("error: seconds must be a whole number from 1 to 30, got an array");
    }

    @Test
    void aSamplerThatDoesNotRunIsNoFailureOfTheServer() throws Exception {
        sampler.close();
        assertThat(call("groups", ""))
                .isEqualTo("error: the sampler does not run, so there is nothing to read; it may be started again");
        sampler.init();
        assertThat(call("groups", "")).startsWith("Interval 0 ");
    }

    // ---- streams ----

    private String served(String lines) throws Exception {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        McpStream.serve(new ByteArrayInputStream(lines.getBytes(StandardCharsets.UTF_8)), out, protocol);
        return out.toString(StandardCharsets.UTF_8);
    }

    @Test
    void aStreamHasALineForEachMessage() throws Exception {
        String ping = "{\"jsonrpc\":\"2.0\",\"id\":\"\u00e9\",\"method\":\"ping\"}";
        String pong = "{\"jsonrpc\":\"2.0\",\"id\":\"\\u00e9\",\"result\":{}}\n";
        assertThat(served("")).isEmpty();
        assertThat(served("\n \r\n\t\n")).isEmpty();
        assertThat(served(ping + "\r\n\n" + ping + "\n" + ping)).isEqualTo(pong + pong + pong);
    }

    @Test
    void aLineThatIsTooLongIsRefusedAndTheNextAnswered() throws Exception {
        String ping = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}";
        String longest = ping + " ".repeat(McpProtocol.MAX_MESSAGE_BYTES - ping.length());
        String pong = "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n";
        assertThat(served(longest + " \n" + ping + "\n"))
                .isEqualTo(McpProtocol.tooLong().body() + "\n" + pong)
                .contains("the message is longer than 65536 bytes");
        assertThat(served(longest + "\n")).isEqualTo(pong);
        assertThat(served("x".repeat(1_000_000)))
                .isEqualTo(McpProtocol.tooLong().body() + "\n");
    }
}

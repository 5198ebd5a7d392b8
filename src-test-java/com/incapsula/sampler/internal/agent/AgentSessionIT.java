// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.agent;

import static com.incapsula.sampler.testing.Samplers.patiently;
import static org.assertj.core.api.Assertions.assertThat;

import com.incapsula.sampler.internal.agent.AnswerSlot.Answer;
import com.incapsula.sampler.internal.agent.AnswerSlot.State;
import com.incapsula.sampler.testing.NothingLeft;
import com.incapsula.sampler.testing.PushServer;
import com.incapsula.sampler.testing.ReservedPort;
import com.incapsula.sampler.testing.Worker;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Commands of the agent, as the attach API passes them, in this JVM. */
@ExtendWith(NothingLeft.class)
class AgentSessionIT {

    private static int commands;

    @TempDir
    Path folder;

    @AfterEach
    void stop() {
        command("stop");
    }

    private static Answer command(String options) {
        String id = "it" + ++commands;
        Agent.agentmain(options + ",answer=" + id);
        return Objects.requireNonNull(AnswerSlot.read(System.getProperties(), id), options);
    }

    private static String done(String options) {
        Answer answer = command(options);
        assertThat(answer.state()).as(answer.text()).isEqualTo(State.DONE);
        return answer.text();
    }

    private static String refused(String options) {
        Answer answer = command(options);
        assertThat(answer.state()).as(answer.text()).isEqualTo(State.REFUSED);
        return answer.text();
    }

    private static String contentOf(Answer answer) {
        try {
            Path file = Path.of(Objects.requireNonNull(answer.content(), answer.text()));
            String content = Files.readString(file);
            Files.delete(file);
            return content;
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private static void awaitInDump(String text) {
        patiently().until(() -> contentOf(command("dump,content=collapsed")).contains(text));
    }

    @Test
    void aSamplerIsStartedReadChangedAndStopped() {
        assertThat(refused("dump")).isEqualTo("not running");
        assertThat(done("status")).isEqualTo("not running");

        assertThat(done("start,interval:5ms,packages=com.acme,packages=org.example,clock=wall"))
                .matches("runs since \\S+Z, with clock=wall, monitoredPackages=com.acme,org.example,"
                        + " samplingFrequencyMillis=5ms, reports on demand");
        assertThat(refused("start,interval=1ms")).startsWith("it runs since ").endsWith("; stop comes first");
        assertThat(done("status")).contains("\nengine: ").contains("\npolls: ").contains(" bytes\n");
        assertThat(done("set,overheadLimitPercent=5")).isEqualTo("overheadLimitPercent is 5 from the next tick on");
        assertThat(done("status")).contains("overheadLimitPercent=5");
        assertThat(refused("set,overheadLimitPercent=500"))
                .isEqualTo("overheadLimitPercent must be between 0.1 and 100, in steps of 0.1, got 500.0");
        assertThat(refused("set,clock=cpu")).contains("clock cannot be changed while the sampler runs");
        assertThat(refused("dump")).isEqualTo("dump needs a file, as the sampler was started without one");

        assertThat(done("stop")).isEqualTo("stopped");
        assertThat(refused("stop")).isEqualTo("not running");
    }

    @Test
    void reportsArePushed() {
        try (PushServer server = new PushServer()) {
            String url = "http://" + server.address() + "/v1development/profiles";
            assertThat(done("start,interval:5ms,push:otlp+http://" + server.address() + ",pushHeaders=a=b"))
                    .contains(", reports to a server (OTLP to " + url + ": sent 0, waiting 0,")
                    .endsWith(") every 60 s");
            assertThat(done("dump")).startsWith("the report up to now went to a server (OTLP to " + url);
            patiently().until(() -> done("status").contains(": sent 1, waiting 0,"));
            assertThat(server.received().get(0).header("a")).isEqualTo("b");
            assertThat(done("stop")).contains(": sent 2, waiting 0,");
        }
    }

    @Test
    void aPushThatCannotBeIsRefused() {
        assertThat(refused("start,push=host:4318"))
                .startsWith("push: url must be such as otlp+http://host:4318, pyroscope+http://host:4040 or");
        assertThat(refused("start,pushHeaders=a=b")).isEqualTo("pushHeaders needs push");
        assertThat(refused("start,push=http://h,pushHeaders=a")).startsWith("push: headers must be key=value pairs");
        assertThat(refused("run,push=http://h,content=html")).isEqualTo("push has no meaning with run");
        assertThat(done("status")).isEqualTo("not running");
    }

    @Test
    void aDumpAndAStopGiveTheReport() throws Exception {
        try (Worker worker = Worker.busy("agent-worker-a")) {
            done("start,interval=5ms");
            awaitInDump("agent-worker-a;");
            assertThat(done("dump,file=" + folder + "/d-%p.json"))
                    .contains(" samples in ")
                    .contains(" (json)");
            assertThat(folder.resolve("d-" + ProcessHandle.current().pid() + ".json"))
                    .content()
                    .contains("\"threads-sampler/1\"");
            assertThat(contentOf(command("stop,content=html"))).startsWith("<!DOCTYPE html>");
        }
    }

    @Test
    void anOptionOfOneReportLeavesTheOthersAsTheyAre() {
        try (Worker worker = Worker.busy("agent-worker-o")) {
            done("start,interval=5ms,reportAccount=full");
            awaitInDump("agent-worker-o;");
            for (String option : List.of("", ",measure=cpu", ",per=class", ",focus=" + Worker.class.getName())) {
                assertThat(contentOf(command("dump,content=text" + option)))
                        .as(option)
                        .contains("\nsamples: ");
            }
        }
    }

    @Test
    void onlyThreadsWithSuchNamesAreSampled() throws Exception {
        try (Worker wanted = Worker.busy("wanted-a");
                Worker other = Worker.busy("other-a")) {
            done("start,interval=5ms,threads=^wan.*a$");
            awaitInDump("wanted-a;");
            assertThat(contentOf(command("dump,content=collapsed"))).doesNotContain("other-a");
        }
    }

    @Test
    void aRunEndsByItselfAndItsThreadIsNotSampled() throws Exception {
        try (Worker worker = Worker.busy("run-worker")) {
            patiently().until(() -> {
                command("run,duration=300ms,interval=5ms,content=collapsed");
                String report = contentOf(lastAnswer());
                assertThat(report).doesNotContain("threads-sampler-run;");
                assertThat(done("status")).isEqualTo("not running");
                return report.contains("run-worker;"); // true if the thread has had a CPU in that time
            });
        }
    }

    /** With two users at once, the second one gets the whole of its time. */
    @Test
    void aRunThatComesLaterIsNotEndedByTheFirst() {
        command("run,duration=300ms,interval=5ms,content=json");
        String first = "it" + commands;
        command("run,duration=1h,content=json");
        String second = "it" + commands;
        assertThat(contentOf(answerTo(first))).contains("\"threads-sampler/1\"");
        assertThat(done("status")).startsWith("runs since ");
        assertThat(AnswerSlot.read(System.getProperties(), second).state()).isEqualTo(State.GOES_ON);
        assertThat(done("stop")).isEqualTo("stopped");
        assertThat(answerTo(second).text()).isEqualTo("it was stopped before its time");
        assertThat(done("status")).isEqualTo("not running");
    }

    private static Answer lastAnswer() {
        return answerTo("it" + commands);
    }

    private static Answer answerTo(String id) {
        patiently()
                .until(() -> Objects.requireNonNull(AnswerSlot.read(System.getProperties(), id))
                                .state()
                        != State.GOES_ON);
        return Objects.requireNonNull(AnswerSlot.read(System.getProperties(), id));
    }

    @Test
    void aRunUsesTheSamplerThatRunsAlready() throws Exception {
        done("start,interval=5ms");
        assertThat(refused("run,duration=1s,interval=1ms,content=top")).startsWith("it runs since ");
        command("run,duration=200ms,content=json");
        assertThat(contentOf(lastAnswer())).contains("\"threads-sampler/1\"");
        assertThat(done("status")).startsWith("runs since ");
    }

    @Test
    void aStopEndsARunBeforeItsTime() throws Exception {
        String id = "early";
        Agent.agentmain("run,duration=1h,content=top,answer=" + id);
        assertThat(AnswerSlot.read(System.getProperties(), id).state()).isEqualTo(State.GOES_ON);
        assertThat(done("stop")).isEqualTo("stopped");
        assertThat(answerTo(id).text()).isEqualTo("it was stopped before its time");
    }

    @Test
    void aStopEndsARunThatUsesTheSamplerOfAStart() throws Exception {
        done("start,interval=5ms");
        String id = "shared";
        Agent.agentmain("run,duration=1h,content=top,answer=" + id);
        assertThat(done("stop")).isEqualTo("stopped");
        assertThat(answerTo(id).text()).isEqualTo("it was stopped before its time");
    }

    /** The command line was ended before it fetched the report. */
    @Test
    void aReportThatIsNotFetchedIsRemoved() throws Exception {
        done("start,interval=5ms");
        Path fresh = Path.of(Objects.requireNonNull(command("dump,content=top").content()));
        Path old = Path.of(Objects.requireNonNull(command("dump,content=top").content()));
        Files.setLastModifiedTime(old, FileTime.from(Instant.now().minusSeconds(120)));
        done("status");
        assertThat(old).doesNotExist();
        assertThat(fresh).exists();
        Files.delete(fresh);
    }

    @Test
    void aStopAlwaysStops() throws Exception {
        Path gone = folder.resolve("gone");
        done("start,interval=5ms,file=" + gone + "/x.html");
        Files.delete(gone);
        Files.writeString(gone, "a file in the place of the folder");

        assertThat(done("stop"))
                .startsWith("stopped; a report could not be written: ")
                .contains(gone.toString());
        done("start,interval=5ms");
        assertThat(done("stop,file=" + gone + "/y.html"))
                .startsWith("stopped\nno report could be written: ")
                .contains(gone.toString());
        assertThat(done("status")).isEqualTo("not running");
    }

    @Test
    void theServerRunsAsLongAsTheSampler() {
        String text = done("start,http=0");
        assertThat(text.substring(text.indexOf("page at "))).matches("page at http://127\\.0\\.0\\.1:\\d+/");
        done("stop");
        try (ReservedPort port = new ReservedPort()) {
            String page = "page at http://127.0.0.1:" + port.number() + "/";
            for (int i = 0; i < 2; i++) {
                assertThat(done("start,http=" + port.number())).endsWith(page);
                done("stop");
            }
        }
    }

    @Test
    void theServersPathForModelsIsAnOption() throws Exception {
        String page = done("start,http=0,mcp=true").replaceFirst("(?s).*page at (\\S+).*", "$1");
        HttpRequest ping = HttpRequest.newBuilder(URI.create(page + "mcp"))
                .header("Content-Type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}"))
                .build();
        assertThat(HttpClient.newHttpClient()
                        .send(ping, HttpResponse.BodyHandlers.ofString())
                        .body())
                .isEqualTo("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}");
    }

    /** A command line that is killed before it connects. */
    @Test
    void aSessionThatStopEndsLeavesNoSocket() {
        Answer answer = command("mcp,interval=5ms");
        Path socket = Path.of(Objects.requireNonNull(answer.content(), answer.text()));
        assertThat(socket).exists();
        assertThat(done("status")).startsWith("runs since ");
        done("stop");
        patiently().until(() -> Files.notExists(socket.getParent()));
        assertThat(done("status")).isEqualTo("not running");
    }

    @Test
    void aPortThatIsTakenLeavesAnOlderReportAsItWas() throws Exception {
        Path file = Files.writeString(folder.resolve("x.html"), "older");
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            assertThat(refused("start,interval=5ms,http=" + taken.getLocalPort() + ",file=" + file))
                    .startsWith("http: ");
        }
        assertThat(file).hasContent("older");
        assertThat(done("status")).isEqualTo("not running");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "start,interval=10us | samplingFrequencyMillis must be a time such as 20ms, 10s, 5m or 1h, got \"10us\"",
                "start,every=1500ms | reportFrequencySeconds must be whole seconds, got \"1500ms\"",
                "start,every=10s | every has no place for its reports: name a file, or push=URL, to=log, to=stdout",
                "start,interval=99999999999999999999h | samplingFrequencyMillis must be a time such as",
                "start,maxDepthFrames=99999999999 | maxDepthFrames must be between 16 and 65536, got 2147483647",
                "start,clock=sun | clock must be one of WALL, CPU, got \"sun\"",
                "start,active=yes | active must be true or false, got \"yes\"",
                "start,overheadLimitPercent=much | overheadLimitPercent must be a number, got \"much\"",
                "start,format=html | format needs to=file, got to=none",
                "start,file=x.html,format=paper | format must be one of text, collapsed, pprof, speedscope, json, top,",
                "start,file=x.html,keep=0 | maxFiles must be between 1 and 1000000, got 0",
                "start,file=x.html,keep=many | keep must be a number of files, got \"many\"",
                "start,to=paper | to must be one of file, log, stdout, none, got \"paper\"",
                "start,output=log | output is a file, got \"log\": the place is to=log, and a file of that name ./log",
                "start,file=x.html,to=log | file needs to=file, got to=log",
                "start,threads=( | threads must be a regular expression, got \"(\":",
                "start,http=99999 | http must be a port between 0 and 65535, got \"99999\"",
                "start,mcp=true | mcp needs http=PORT: it is a path of the server",
                "start,http=0,mcp=yes | mcp must be true or false, got \"yes\"",
                "run,mcp=true,content=top | mcp has no meaning with run",
                "mcp,file=x.html | file has no meaning with mcp",
                "mcp,every=1s | reportFrequencySeconds has no meaning with mcp",
                "mcp,threads=( | threads must be a regular expression, got \"(\":",
                "start,config=/nowhere/x | config /nowhere/x cannot be read:",
                "start,interval=1ms,interval=2ms | interval is there twice: 1ms and 2ms",
                "start,interval | interval has no value: write interval=VALUE, or interval:VALUE for jcmd",
                "start,nothing | \"nothing\" is not KEY=VALUE",
                "interval | interval has no value: write interval=VALUE, or interval:VALUE for jcmd",
                "start,duration=1s | duration has no meaning with start",
                "start,samplingOutputer=x | there is no option \"samplingOutputer\";",
                "run,duration=0s,content=top | duration must be between 1ms and 1d, got \"0s\"",
                "run,duration=1s | run needs a file",
                "run,duration=1s,every=1s,content=top | reportFrequencySeconds has no meaning with run",
                "status,file=x | file has no meaning with status",
            })
    void aCommandWithAWrongOptionIsRefusedAsAWhole(String options, String message) {
        assertThat(refused(options)).contains(message);
        assertThat(done("status")).isEqualTo("not running");
    }

    @Test
    void tenRoundsLeaveNothing() throws Exception {
        done("start,interval=5ms");
        done("stop");
        NothingLeft.assertNothingLeft();
        Set<Thread> before = threads();
        int files = NothingLeft.fileDescriptors();
        for (int round = 0; round < 10; round++) {
            done("start,interval=5ms,file=" + folder + "/round.html");
            done("stop");
        }
        NothingLeft.assertNothingLeft();
        Set<Thread> more = threads();
        more.removeAll(before);
        assertThat(more).noneMatch(thread -> thread.getName().startsWith("threads-sampler"));
        patiently()
                .untilAsserted(() -> assertThat(NothingLeft.fileDescriptors()).isLessThanOrEqualTo(files));
    }

    private static Set<Thread> threads() {
        return new HashSet<>(Thread.getAllStackTraces().keySet());
    }
}

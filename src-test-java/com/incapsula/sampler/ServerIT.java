// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import static com.incapsula.sampler.testing.Samplers.awaitSeen;
import static com.incapsula.sampler.testing.Samplers.awaitTicks;
import static org.assertj.core.api.Assertions.assertThat;

import com.incapsula.sampler.outputer.PrintStreamSamplingOutputer;
import com.incapsula.sampler.testing.Samplers;
import com.incapsula.sampler.testing.Tool;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The server of a real sampler, read by common tools ({@link Tool}). A new version of go compiles its pprof at the
 * first use.
 */
@Timeout(Samplers.HANG_SECONDS)
class ServerIT {

    @TempDir
    private Path folder;

    private final ThreadsSampler sampler = new ThreadsSampler();
    private final ThreadsSamplerServer server = new ThreadsSamplerServer();
    private volatile boolean done;
    private Thread worker;

    @BeforeEach
    void start() {
        worker = new Thread(this::compute, "server-it-worker");
        worker.setDaemon(true);
        worker.start();
        sampler.setSamplingFrequencyMillis(5);
        sampler.setReportFrequencySeconds(0);
        sampler.setSamplingOutputer(new PrintStreamSamplingOutputer(new PrintStream(OutputStream.nullOutputStream())));
        sampler.init();
        server.setSampler(sampler);
        server.setToken("s3cret");
        server.init();
    }

    @AfterEach
    void stop() throws Exception {
        server.close();
        sampler.close();
        done = true;
        worker.join();
    }

    private void compute() {
        int x = 1;
        while (!done) {
            x ^= x << 13; // no operation for which the JVM calls a stub, because the stub would be the hot line
            x ^= x >>> 17;
            x ^= x << 5;
            if (x == 0) {
                throw new AssertionError();
            }
        }
    }

    private String run(List<String> command) throws IOException, InterruptedException {
        ProcessBuilder builder =
                new ProcessBuilder(command).redirectErrorStream(true).directory(folder.toFile());
        builder.environment().put("PPROF_TMPDIR", folder.toString());
        Process process = builder.start();
        process.getOutputStream().close();
        String output = new String(process.getInputStream().readAllBytes());
        assertThat(process.waitFor(250, TimeUnit.SECONDS)).as(output).isTrue();
        assertThat(process.exitValue()).as(output).isZero();
        return output;
    }

    private String url(String path) {
        return server.getUrl().resolve(path).toString();
    }

    private String withToken(String path) {
        return url(path).replace("http://", "http://any:s3cret@");
    }

    private String curl(String... arguments) throws Exception {
        List<String> command =
                new ArrayList<>(List.of(Tool.find("curl"), "--silent", "--show-error", "--noproxy", "*"));
        command.addAll(List.of(arguments));
        return run(command);
    }

    @Test
    void curlGetsEveryForm() throws Exception {
        String bearer = "Authorization: Bearer s3cret";
        awaitSeen(sampler, "server-it-worker", "ServerIT.compute");
        assertThat(curl("-H", bearer, url("/")))
                .startsWith("<!DOCTYPE html>")
                .contains("{\"format\":\"threads-sampler/1\"");
        assertThat(curl("-H", bearer, url("/report.txt")))
                .startsWith("\nReport interval: from ")
                .contains("Aggregated thread: server-it-worker.");
        assertThat(curl("-H", bearer, url("/collapsed"))).contains("server-it-worker;");
        assertThat(curl("-H", bearer, url("/profile.json"))).contains("speedscope.app/file-format-schema.json");
        assertThat(curl("-H", bearer, url("/report.json"))).startsWith("{\"format\":\"threads-sampler/1\"");
        assertThat(curl("-H", bearer, url("/top.txt"))).startsWith("Summary.\n").contains("ServerIT.compute");
        assertThat(curl("-u", "any:s3cret", url("/top.txt"))).startsWith("Summary.\n");
    }

    @Test
    void curlIsRefusedWhereItShouldBe() throws Exception {
        String status = "%{http_code}";
        assertThat(curl("-o", "out", "-w", status, url("/"))).isEqualTo("401");
        assertThat(curl("-o", "out", "-w", status, "-H", "Host: evil.example", url("/")))
                .isEqualTo("421");
        assertThat(curl("-o", "out", "-w", status, "-X", "POST", url("/"))).isEqualTo("405");
        assertThat(curl("-o", "out", "-w", status, "--path-as-is", "-u", "x:s3cret", url("/") + "../../etc/passwd"))
                .isEqualTo("404");
        assertThat(curl("-o", "out", "-w", status, "--http2", "-u", "x:s3cret", url("/top.txt")))
                .isEqualTo("200");
    }

    @Test
    void curlLearnsWhenToRetry() throws Exception {
        String profile = url("/debug/pprof/profile?seconds=60"); // both commands start meanwhile
        Process first = new ProcessBuilder(
                        Tool.find("curl"), "--silent", "-N", "--noproxy", "*", "-u", "x:s3cret", profile)
                .start();
        try {
            assertThat(first.getInputStream().read())
                    .as("the first byte comes as soon as it is its turn")
                    .isEqualTo(0x1f);
            String second = curl("-D", "-", "-o", "out", "-u", "x:s3cret", url("/debug/pprof/profile?seconds=1"));
            assertThat(second).startsWith("HTTP/1.1 429 ");
            assertThat(second.toLowerCase(Locale.ROOT)).containsPattern("\nretry-after: [1-9]\\d*\r?\n");
        } finally {
            first.destroy();
            first.waitFor();
        }
    }

    @Test
    void goToolPprofTakesAProfile() throws Exception {
        /* From now on the worker's time is in its method, even if it has no CPU for the whole profile. */
        awaitSeen(sampler, "server-it-worker", "ServerIT.compute");
        String output = run(List.of(
                Tool.find("go"),
                "tool",
                "pprof",
                "-top",
                "-nodecount=1000",
                "-sample_index=wall",
                withToken("/debug/pprof/profile?seconds=2")));
        assertThat(output)
                .contains("Type: wall")
                .contains("com.incapsula.sampler.ServerIT.compute")
                .doesNotContain("HttpFront");
        Matcher duration = Pattern.compile("Duration: ([0-9.]+)s").matcher(output);
        assertThat(duration.find()).as(output).isTrue();
        assertThat(Double.parseDouble(duration.group(1))).isGreaterThanOrEqualTo(1.9);
    }

    @Test
    void goToolPprofReadsFilesAndTheirDifference() throws Exception {
        String go = Tool.find("go");
        try (SamplingReport first = sampler.snapshot()) {
            awaitTicks(sampler, 20);
            try (SamplingReport second = sampler.snapshot()) {
                first.writeTo(ReportFormat.PPROF, folder.resolve("a.pb.gz"));
                second.writeTo(ReportFormat.PPROF, folder.resolve("b.pb.gz"));
                assertThat(sumOfWall(run(List.of(go, "tool", "pprof", "-raw", "b.pb.gz"))))
                        .isEqualTo(second.getWallNanos());
                assertThat(sumOfWall(run(List.of(go, "tool", "pprof", "-raw", "a.pb.gz", "b.pb.gz"))))
                        .isEqualTo(first.getWallNanos() + second.getWallNanos());
                assertThat(run(List.of(
                                go, "tool", "pprof", "-top", "-sample_index=wall", "-diff_base=a.pb.gz", "b.pb.gz")))
                        .contains("Showing nodes accounting for");
            }
        }
    }

    /** Lines between "Samples:" and "Locations" are "  NUMBERS wall: locations", with a number for each sample type. */
    private static long sumOfWall(String raw) {
        return raw.lines()
                .dropWhile(line -> !line.startsWith("Samples:"))
                .takeWhile(line -> !line.equals("Locations"))
                .filter(line -> line.matches("( *\\d+)+: .*"))
                .map(line -> line.substring(0, line.indexOf(':')))
                .mapToLong(numbers -> Long.parseLong(numbers.substring(numbers.lastIndexOf(' ') + 1)))
                .sum();
    }

    @Test
    void noThreadOfTheServerIsInItsReports() throws Exception {
        for (int i = 0; i < 5; i++) {
            curl("-u", "x:s3cret", url("/report.json"));
        }
        List<String> alive = Thread.getAllStackTraces().keySet().stream()
                .map(Thread::getName)
                .toList();
        assertThat(alive).anyMatch(name -> name.startsWith("threads-sampler-http"));
        try (SamplingReport report = sampler.snapshot()) {
            assertThat(report.getGroups())
                    .extracting(SamplingGroup::getName)
                    .noneMatch(name -> name.startsWith("threads-sampler-http"));
        }
    }
}

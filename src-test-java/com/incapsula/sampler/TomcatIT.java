// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import static org.assertj.core.api.Assertions.assertThat;

import com.incapsula.sampler.testing.AgentJar;
import com.incapsula.sampler.testing.ChildJvm;
import com.incapsula.sampler.testing.Samplers;
import com.incapsula.sampler.testing.TomcatProgram;
import jakarta.annotation.Resource;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.catalina.startup.Tomcat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Web applications with their own copies of the library, and an agent that starts and stops. */
class TomcatIT {

    private static final HttpClient CLIENT = HttpClient.newHttpClient();

    @TempDir
    Path folder;

    private Path jar;
    private ChildJvm.Running server;
    private String process;
    private int port;
    private int deployments;

    private String report(String application) throws IOException, InterruptedException {
        URI uri = URI.create("http://localhost:" + port + "/" + application + "/");
        HttpResponse<String> response =
                CLIENT.send(HttpRequest.newBuilder(uri).build(), HttpResponse.BodyHandlers.ofString());
        assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
        return response.body();
    }

    /* Each application sees the threads of both in what is sampled from now on. */
    private void assertBothReport() throws Exception {
        for (String application : new String[] {"one", "two"}) {
            report(application);
            StringBuilder since = new StringBuilder();
            Samplers.patiently()
                    .untilAsserted(() -> assertThat(since.append(report(application)))
                            .contains("one-worker;")
                            .contains("two-worker;"));
        }
    }

    private void agent(String... arguments) throws Exception {
        ChildJvm.bare("-jar " + jar).run(arguments).assertFine();
    }

    private void deployAgain(String application) throws IOException {
        server.process().getOutputStream().write((application + "\n").getBytes(StandardCharsets.UTF_8));
        server.process().getOutputStream().flush();
        deployments++;
        server.awaitOutput("deployment " + deployments + "\n");
    }

    private void startServer() throws IOException {
        jar = AgentJar.in(folder);
        server = ChildJvm.bare(TomcatProgram.class.getName())
                .with(TomcatProgram.class, Tomcat.class, Resource.class)
                .option("-XX:+EnableDynamicAgentLoading")
                .start(
                        jar.toString(),
                        Files.createDirectory(folder.resolve("server")).toString())
                .awaitOutput("\nready\n");
        process = String.valueOf(server.process().pid());
        port = Integer.parseInt(server.output().replaceFirst("(?s).*port (\\d+)\n.*", "$1"));
    }

    @Test
    void applicationsAndAgentSampleTogether() throws Exception {
        startServer();
        assertBothReport();

        Path first = folder.resolve("first.collapsed");
        agent("start", process, "-i", "5ms", "-o", first.toString());
        assertBothReport();
        agent("stop", process);
        assertThat(first).content().contains("one-worker;").contains("two-worker;");
        assertBothReport();

        Path second = folder.resolve("second.collapsed");
        deployAgain("one");
        agent("start", process, "-i", "5ms", "-o", second.toString());
        deployAgain("one");
        deployAgain("two");
        assertBothReport();
        agent("stop", process);
        assertThat(second).content().contains("one-worker;").contains("two-worker;");
        deployAgain("two");
        assertBothReport();

        server.process().getOutputStream().close();
        assertThat(server.await().assertFine().output()).endsWith("end of main\n");
    }
}

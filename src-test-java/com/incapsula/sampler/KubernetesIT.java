// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import static com.incapsula.sampler.testing.Samplers.patiently;
import static org.assertj.core.api.Assertions.assertThat;

import com.incapsula.sampler.internal.engine.PatientExit;
import com.incapsula.sampler.testing.AgentJar;
import com.incapsula.sampler.testing.Container;
import com.incapsula.sampler.testing.PprofFile;
import com.incapsula.sampler.testing.Preload;
import com.incapsula.sampler.testing.PushRequest;
import com.incapsula.sampler.testing.PushServer;
import com.incapsula.sampler.testing.Samplers;
import com.incapsula.sampler.testing.UnawareProgram;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.jar.Attributes;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.dataformat.yaml.YAMLMapper;

/**
 * Runs the manifest in examples/kubernetes: its commands and its environment, as its user, in a container as it
 * describes. Only folders, the server's address and the values that a cluster fills in are replaced.
 */
@Timeout(Samplers.HANG_SECONDS)
class KubernetesIT {

    private static final Path MANIFEST = Path.of("examples", "kubernetes", "deployment.yaml");
    private static final int SIGTERM_EXIT = 128 + 15;
    private static final long WORK_MILLIS = 200;

    private static final Pattern MESSAGE = Pattern.compile("(?m)^threads-sampler: .*\n");

    private static final Map<String, String> OF_THE_CLUSTER = Map.of(
            "metadata.name", "orders-7d4b9c-x2x5f",
            "metadata.namespace", "shop");

    /* The file system of the image, with what the manifest's commands need. */
    @TempDir
    Path image;

    /* The emptyDir volume. */
    @TempDir
    Path agent;

    private final PushServer server = new PushServer();
    private JsonNode pod;

    @BeforeEach
    void readManifest() throws Exception {
        JsonNode deployment = new YAMLMapper().readTree(Files.readString(MANIFEST));
        assertThat(text(deployment, "kind")).isEqualTo("Deployment");
        pod = deployment.get("spec").get("template").get("spec");
        Files.setPosixFilePermissions(image, PosixFilePermissions.fromString("rwxr-xr-x"));
        Files.setPosixFilePermissions(agent, PosixFilePermissions.fromString("rwxrwxrwx")); // the mode of an emptyDir
        AgentJar.in(image);
        AgentJar.ofPatience(image);
        writeApplication(image.resolve("app.jar"));
        Preload.compile("container_filter.c", image);
        Container.require(container());
    }

    @AfterEach
    void close() {
        server.close();
    }

    private static void writeApplication(Path jar) throws IOException {
        Manifest manifest = new Manifest();
        manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
        manifest.getMainAttributes().put(Attributes.Name.MAIN_CLASS, UnawareProgram.class.getName());
        try (JarOutputStream out = new JarOutputStream(Files.newOutputStream(jar), manifest)) {
            for (Class<?> type : List.of(UnawareProgram.class, AgentJar.class, PatientExit.class)) {
                String name = type.getName().replace('.', '/') + ".class";
                out.putNextEntry(new JarEntry(name));
                try (InputStream bytes = type.getClassLoader().getResourceAsStream(name)) {
                    Objects.requireNonNull(bytes, name).transferTo(out);
                }
            }
        }
    }

    // ---- the settings ----

    private static String text(JsonNode node, String field) {
        return node.get(field).asString();
    }

    private static List<JsonNode> list(JsonNode nodes) {
        List<JsonNode> all = new ArrayList<>();
        nodes.forEach(all::add);
        return all;
    }

    private static List<String> texts(JsonNode nodes) {
        return list(nodes).stream().map(JsonNode::asString).toList();
    }

    private List<JsonNode> containers() {
        List<JsonNode> all = list(pod.get("initContainers"));
        all.addAll(list(pod.get("containers")));
        return all;
    }

    @Test
    void itAsksForNoRight() {
        assertThat(pod.get("securityContext").get("runAsNonRoot").asBoolean()).isTrue();
        assertThat(text(pod.get("securityContext").get("seccompProfile"), "type"))
                .isEqualTo("RuntimeDefault");
        assertThat(pod.propertyNames()).doesNotContain("hostPID", "hostNetwork", "hostIPC", "shareProcessNamespace");
        assertThat(containers()).hasSize(2).allSatisfy(container -> {
            JsonNode security = container.get("securityContext");
            assertThat(security.propertyNames())
                    .containsExactlyInAnyOrder("allowPrivilegeEscalation", "readOnlyRootFilesystem", "capabilities");
            assertThat(security.get("allowPrivilegeEscalation").asBoolean()).isFalse();
            assertThat(security.get("readOnlyRootFilesystem").asBoolean()).isTrue();
            assertThat(security.get("capabilities").toString()).isEqualTo("{\"drop\":[\"ALL\"]}");
            assertThat(container.get("resources").get("limits").propertyNames())
                    .containsExactlyInAnyOrder("cpu", "memory");
        });
    }

    @Test
    void theFolderOfTheAgentIsMountedInBoth() {
        assertThat(list(pod.get("volumes"))).singleElement().satisfies(volume -> {
            assertThat(text(volume, "name")).isEqualTo("agent");
            assertThat(volume.propertyNames()).containsExactlyInAnyOrder("name", "emptyDir");
        });
        assertThat(containers())
                .allSatisfy(
                        container -> assertThat(container.get("volumeMounts").toString())
                                .isEqualTo("[{\"name\":\"agent\",\"mountPath\":\"/agent\"}]"));
    }

    // ---- a run ----

    private List<String> container() throws IOException {
        JsonNode user = pod.get("securityContext");
        return Container.as(
                agent, user.get("runAsUser").asInt(), user.get("runAsGroup").asInt());
    }

    private String here(String text) {
        return text.replaceFirst("^/threads-sampler.jar$", image + "/threads-sampler.jar")
                .replaceFirst("^/app/", image + "/")
                .replace("/agent", agent.toString())
                .replace("//pyroscope:4040", "//" + server.address());
    }

    /* The container's environment. A variable may refer to those before it. */
    private Map<String, String> environment(JsonNode container) {
        Map<String, String> all = new LinkedHashMap<>();
        for (JsonNode variable : container.path("env")) {
            String value = variable.has("value")
                    ? here(text(variable, "value"))
                    : OF_THE_CLUSTER.get(text(variable.get("valueFrom").get("fieldRef"), "fieldPath"));
            for (Map.Entry<String, String> before : all.entrySet()) {
                value = value.replace("$(" + before.getKey() + ")", before.getValue());
            }
            assertThat(value).doesNotContain("$(");
            all.put(text(variable, "name"), value);
        }
        return all;
    }

    private Process start(JsonNode container, List<String> options, String... environment) throws IOException {
        List<String> command = new ArrayList<>(container());
        List<String> ofContainer = texts(container.get("command"));
        command.add(
                ofContainer.get(0).equals("java") ? System.getProperty("java.home") + "/bin/java" : ofContainer.get(0));
        command.addAll(options);
        ofContainer.stream().skip(1).map(this::here).forEach(command::add);
        ProcessBuilder builder = new ProcessBuilder(command).directory(image.toFile());
        builder.redirectError(image.resolve("err.txt").toFile());
        builder.environment().keySet().removeIf(name -> !name.equals("PATH"));
        builder.environment().put("HOME", "/");
        builder.environment().putAll(environment(container));
        for (int i = 0; i < environment.length; i += 2) {
            builder.environment().put(environment[i], environment[i + 1]);
        }
        return builder.start();
    }

    private String errors() throws IOException {
        return Files.readString(image.resolve("err.txt"));
    }

    /** The last report is sent at SIGTERM, and standard error has no warning. */
    @Test
    void aProfileArrivesAndNothingWarns() throws Exception {
        Process copy = start(pod.get("initContainers").get(0), List.of());
        assertThat(copy.waitFor()).as(errors()).isZero();
        assertThat(agent).isDirectoryContaining(file -> file.endsWith("threads-sampler.jar"));

        Process jvm = start(
                pod.get("containers").get(0),
                List.of("-javaagent:" + image.resolve("patience.jar")),
                "LD_PRELOAD",
                image.resolve("container_filter.so").toString());
        try {
            patiently().until(() -> MESSAGE.matcher(errors()).find() || !jvm.isAlive());
            assertThat(errors()).contains("threads-sampler: runs since ");
            assertThat(jvm.inputReader().readLine()).isEqualTo("ready");
            Container.assertContained(jvm.toHandle());
            assertThat((Integer) Files.getAttribute(Path.of("/proc", String.valueOf(jvm.pid())), "unix:uid"))
                    .as("its user")
                    .isNotZero();
            long enough = cpuMillis(jvm) + WORK_MILLIS; // the worker computes for a tenth of the time, so it is sampled
            patiently().until(() -> cpuMillis(jvm) >= enough);
            jvm.destroy(); // SIGTERM
            assertThat(jvm.waitFor()).as(errors()).isEqualTo(SIGTERM_EXIT);
        } finally {
            jvm.destroyForcibly().waitFor();
        }
        assertThat(errors().lines())
                .allMatch(line -> line.startsWith("Picked up JAVA_TOOL_OPTIONS: -javaagent:")
                        || line.startsWith("threads-sampler: runs since "));
        assertThat(server.received()).as(errors()).isNotEmpty();
        server.received().forEach(KubernetesIT::assertProfile);
    }

    private static long cpuMillis(Process process) {
        return process.toHandle()
                .info()
                .totalCpuDuration()
                .map(Duration::toMillis)
                .orElse(Long.MAX_VALUE);
    }

    private static void assertProfile(PushServer.Received received) {
        try {
            assertThat(received.path()).isEqualTo("/push.v1.PusherService/Push");
            PushRequest request = PushRequest.read(received.body()).get(0);
            assertThat(request.labels())
                    .containsEntry("service_name", "orders")
                    .containsEntry("service_instance_id", "orders-7d4b9c-x2x5f")
                    .containsEntry("service_namespace", "shop");
            PprofFile profile = new PprofFile(request.profile());
            assertThat(profile.isCanonical()).isTrue();
            assertThat(profile.samples())
                    .anySatisfy(sample -> assertThat(sample.frames())
                            .anySatisfy(frame -> assertThat(frame).contains(UnawareProgram.class.getName() + ".work")));
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.remote;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.entry;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Names and attributes from the environment and from the user, and their format there. */
class ServiceIdentityTest {

    private final List<String> warnings = new ArrayList<>();

    private ServiceIdentity identity(String name, String chosen, Map<String, String> environment) {
        return ServiceIdentity.of(name, KeyValues.parse("resourceAttributes", chosen), environment, warnings::add);
    }

    @Test
    void theUsersValuesWinOverTheEnvironment() {
        Map<String, String> environment = Map.of(
                "OTEL_SERVICE_NAME", "named",
                "OTEL_RESOURCE_ATTRIBUTES", "service.name=attribute,service.version=1,a.b=x%2Cy");
        assertThat(identity("user", "service.version=2", environment).attributes())
                .containsEntry("service.name", "user")
                .containsEntry("service.version", "2")
                .containsEntry("a.b", "x,y");
        assertThat(identity(null, "", environment).attributes()).containsEntry("service.name", "named");
        assertThat(identity(null, "", Map.of("OTEL_RESOURCE_ATTRIBUTES", "service.name=attribute"))
                        .attributes())
                .containsEntry("service.name", "attribute");
        assertThat(identity(null, "service.name=chosen,service.instance.id=i", environment)
                        .attributes())
                .contains(entry("service.name", "chosen"), entry("service.instance.id", "i"));
        assertThat(warnings).isEmpty();
    }

    @Test
    void withoutAnyThereAreTheProgramAndTheProcess() {
        Map<String, String> attributes = identity(null, "", Map.of()).attributes();
        assertThat(attributes).containsOnlyKeys("service.name", "service.instance.id");
        assertThat(attributes.get("service.name")).doesNotContain(" ", "/").isNotEmpty();
        assertThat(attributes.get("service.instance.id"))
                .endsWith(":" + ProcessHandle.current().pid());
    }

    @Test
    void theOldAttributeOfTheEnvironmentIsRenamed() {
        assertThat(identity("s", "deployment.environment=test", Map.of()).attributes())
                .containsEntry("deployment.environment.name", "test")
                .doesNotContainKey("deployment.environment");
        assertThat(identity("s", "deployment.environment=old,deployment.environment.name=new", Map.of())
                        .attributes())
                .containsEntry("deployment.environment.name", "new")
                .doesNotContainKey("deployment.environment");
    }

    @Test
    void theOldNameOfASourceIsBeforeTheNewOneOfALesserSource() {
        Map<String, String> environment =
                Map.of("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=of-the-environment");
        assertThat(identity("s", "deployment.environment=chosen", environment).attributes())
                .containsEntry("deployment.environment.name", "chosen")
                .doesNotContainKey("deployment.environment");
    }

    @Test
    void hostAndProcessAreDetectedUnlessTheyAreChosen() {
        Map<String, Object> detected = identity("s", "", Map.of()).detected();
        assertThat(detected)
                .containsEntry("process.pid", ProcessHandle.current().pid())
                .containsEntry("os.type", "linux")
                .containsKeys("host.name", "host.arch", "process.runtime.name", "process.runtime.version");
        assertThat(identity("s", "host.name=mine,process.pid=1", Map.of()).detected())
                .doesNotContainKeys("host.name", "process.pid")
                .containsKey("host.arch");
        String many = IntStream.range(0, 30).mapToObj(i -> "k" + i + "=v").collect(Collectors.joining(","));
        assertThat(identity("s", many, Map.of()).detected()).isEmpty();
        String some = IntStream.range(0, 20).mapToObj(i -> "k" + i + "=v").collect(Collectors.joining(","));
        assertThat(identity("s", some, Map.of()).detected()).hasSize(2);
    }

    @Test
    void labelsHaveUnderscores() {
        assertThat(identity("s", "service.instance.id=i,deployment.environment.name=test,9x=y,a-b=1,a.b=2", Map.of())
                        .labels())
                .isEqualTo(Map.of(
                        "service_name", "s",
                        "service_instance_id", "i",
                        "deployment_environment_name", "test",
                        "_9x", "y",
                        "a_b", "1"));
    }

    @Test
    void thereIsALimit() {
        String many = IntStream.range(0, 30).mapToObj(i -> "k" + i + "=v").collect(Collectors.joining(","));
        assertThat(identity("s", many, Map.of()).attributes())
                .hasSize(ServiceIdentity.MAX_ATTRIBUTES)
                .containsKeys("service.name", "k21")
                .doesNotContainKey("k22");
        assertThat(warnings)
                .containsExactly("of the resource's attributes only 24 are sent, without [k22, k23, k24, k25, k26, k27,"
                        + " k28, k29]");
        assertThat(identity("x".repeat(5_000), "", Map.of()).attributes().get("service.name"))
                .hasSize(ServiceIdentity.MAX_VALUE_CHARS);
    }

    @Test
    void anEnvironmentThatIsWrongIsNamedAndIgnored() {
        assertThat(identity("s", "", Map.of("OTEL_RESOURCE_ATTRIBUTES", "a=%zz"))
                        .attributes())
                .containsOnlyKeys("service.name", "service.instance.id");
        assertThat(warnings)
                .containsExactly(
                        "OTEL_RESOURCE_ATTRIBUTES must be in percent encoding, which the value of \"a\" is not;"
                                + " it is ignored");
    }

    @Test
    void listsAreReadAsOpenTelemetryWritesThem() {
        assertThat(KeyValues.parse("p", " a = 1 ,, b=x=y,c=,a=2+3%20"))
                .isEqualTo(new LinkedHashMap<>(Map.of("a", "2+3 ", "b", "x=y", "c", "")));
        assertThat(KeyValues.parse("p", "")).isEmpty();
        for (String wrong : List.of("secret", "a=1,secret", "=secret", " =secret")) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> KeyValues.parse("p", wrong))
                    .withMessage("p must be key=value pairs separated by commas, got a part without a key or without"
                            + " \"=\"");
        }
    }
}

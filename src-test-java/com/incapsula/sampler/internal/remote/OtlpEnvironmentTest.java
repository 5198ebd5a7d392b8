// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.remote;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The variables of profiles take precedence over those of all signals, and headers are not sent to other hosts. */
class OtlpEnvironmentTest {

    private static final URI TARGET = URI.create("http://collector:4318/v1development/profiles");

    private final List<String> warnings = new ArrayList<>();

    private OtlpEnvironment environment(String... pairs) {
        Map<String, String> variables = new HashMap<>();
        for (int i = 0; i < pairs.length; i += 2) {
            variables.put("OTEL_EXPORTER_OTLP_" + pairs[i], pairs[i + 1]);
        }
        return new OtlpEnvironment(variables, warnings::add);
    }

    private static Map<String, String> headers(OtlpEnvironment environment) {
        return environment.headers(TARGET, list -> KeyValues.parse("headers", list));
    }

    @Test
    void anEndpointOfProfilesIsUsedAsItIsAndTheGeneralOneIsABase() {
        Endpoint general = environment("ENDPOINT", "https://all:4318/base").endpoint();
        assertThat(general.uri()).hasToString("https://all:4318/base/v1development/profiles");
        Endpoint own = environment("ENDPOINT", "https://all:4318", "PROFILES_ENDPOINT", "http://u:p@own:1/x")
                .endpoint();
        assertThat(own.uri()).hasToString("http://own:1/x");
        assertThat(own.authorization()).startsWith("Basic ");
        assertThat(environment("PROFILES_ENDPOINT", "http://own:1").endpoint().uri())
                .hasToString("http://own:1/");
        assertThat(environment().endpoint()).isNull();
        assertThat(warnings).isEmpty();
    }

    @Test
    void aWrongEndpointIsNamedOnceAndIgnored() {
        OtlpEnvironment wrong = environment("PROFILES_ENDPOINT", "collector:4317", "ENDPOINT", "http://all");
        assertThat(wrong.endpoint().uri()).hasHost("all");
        assertThat(wrong.endpoint().uri()).hasHost("all");
        assertThat(warnings).singleElement().asString().startsWith("OTEL_EXPORTER_OTLP_PROFILES_ENDPOINT is ignored: ");
    }

    @Test
    void theHeadersOfProfilesComeFirst() {
        assertThat(headers(environment("HEADERS", "a=1"))).isEqualTo(Map.of("a", "1"));
        assertThat(headers(environment("HEADERS", "a=1", "PROFILES_HEADERS", "b=2")))
                .isEqualTo(Map.of("b", "2"));
        assertThat(headers(environment())).isEmpty();
        assertThat(warnings).isEmpty();
    }

    @Test
    void anotherHostGetsNoHeader() {
        assertThat(headers(environment("HEADERS", "a=1", "ENDPOINT", "http://COLLECTOR:4318")))
                .as("a host's name has no case")
                .isEqualTo(Map.of("a", "1"));
        assertThat(headers(environment("HEADERS", "a=1", "ENDPOINT", "http://vendor:4318")))
                .isEmpty();
        assertThat(headers(environment(
                        "HEADERS", "a=1", "ENDPOINT", "http://vendor", "PROFILES_ENDPOINT", "http://collector")))
                .as("the general header is for the general host")
                .isEmpty();
        assertThat(headers(environment("PROFILES_HEADERS", "a=1", "ENDPOINT", "http://vendor")))
                .isEmpty();
        assertThat(headers(environment(
                        "PROFILES_HEADERS",
                        "a=1",
                        "ENDPOINT",
                        "http://vendor",
                        "PROFILES_ENDPOINT",
                        "http://collector")))
                .isEqualTo(Map.of("a", "1"));
        assertThat(warnings)
                .contains(
                        "OTEL_EXPORTER_OTLP_HEADERS is ignored: it is for http://vendor:4318, and reports go to http://collector:4318");
    }

    @Test
    void anotherPortGetsNoHeaderWhereBothAreNamed() {
        assertThat(headers(environment("HEADERS", "a=1", "ENDPOINT", "http://collector:9999")))
                .isEmpty();
        assertThat(warnings).hasSize(1);
        assertThat(headers(environment("HEADERS", "a=1", "ENDPOINT", "http://collector:4317")))
                .as("gRPC of the same collector")
                .isEqualTo(Map.of("a", "1"));
        assertThat(headers(environment("HEADERS", "a=1", "ENDPOINT", "http://collector")))
                .isEqualTo(Map.of("a", "1"));
    }

    @Test
    void aHeaderForAServerThatCannotBeReadGoesToNone() {
        assertThat(headers(environment("HEADERS", "a=1", "ENDPOINT", "collector:4318")))
                .isEmpty();
        assertThat(warnings)
                .hasSize(2)
                .contains("OTEL_EXPORTER_OTLP_HEADERS is ignored: for which server it is cannot be read from"
                        + " OTEL_EXPORTER_OTLP_ENDPOINT");
        assertThat(headers(environment(
                        "PROFILES_HEADERS",
                        "a=1",
                        "PROFILES_ENDPOINT",
                        "https://under_score",
                        "ENDPOINT",
                        "http://collector")))
                .isEmpty();
        assertThat(headers(environment(
                        "HEADERS", "a=1", "TRACES_ENDPOINT", "http://collector", "LOGS_ENDPOINT", "vendor:4317")))
                .isEmpty();
        assertThat(warnings).noneMatch(warning -> warning.contains("a=1"));
    }

    @Test
    void theEndpointsOfOtherSignalsSayForWhomTheGeneralHeaderIs() {
        for (String signal : List.of("TRACES", "METRICS", "LOGS")) {
            warnings.clear();
            assertThat(headers(environment("HEADERS", "a=1", signal + "_ENDPOINT", "https://vendor/v1/x")))
                    .as(signal)
                    .isEmpty();
            assertThat(warnings).hasSize(1);
        }
        assertThat(headers(environment(
                        "HEADERS",
                        "a=1",
                        "TRACES_ENDPOINT",
                        "https://vendor/v1/traces",
                        "METRICS_ENDPOINT",
                        "http://collector:4318/v1/metrics")))
                .as("one of them is ours")
                .isEqualTo(Map.of("a", "1"));
        assertThat(headers(environment("PROFILES_HEADERS", "a=1", "TRACES_ENDPOINT", "https://vendor")))
                .as("a header for profiles")
                .isEqualTo(Map.of("a", "1"));
    }

    @Test
    void aHeaderForAnEncryptedConnectionIsNotSentInTheClear() {
        assertThat(headers(environment("HEADERS", "a=1", "ENDPOINT", "https://collector:4318")))
                .isEmpty();
        assertThat(warnings).hasSize(1);
        Map<String, String> encrypted = environment("HEADERS", "a=1", "ENDPOINT", "http://collector:4318")
                .headers(URI.create("https://collector:4318/"), list -> KeyValues.parse("headers", list));
        assertThat(encrypted).isEqualTo(Map.of("a", "1"));
    }

    @Test
    void aHeaderThatCannotBeSentIsNamedWithoutItsValue() {
        assertThat(headers(environment("HEADERS", "secret"))).isEmpty();
        assertThat(warnings)
                .singleElement()
                .asString()
                .startsWith("OTEL_EXPORTER_OTLP_HEADERS is ignored: ")
                .doesNotContain("secret");
    }

    @Test
    void theTimeOfProfilesComesFirst() {
        assertThat(environment("TIMEOUT", "2000").timeoutMillis(10_000)).isEqualTo(2000);
        assertThat(environment("TIMEOUT", "2000", "PROFILES_TIMEOUT", "3000").timeoutMillis(10_000))
                .isEqualTo(3000);
        assertThat(environment().timeoutMillis(10_000)).isNull();
        assertThat(warnings).isEmpty();
        assertThat(environment("TIMEOUT", "2s").timeoutMillis(10_000)).isNull();
        assertThat(environment("TIMEOUT", "10001").timeoutMillis(10_000)).isNull();
        assertThat(warnings)
                .containsExactly(
                        "OTEL_EXPORTER_OTLP_TIMEOUT is ignored: it must be between 1 and 10000",
                        "OTEL_EXPORTER_OTLP_TIMEOUT is ignored: it must be between 1 and 10000");
    }
}

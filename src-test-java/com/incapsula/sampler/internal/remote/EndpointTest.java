// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.remote;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import com.incapsula.sampler.remote.RemoteProtocol;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class EndpointTest {

    private static final String FORM =
            "url must be such as otlp+http://host:4318, pyroscope+http://host:4040 or http://host/path: ";

    @ParameterizedTest
    @CsvSource({
        "otlp+http://h:4318, OTLP, http://h:4318/v1development/profiles",
        "otlp+https://h/, OTLP, https://h/v1development/profiles",
        "OTLP+HTTP://h/base/, OTLP, http://h/base/v1development/profiles",
        "otlp+http://h/v1development/profiles, OTLP, http://h/v1development/profiles",
        "http://h/x/v1development/profiles, OTLP, http://h/x/v1development/profiles",
        "pyroscope+http://h:4040, PYROSCOPE, http://h:4040/push.v1.PusherService/Push",
        "pyroscope+https://[::1]:4040/p, PYROSCOPE, https://[::1]:4040/p/push.v1.PusherService/Push",
        "http://h/push.v1.PusherService/Push, PYROSCOPE, http://h/push.v1.PusherService/Push",
        "http://h, PPROF, http://h",
        "' http://h:80/any/%20path?key=a%26b ', PPROF, http://h:80/any/%20path?key=a%26b",
    })
    void schemeOrPathSayTheProtocol(String url, RemoteProtocol protocol, String uri) {
        Endpoint endpoint = Endpoint.of(url);
        assertThat(endpoint.protocol()).isEqualTo(protocol);
        assertThat(endpoint.uri()).hasToString(uri);
        assertThat(endpoint.authorization()).isNull();
    }

    @Test
    void userAndPasswordAreAHeader() {
        Endpoint endpoint = Endpoint.of("pyroscope+https://user:p%40ss@h");
        assertThat(endpoint.uri()).hasToString("https://h/push.v1.PusherService/Push");
        assertThat(endpoint.authorization()).isEqualTo("Basic dXNlcjpwQHNz");
    }

    @ParameterizedTest
    @CsvSource({
        "ftp://secret@h, 'the scheme is none of http, https, otlp+http, otlp+https, pyroscope+http, pyroscope+https'",
        "host:4318, 'the scheme is none of http, https, otlp+http, otlp+https, pyroscope+http, pyroscope+https'",
        "otlp+grpc://h, 'the scheme is none of http, https, otlp+http, otlp+https, pyroscope+http, pyroscope+https'",
        "http:///path, there is no host",
        "http://a_b/, 'the host''s name may have letters, digits, dots and hyphens only, and the port digits'",
        "otlp+http://otel_collector:4318, 'the host''s name may have letters, digits, dots and hyphens only'",
        "http://secret@h:x/, 'the host''s name may have letters, digits, dots and hyphens only, and the port digits'",
        "http://h:65536/, the port is not between 1 and 65535",
        "http://secret b/, Illegal character in authority",
        "'', 'the scheme is none of http, https, otlp+http, otlp+https, pyroscope+http, pyroscope+https'",
    })
    void aTextThatIsNotAUrlIsRefusedWithoutRepeatingIt(String url, String problem) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Endpoint.of(url))
                .withMessageStartingWith(FORM + problem)
                .withMessageNotContaining("secret");
    }

    @Test
    void messagesHaveNoQuery() {
        assertThat(Endpoint.shown(Endpoint.of("http://u:p@h:1/x?key=secret").uri()))
                .isEqualTo("http://h:1/x");
    }
}

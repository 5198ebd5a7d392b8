// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RequestGuardTest {

    private static RequestGuard at(String address, String token) throws UnknownHostException {
        return new RequestGuard(InetAddress.getByName(address), address, List.of("proxy.example"), token);
    }

    private static boolean isOurs(String address, String host) throws UnknownHostException {
        return at(address, null).isOurs(List.of(host));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "127.0.0.1",
                "127.0.0.1:7070",
                "localhost",
                "LocalHost:80",
                "[::1]:80",
                "proxy.example",
                "Proxy.Example:443",
                " localhost "
            })
    void namesOfTheLoopbackAddress(String host) throws UnknownHostException {
        assertThat(isOurs("127.0.0.1", host)).isTrue();
        assertThat(isOurs("::1", host)).isTrue();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "evil.example",
                "localhost.evil.example",
                "127.0.0.1.evil.example",
                "10.0.0.1",
                "localhost:80:80",
                "localhost:x",
                "localhost.",
                "127.0.0.1@evil.example",
                "proxy.example.evil.example"
            })
    void otherNames(String host) throws UnknownHostException {
        assertThat(isOurs("127.0.0.1", host)).isFalse();
    }

    @Test
    void anotherAddressGoesByItselfOnly() throws UnknownHostException {
        assertThat(isOurs("10.1.2.3", "10.1.2.3:80")).isTrue();
        assertThat(isOurs("10.1.2.3", "proxy.example")).isTrue();
        assertThat(isOurs("10.1.2.3", "localhost")).isFalse();
        assertThat(isOurs("10.1.2.3", "10.1.2.4")).isFalse();
        assertThat(isOurs("fe80:0:0:0:0:0:0:1", "[fe80:0:0:0:0:0:0:1]:80")).isTrue();
    }

    @Test
    void allAddressesGoByAnyAddressButNotByAnyName() throws UnknownHostException {
        assertThat(isOurs("0.0.0.0", "10.1.2.3:80")).isTrue();
        assertThat(isOurs("0.0.0.0", "[2001:db8::1]:80")).isTrue();
        assertThat(isOurs("0.0.0.0", "localhost")).isTrue();
        assertThat(isOurs("0.0.0.0", "evil.example")).isFalse();
        assertThat(isOurs("0.0.0.0", "1.2.3.4.evil.example")).isFalse();
    }

    @Test
    void oneNameIsNeeded() throws UnknownHostException {
        assertThat(at("127.0.0.1", null).isOurs(null)).isFalse();
        assertThat(at("127.0.0.1", null).isOurs(List.of())).isFalse();
        assertThat(at("127.0.0.1", null).isOurs(List.of("localhost", "localhost")))
                .isFalse();
    }

    private static String basic(String credentials) {
        return "Basic " + Base64.getEncoder().encodeToString(credentials.getBytes(StandardCharsets.UTF_8));
    }

    @Test
    void tokenAsBearerOrAsPassword() throws UnknownHostException {
        RequestGuard guard = at("127.0.0.1", "s3cret:x");
        for (String right : List.of("Bearer s3cret:x", "bearer  s3cret:x", basic("any:s3cret:x"), basic(":s3cret:x"))) {
            assertThat(guard.isAllowed(List.of(right))).as(right).isTrue();
        }
        for (String wrong : List.of(
                "",
                "Bearer",
                "Bearer s3cret",
                "Bearer s3cret:xy",
                "s3cret:x",
                "Digest s3cret:x",
                basic("s3cret:x"),
                "Basic ###",
                basic("any:"))) {
            assertThat(guard.isAllowed(List.of(wrong))).as(wrong).isFalse();
        }
        assertThat(guard.isAllowed(null)).isFalse();
        assertThat(guard.isAllowed(List.of("Bearer s3cret:x", "Bearer s3cret:x")))
                .isFalse();
    }

    @Test
    void aPageOfThisServerMayAskAndOthersMayNot() throws UnknownHostException {
        RequestGuard guard = at("127.0.0.1", null);
        assertThat(guard.isSameOrigin(null, "localhost:7070")).isTrue();
        assertThat(guard.isSameOrigin(List.of("http://LOCALHOST:7070"), "localhost:7070"))
                .isTrue();
        assertThat(guard.isSameOrigin(List.of("https://a.example"), "a.example"))
                .as("behind a proxy with encryption")
                .isTrue();
        for (String other :
                List.of("null", "", "http://localhost", "http://localhost:70700", "file://localhost:7070")) {
            assertThat(guard.isSameOrigin(List.of(other), "localhost:7070"))
                    .as(other)
                    .isFalse();
        }
        assertThat(guard.isSameOrigin(List.of("http://a", "http://b"), "a")).isFalse();
        assertThat(guard.isSameOrigin(List.of("http://null"), null)).isFalse();
    }

    @Test
    void withoutATokenEveryRequestIsAllowed() throws UnknownHostException {
        assertThat(at("127.0.0.1", null).isAllowed(null)).isTrue();
    }
}

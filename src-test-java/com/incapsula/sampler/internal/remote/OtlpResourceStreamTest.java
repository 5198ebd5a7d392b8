// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.remote;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;

import com.google.protobuf.ByteString;
import com.incapsula.sampler.internal.report.ProtobufMessage;
import io.opentelemetry.proto.common.v1.AnyValue;
import io.opentelemetry.proto.common.v1.InstrumentationScope;
import io.opentelemetry.proto.common.v1.KeyValue;
import io.opentelemetry.proto.profiles.v1development.Profile;
import io.opentelemetry.proto.profiles.v1development.ProfilesData;
import io.opentelemetry.proto.profiles.v1development.ProfilesDictionary;
import io.opentelemetry.proto.profiles.v1development.ResourceProfiles;
import io.opentelemetry.proto.profiles.v1development.ScopeProfiles;
import io.opentelemetry.proto.resource.v1.Resource;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class OtlpResourceStreamTest {

    private static final Resource RESOURCE = Resource.newBuilder()
            .addAttributes(KeyValue.newBuilder()
                    .setKey("service.name")
                    .setValue(AnyValue.newBuilder().setStringValue("x".repeat(200))))
            .build();

    private static final ProtobufMessage RESOURCE_MESSAGE = new ProtobufMessage()
            .put(1, new ProtobufMessage().put(1, "service.name").put(2, new ProtobufMessage().put(1, "x".repeat(200))));

    private static ProfilesData document(int payloadBytes) {
        return ProfilesData.newBuilder()
                .addResourceProfiles(ResourceProfiles.newBuilder()
                        .addScopeProfiles(ScopeProfiles.newBuilder()
                                .setScope(InstrumentationScope.newBuilder().setName("s"))
                                .addProfiles(Profile.newBuilder()
                                        .setOriginalPayload(ByteString.copyFrom(new byte[payloadBytes])))))
                .setDictionary(
                        ProfilesDictionary.newBuilder().addStringTable("").addStringTable("text"))
                .build();
    }

    private static ProfilesData read(byte[] document, int pieceBytes) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (OutputStream stream = new OtlpResourceStream(out, RESOURCE_MESSAGE)) {
            for (int at = 0; at < document.length; at += pieceBytes) {
                stream.write(document, at, Math.min(pieceBytes, document.length - at));
            }
        }
        return ProfilesData.parseFrom(out.toByteArray());
    }

    /** The lengths before and after take one, two and three bytes; the head arrives in one piece or in several. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 80, 100, 127, 128, 16_000, 16_300, 70_000})
    void theResourceStandsBeforeTheProfiles(int payloadBytes) throws IOException {
        ProfilesData plain = document(payloadBytes);
        ProfilesData.Builder expected = plain.toBuilder();
        expected.getResourceProfilesBuilder(0).setResource(RESOURCE);
        for (int pieceBytes : new int[] {1, 2, 3, 5, 64 * 1024}) {
            assertThat(read(plain.toByteArray(), pieceBytes)).isEqualTo(expected.build());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"x", "\n\u0080\u0080\u0080\u0080\u0080\u0080\u0080\u0080\u0080\u0080\u0001"})
    void anythingElseIsRefused(String document) {
        byte[] bytes = document.getBytes(java.nio.charset.StandardCharsets.ISO_8859_1);
        assertThatIOException()
                .isThrownBy(() -> read(bytes, 1))
                .withMessageStartingWith("no document of OTLP profiles: ");
    }
}

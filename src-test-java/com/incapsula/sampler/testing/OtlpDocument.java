// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.testing;

import io.opentelemetry.proto.common.v1.AnyValue;
import io.opentelemetry.proto.common.v1.InstrumentationScope;
import io.opentelemetry.proto.common.v1.KeyValue;
import io.opentelemetry.proto.profiles.v1development.Function;
import io.opentelemetry.proto.profiles.v1development.KeyValueAndUnit;
import io.opentelemetry.proto.profiles.v1development.Line;
import io.opentelemetry.proto.profiles.v1development.Location;
import io.opentelemetry.proto.profiles.v1development.Profile;
import io.opentelemetry.proto.profiles.v1development.ProfilesData;
import io.opentelemetry.proto.profiles.v1development.ProfilesDictionary;
import io.opentelemetry.proto.profiles.v1development.Sample;
import io.opentelemetry.proto.profiles.v1development.ValueType;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** A document of OTLP profiles, parsed by the classes of the published schema. */
public final class OtlpDocument {

    private final int bytes;
    private final ProfilesData data;
    private final ProfilesDictionary dictionary;

    /**
     * Parses a document.
     *
     * @throws IOException if it is malformed
     */
    public OtlpDocument(byte[] document) throws IOException {
        bytes = document.length;
        data = ProfilesData.parseFrom(document);
        dictionary = data.getDictionary();
    }

    /** @return true if the schema defines everything in it, and protobuf-java would write it with the same length */
    public boolean isCanonical() {
        return bytes == data.getSerializedSize() && PprofFile.hasNothingUnknown(data);
    }

    /** @return true if element 0 of each table is the zero value */
    public boolean hasZeroValues() {
        return dictionary.getMappingTable(0).getSerializedSize() == 0
                && dictionary.getLocationTable(0).getSerializedSize() == 0
                && dictionary.getFunctionTable(0).getSerializedSize() == 0
                && dictionary.getStackTable(0).getSerializedSize() == 0
                && dictionary.getAttributeTable(0).getSerializedSize() == 0
                && dictionary.getStringTable(0).isEmpty()
                && dictionary.getLinkTable(0).getTraceId().equals(com.google.protobuf.ByteString.copyFrom(new byte[16]))
                && dictionary.getLinkTable(0).getSpanId().equals(com.google.protobuf.ByteString.copyFrom(new byte[8]));
    }

    /** @return the attributes of the resource */
    public Map<String, String> resource() {
        return data.getResourceProfiles(0).getResource().getAttributesList().stream()
                .collect(Collectors.toMap(KeyValue::getKey, attribute -> text(attribute.getValue())));
    }

    private static String text(AnyValue value) {
        return value.hasIntValue() ? Long.toString(value.getIntValue()) : value.getStringValue();
    }

    /** @return "name version" of the producer of the profiles */
    public String scope() {
        InstrumentationScope scope =
                data.getResourceProfiles(0).getScopeProfiles(0).getScope();
        return scope.getName() + " " + scope.getVersion();
    }

    /** @return all profiles in order */
    public List<Profile> profiles() {
        return data.getResourceProfiles(0).getScopeProfiles(0).getProfilesList();
    }

    /** @return "type/unit" of each profile */
    public List<String> types() {
        return profiles().stream().map(profile -> type(profile.getSampleType())).toList();
    }

    /** @return "type/unit" */
    public String type(ValueType type) {
        return dictionary.getStringTable(type.getTypeStrindex()) + "/"
                + dictionary.getStringTable(type.getUnitStrindex());
    }

    /**
     * @return each sample of a type's profile: "group: root < ... < leaf" and its value; repeated samples are repeated
     */
    public List<Map.Entry<String, Long>> samples(String type) {
        List<Map.Entry<String, Long>> found = new ArrayList<>();
        for (Profile profile : profiles()) {
            if (type(profile.getSampleType()).equals(type)) {
                profile.getSamplesList()
                        .forEach(sample -> found.add(Map.entry(stack(sample), only(sample.getValuesList()))));
            }
        }
        return found;
    }

    private static <T> T only(List<T> list) {
        if (list.size() != 1) {
            throw new AssertionError("one, not " + list);
        }
        return list.get(0);
    }

    private String stack(Sample sample) {
        Map<String, String> attributes = attributes(sample.getAttributeIndicesList());
        List<String> frames = new ArrayList<>();
        for (int index : dictionary.getStackTable(sample.getStackIndex()).getLocationIndicesList()) {
            frames.add(0, frame(dictionary.getLocationTable(index)));
        }
        return attributes.get("threadsampler.thread.group") + ": " + String.join(" < ", frames);
    }

    private Map<String, String> attributes(List<Integer> indices) {
        Map<String, String> found = new LinkedHashMap<>();
        for (int index : indices) {
            KeyValueAndUnit attribute = dictionary.getAttributeTable(index);
            found.put(
                    dictionary.getStringTable(attribute.getKeyStrindex()),
                    attribute.getValue().getStringValue());
        }
        return found;
    }

    private String frame(Location location) {
        Line line = only(location.getLinesList());
        Function function = dictionary.getFunctionTable(line.getFunctionIndex());
        String type = attributes(location.getAttributeIndicesList()).getOrDefault("profile.frame.type", "none");
        return dictionary.getStringTable(function.getNameStrindex()) + " "
                + dictionary.getStringTable(function.getFilenameStrindex()) + ":" + line.getLine() + " " + type;
    }
}

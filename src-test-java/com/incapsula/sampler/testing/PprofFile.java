// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.testing;

import com.google.protobuf.DescriptorProtos.DescriptorProto;
import com.google.protobuf.DescriptorProtos.FieldDescriptorProto;
import com.google.protobuf.DescriptorProtos.FileDescriptorProto;
import com.google.protobuf.Descriptors.DescriptorValidationException;
import com.google.protobuf.Descriptors.FileDescriptor;
import com.google.protobuf.DynamicMessage;
import com.google.protobuf.Message;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.zip.GZIPInputStream;

/** A pprof file, parsed by protobuf-java. */
public final class PprofFile {

    /*
     * For each message its name, then [*]TYPE:NAME:NUMBER of each field; * means repeated. From google/pprof's
     * profile.proto.
     */
    private static final List<String> SCHEMA = List.of(
            "Profile *ValueType:sample_type:1 *Sample:sample:2 *Mapping:mapping:3 *Location:location:4"
                    + " *Function:function:5 *string:string_table:6 int64:drop_frames:7 int64:keep_frames:8"
                    + " int64:time_nanos:9 int64:duration_nanos:10 ValueType:period_type:11 int64:period:12"
                    + " *int64:comment:13 int64:default_sample_type:14 int64:doc_url:15",
            "ValueType int64:type:1 int64:unit:2",
            "Sample *uint64:location_id:1 *int64:value:2 *Label:label:3",
            "Label int64:key:1 int64:str:2 int64:num:3 int64:num_unit:4",
            "Mapping uint64:id:1 uint64:memory_start:2 uint64:memory_limit:3 uint64:file_offset:4 int64:filename:5"
                    + " int64:build_id:6 bool:has_functions:7 bool:has_filenames:8 bool:has_line_numbers:9"
                    + " bool:has_inline_frames:10",
            "Location uint64:id:1 uint64:mapping_id:2 uint64:address:3 *Line:line:4 bool:is_folded:5",
            "Line uint64:function_id:1 int64:line:2 int64:column:3",
            "Function uint64:id:1 int64:name:2 int64:system_name:3 int64:filename:4 int64:start_line:5");

    /**
     * A stack with its values.
     *
     * @param samples how often it was seen
     * @param wallNanos time
     * @param cpuNanos CPU time
     * @param thread its label of that name
     * @param frames "name file:line", the root first
     */
    public record Sample(long samples, long wallNanos, long cpuNanos, String thread, List<String> frames) {}

    private final Message profile;
    private final int bytes;

    /**
     * Parses a file.
     *
     * @param file gzip
     * @throws IOException if it is damaged
     */
    public PprofFile(byte[] file) throws IOException {
        byte[] unpacked = new GZIPInputStream(new ByteArrayInputStream(file)).readAllBytes();
        bytes = unpacked.length;
        profile = DynamicMessage.parseFrom(schema().findMessageTypeByName("Profile"), unpacked);
    }

    private static FileDescriptor schema() {
        FileDescriptorProto.Builder file = FileDescriptorProto.newBuilder()
                .setName("profile.proto")
                .setPackage("perftools.profiles")
                .setSyntax("proto3");
        SCHEMA.forEach(message -> file.addMessageType(message(message.split(" "))));
        try {
            return FileDescriptor.buildFrom(file.build(), new FileDescriptor[0]);
        } catch (DescriptorValidationException e) {
            throw new IllegalStateException(e);
        }
    }

    private static DescriptorProto message(String[] words) {
        DescriptorProto.Builder message = DescriptorProto.newBuilder().setName(words[0]);
        for (int i = 1; i < words.length; i++) {
            String[] parts = words[i].replace("*", "").split(":");
            FieldDescriptorProto.Builder field = message.addFieldBuilder()
                    .setName(parts[1])
                    .setNumber(Integer.parseInt(parts[2]))
                    .setLabel(
                            words[i].startsWith("*")
                                    ? FieldDescriptorProto.Label.LABEL_REPEATED
                                    : FieldDescriptorProto.Label.LABEL_OPTIONAL);
            if (Character.isUpperCase(parts[0].charAt(0))) {
                field.setTypeName(parts[0]).setType(FieldDescriptorProto.Type.TYPE_MESSAGE);
            } else {
                field.setType(FieldDescriptorProto.Type.valueOf("TYPE_" + parts[0].toUpperCase(Locale.ROOT)));
            }
        }
        return message.build();
    }

    /** @return true if the schema defines everything in it, and protobuf-java would write it with the same length */
    public boolean isCanonical() {
        return bytes == profile.getSerializedSize() && hasNothingUnknown(profile);
    }

    static boolean hasNothingUnknown(Message message) {
        return message.getUnknownFields().asMap().isEmpty()
                && message.getAllFields().values().stream()
                        .flatMap(value -> value instanceof List<?> list ? list.stream() : List.of(value).stream())
                        .allMatch(value -> !(value instanceof Message part) || hasNothingUnknown(part));
    }

    /** @return "type/unit" of each value of a sample */
    public List<String> sampleTypes() {
        return messages(profile, "sample_type").stream().map(this::type).toList();
    }

    /** @return "type/unit" */
    public String periodType() {
        return type((Message) get(profile, "period_type"));
    }

    /** @return the type that tools show first */
    public String defaultSampleType() {
        return string(profile, "default_sample_type");
    }

    /** @return the number in a field of the profile */
    public long number(String field) {
        return number(profile, field);
    }

    /** @return all samples; fails if a frame that a sample refers to is missing */
    public List<Sample> samples() {
        Map<Long, Message> functions = byId("function");
        Map<Long, String> frames = new HashMap<>();
        byId("location").forEach((id, location) -> frames.put(id, frame(location, functions)));
        List<Sample> samples = new ArrayList<>();
        for (Message sample : messages(profile, "sample")) {
            List<Long> values = numbers(sample, "value");
            List<String> stack = new ArrayList<>();
            for (long id : numbers(sample, "location_id")) {
                stack.add(0, known(frames.get(id), "location " + id));
            }
            samples.add(new Sample(
                    valueOf("samples/count", values),
                    valueOf("wall/nanoseconds", values),
                    valueOf("cpu/nanoseconds", values),
                    label(sample, "thread"),
                    stack));
        }
        return samples;
    }

    private long valueOf(String type, List<Long> values) {
        int index = sampleTypes().indexOf(type);
        return index < 0 ? 0 : values.get(index);
    }

    private String frame(Message location, Map<Long, Message> functions) {
        Message line = messages(location, "line").get(0);
        long id = number(line, "function_id");
        Message function = known(functions.get(id), "function " + id);
        return string(function, "name") + " " + string(function, "filename") + ":" + number(line, "line");
    }

    private static <T> T known(T found, String what) {
        if (found == null) {
            throw new IllegalStateException("there is no " + what);
        }
        return found;
    }

    private Map<Long, Message> byId(String field) {
        Map<Long, Message> found = new HashMap<>();
        for (Message message : messages(profile, field)) {
            long id = number(message, "id");
            if (id == 0 || found.put(id, message) != null) {
                throw new IllegalStateException("id " + id + " of a " + field);
            }
        }
        return found;
    }

    private String label(Message sample, String key) {
        return messages(sample, "label").stream()
                .filter(label -> string(label, "key").equals(key))
                .map(label -> string(label, "str"))
                .findFirst()
                .orElse(null);
    }

    private String type(Message valueType) {
        return string(valueType, "type") + "/" + string(valueType, "unit");
    }

    private String string(Message message, String field) {
        return (String) ((List<?>) get(profile, "string_table")).get(Math.toIntExact(number(message, field)));
    }

    private static Object get(Message message, String field) {
        return message.getField(message.getDescriptorForType().findFieldByName(field));
    }

    private static long number(Message message, String field) {
        return (Long) get(message, field);
    }

    @SuppressWarnings("unchecked")
    private static List<Long> numbers(Message message, String field) {
        return (List<Long>) get(message, field);
    }

    @SuppressWarnings("unchecked")
    private static List<Message> messages(Message message, String field) {
        return (List<Message>) get(message, field);
    }
}

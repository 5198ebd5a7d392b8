// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.spring;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.springframework.boot.json.JsonParserFactory;

/** The metadata for editors has the same properties as the sampler and the document. */
class MetadataTest {

    @SuppressWarnings("unchecked")
    private static List<Map<String, Object>> properties() throws IOException {
        try (InputStream file =
                ThreadsSamplerProperties.class.getResourceAsStream("/META-INF/spring-configuration-metadata.json")) {
            String text = new String(file.readAllBytes(), StandardCharsets.UTF_8);
            return (List<Map<String, Object>>)
                    JsonParserFactory.getJsonParser().parseMap(text).get("properties");
        }
    }

    /* Writes 1 as 1.0, because the compiler's plug-in writes numbers in its own way. */
    private static String text(Object value) {
        if (value instanceof Number number) {
            return String.valueOf(number.doubleValue());
        }
        return value == null ? "" : value.toString();
    }

    @Test
    void allPropertiesAreThere() throws IOException {
        assertThat(properties())
                .extracting(property -> text(property.get("name")))
                .filteredOn(name -> name.startsWith(ThreadsSamplerProperties.PREFIX))
                .containsExactlyInAnyOrderElementsOf(UnknownSettings.known().stream()
                        .map(name -> ThreadsSamplerProperties.PREFIX + "." + name)
                        .toList());
    }

    /** An editor must show the sampler's default, and the type that Boot binds. */
    @Test
    void timesAndSizesAreTypesOfBoot() throws IOException {
        Map<String, String> types = new TreeMap<>();
        properties()
                .forEach(property -> types.put(
                        text(property.get("name")),
                        text(property.get("type")) + " " + text(property.get("defaultValue"))));
        assertThat(types)
                .containsEntry("threads-sampler.sampling-frequency", "java.time.Duration 50ms")
                .containsEntry("threads-sampler.report.frequency", "java.time.Duration 15m")
                .containsEntry("threads-sampler.memory-limit", "org.springframework.util.unit.DataSize 64MB")
                .containsEntry("threads-sampler.overhead-limit-percent", "java.lang.Double 1.0")
                .hasEntrySatisfying(
                        "threads-sampler.monitored-packages",
                        type -> assertThat(type).startsWith("java.util.List<java.lang.String>"));
    }

    @Test
    void eachPropertyIsDescribed() throws IOException {
        assertThat(properties())
                .hasSizeGreaterThan(30)
                .allSatisfy(property -> assertThat(text(property.get("description")))
                        .as(text(property.get("name")))
                        .endsWith("."));
    }

    @Test
    void theDocumentHasThePropertiesOfTheStarter() throws IOException {
        String document = Files.readString(Path.of(System.getProperty("starter.document")));
        List<String> rows = Pattern.compile("^\\| `(threads-sampler\\.[a-z.-]+)` \\|", Pattern.MULTILINE)
                .matcher(document)
                .results()
                .map((MatchResult row) -> row.group(1))
                .toList();
        List<String> own = properties().stream()
                .map(property -> text(property.get("name")))
                .filter(name -> name.matches("threads-sampler\\.(enabled|auto-start|(output|server)\\..*)"))
                .toList();
        assertThat(rows).containsExactlyInAnyOrderElementsOf(own);
    }
}

// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.spring;

import static org.assertj.core.api.Assertions.assertThat;

import com.incapsula.sampler.ThreadsSampler;
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
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.springframework.beans.BeanWrapperImpl;
import org.springframework.boot.json.JsonParserFactory;
import org.springframework.util.ClassUtils;

/** What editors know of the properties is what the sampler has, and what the document says. */
class MetadataTest {

    private static final String SAMPLER = ThreadsSampler.class.getName();

    @SuppressWarnings("unchecked")
    private static List<Map<String, Object>> properties() throws IOException {
        try (InputStream file =
                ThreadsSamplerProperties.class.getResourceAsStream("/META-INF/spring-configuration-metadata.json")) {
            String text = new String(file.readAllBytes(), StandardCharsets.UTF_8);
            return (List<Map<String, Object>>)
                    JsonParserFactory.getJsonParser().parseMap(text).get("properties");
        }
    }

    /* 1 is 1.0: the compiler's plug-in writes numbers in its own way. */
    private static String text(Object value) {
        if (value instanceof Number number) {
            return String.valueOf(number.doubleValue());
        }
        return value == null ? "" : value.toString();
    }

    @Test
    void thePropertiesOfTheSamplerHaveTheirTypesAndDefaults() throws IOException {
        Map<String, String> expected = new TreeMap<>();
        BeanWrapperImpl sampler = new BeanWrapperImpl(new ThreadsSampler());
        new SamplerSettings(new ThreadsSampler())
                .values()
                .forEach((name, value) -> expected.put(
                        "threads-sampler." + ThreadsSamplerAutoConfigurationIT.kebab(name),
                        ClassUtils.resolvePrimitiveIfNecessary(sampler.getPropertyType(name))
                                        .getName() + " " + text(value)));
        Map<String, String> found = new TreeMap<>(properties().stream()
                .filter(property -> SAMPLER.equals(property.get("sourceType")))
                .collect(Collectors.toMap(
                        property -> text(property.get("name")),
                        property -> text(property.get("type")) + " " + text(property.get("defaultValue")))));
        assertThat(found).isEqualTo(expected);
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
                .filter(property -> !SAMPLER.equals(property.get("sourceType")))
                .map(property -> text(property.get("name")))
                .filter(name -> name.startsWith("threads-sampler."))
                .toList();
        assertThat(rows).containsExactlyInAnyOrderElementsOf(own);
    }
}

// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/**
 * Each native method is in the core's table, except for two that the JVM finds by name. A missing method would fail
 * only when it is called.
 */
class NativeMethodsTest {

    private static final List<String> BY_NAME = List.of("abi", "join");

    @Test
    void allAreInTheTable() throws IOException {
        List<String> declared = Arrays.stream(NativeBridge.class.getDeclaredMethods())
                .filter(method -> Modifier.isNative(method.getModifiers()))
                .map(Method::getName)
                .filter(name -> !BY_NAME.contains(name))
                .toList();
        List<String> inTable = Pattern.compile("(?m)^ {4}X\\((\\w+), \"")
                .matcher(Files.readString(Path.of("native/src/jni/onload.c")))
                .results()
                .map(row -> row.group(1))
                .toList();
        assertThat(inTable).containsExactlyInAnyOrderElementsOf(declared);
    }
}

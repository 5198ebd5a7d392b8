// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What Java refuses of a list of methods or prefixes is what the core refuses, with the same message. */
class CountingListsIT {

    private static final NativeCallbacks CALLBACKS = new ReportDispatcher().begin(null);
    private static final int RANDOM_LISTS = 20_000;
    private static final int LONGEST = 12;
    private static final String[] PIECES = {
        "a",
        "B",
        ".",
        ".",
        "*",
        "**",
        "<init>",
        "<clinit>",
        "<",
        ">",
        "(",
        ")",
        ",",
        " ",
        "int",
        "[]",
        "...",
        "void",
        "$",
        "{",
        "-",
        "/",
        ";",
        "java.lang.String",
        "com.acme"
    };

    @BeforeAll
    static void load() {
        LoadedLibrary.require();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "com.acme.OrderHandler.handle",
                " com.acme.jobs.*.run , com.acme.batch.**",
                "com.acme.Order.<init>",
                "com.acme.Order.<clinit>",
                "com.acme.Order.add(int, String), com.acme.Order.add()",
                "com.acme.Order.add(int[], java.lang.String...)",
                "**",
                "*.run",
                "Main.main",
                "run",
                "com.acme..run",
                ".run",
                "com.acme.",
                "com.acme.a**.run",
                "com.acme.Order.<new>",
                "com.<init>.x",
                "com.acme.Order.add(",
                "com.acme.Order.add(int) x",
                "com.acme.Order.add((int)",
                "com.acme.Order.add(int,)",
                "com.acme.Order.add(void)",
                "com.acme.Order.add(List<String>)",
                "com.acme.Order.add(*)",
                "com/acme/Order.run",
                "com acme.Order.run",
                "${roots}",
                "com.acme.Order;com.acme.Item.run",
                "com.acme.Order#run",
            })
    void rootsAreReadAlike(String list) {
        assertThat(javaOf(Property.ROOT_METHODS, list)).isEqualTo(coreOf(list, ""));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "com.acme, -com.acme.util",
                "com.acme*",
                "com.acme.",
                "-",
                "--com",
                "com*acme",
                ".com",
                "com..acme",
                "com/acme",
                "com acme",
                "${filter}",
                "com.acme;org",
            })
    void prefixesAreReadAlike(String list) {
        assertThat(javaOf(Property.INSTRUMENTATION_FILTER, list)).isEqualTo(coreOf("", list));
    }

    @Test
    void randomListsAreReadAlike() {
        Random random = new Random(12);
        for (int i = 0; i < RANDOM_LISTS; i++) {
            StringBuilder made = new StringBuilder();
            for (int piece = random.nextInt(LONGEST); piece >= 0; piece--) {
                made.append(PIECES[random.nextInt(PIECES.length)]);
            }
            String list = made.toString();
            assertThat(javaOf(Property.ROOT_METHODS, list)).as(list).isEqualTo(coreOf(list, ""));
            assertThat(javaOf(Property.INSTRUMENTATION_FILTER, list)).as(list).isEqualTo(coreOf("", list));
        }
    }

    private static @Nullable String javaOf(Property property, String list) {
        try {
            property.check(list);
            return null;
        } catch (IllegalArgumentException e) {
            return e.getMessage();
        }
    }

    /* The lists are given as they are, not as Java keeps them. */
    private static @Nullable String coreOf(String roots, String filter) {
        OptionValues values = new Settings().toOptionValues();
        String[] texts = values.texts().clone();
        texts[1] = roots;
        texts[2] = filter;
        try {
            NativeBridge.destroy(NativeBridge.create(values.integers(), texts, CALLBACKS));
            return null;
        } catch (IllegalArgumentException e) {
            return e.getMessage();
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.bench.accuracy;

import static org.assertj.core.api.Assertions.assertThat;

import com.incapsula.sampler.bench.accuracy.Calls.Verdict;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CallsTest {

    private static final String GETSTATIC = "178";
    private static final String INVOKEDYNAMIC = "186";
    private static final String IADD = "96";
    private static final String ANY = "(Ljava/lang/String;)Ljava/lang/Class;";

    private final Calls calls = new Calls(List.of(
            Object.class,
            String.class,
            Integer.class,
            Number.class,
            Map.class,
            HashMap.class,
            Collection.class,
            ArrayList.class,
            IllegalStateException.class));

    private static Place caller(String instruction) {
        return new Place("com/acme/Main", "main", "()V", 7, instruction);
    }

    private static Place callee(String type, String method, String descriptor) {
        return new Place(type, method, descriptor, 3, IADD);
    }

    private Verdict judge(String instruction, String type, String method, String descriptor) {
        return calls.judge(caller(instruction), callee(type, method, descriptor));
    }

    @ParameterizedTest
    @CsvSource({
        /* The called method is in the named class; for a virtual call also in a class below or above it. */
        "182 java/lang/String length ()I,     java/lang/String,    length, ()I, POSSIBLE",
        "182 java/lang/Number intValue ()I,   java/lang/Integer,   intValue, ()I, POSSIBLE",
        "182 java/util/ArrayList hash ()I,    java/lang/Object,    hash, ()I, POSSIBLE",
        "185 java/util/Map size ()I,          java/util/HashMap,   size, ()I, POSSIBLE",
        /* An object of a class below both may have the method. */
        "185 java/util/Map size ()I,          java/lang/Number,    size, ()I, POSSIBLE",
        "182 [Ljava/lang/String; clone ()I,   java/lang/Object,    clone, ()I, POSSIBLE",
        "184 java/lang/Integer parse ()I,     java/lang/Number,    parse, ()I, POSSIBLE",
        /* A class that is not loaded may be related to any class. */
        "184 com/acme/Gone parse ()I,         java/lang/Number,    parse, ()I, POSSIBLE",
        "182 java/lang/String length ()I,     java/lang/String,    isEmpty, ()I, IMPOSSIBLE",
        "182 java/lang/String length ()I,     java/lang/String,    length, ()J, IMPOSSIBLE",
        "182 java/lang/String length ()I,     java/lang/Integer,   length, ()I, IMPOSSIBLE",
        /* A static method cannot be overridden. */
        "184 java/lang/Number parse ()I,      java/lang/Integer,   parse, ()I, IMPOSSIBLE",
        "183 java/lang/Number <init> ()V,     java/lang/Integer,   <init>, ()V, IMPOSSIBLE"
    })
    void aCallIsThatWhichTheByteCodeNames(
            String instruction, String type, String method, String descriptor, Verdict verdict) {
        assertThat(judge(instruction, type, method, descriptor)).isEqualTo(verdict);
    }

    @Test
    void anInstructionThatIsNoCallCallsOnlyForTheJvm() {
        assertThat(judge(IADD, "java/lang/String", "length", "()I")).isEqualTo(Verdict.IMPOSSIBLE);
        assertThat(judge(IADD, "com/acme/Loader", "loadClass", ANY)).isEqualTo(Verdict.JVM_CALLS);
        assertThat(judge(IADD, "com/acme/Loader", "loadClass", "()V")).isEqualTo(Verdict.IMPOSSIBLE);
        assertThat(judge(IADD, "java/lang/IllegalStateException", "<init>", "()V"))
                .isEqualTo(Verdict.JVM_CALLS);
        assertThat(judge(IADD, "java/util/HashMap", "<init>", "()V")).isEqualTo(Verdict.IMPOSSIBLE);
        assertThat(judge(GETSTATIC, "java/lang/String", "<clinit>", "()V")).isEqualTo(Verdict.INITIALISER);
        assertThat(judge(IADD, "java/lang/String", "<clinit>", "()V")).isEqualTo(Verdict.IMPOSSIBLE);
    }

    @Test
    void methodHandlesCallAnything() {
        String invoke = "182 java/lang/invoke/MethodHandle invokeExact (I)I";
        String link = "184 java/lang/invoke/MethodHandle linkToStatic (ILjava/lang/Object;)I";
        assertThat(judge(invoke, "java/lang/invoke/LambdaForm$MH.0x12", "invoke", "()I"))
                .isEqualTo(Verdict.METHOD_HANDLE);
        assertThat(judge(invoke, "com/acme/Main", "power", "(I)I")).isEqualTo(Verdict.IMPOSSIBLE);
        Place form = new Place("java/lang/invoke/LambdaForm$DMH.0x34", "invoke", "()I", 9, link);
        assertThat(calls.judge(form, callee("com/acme/Main", "power", "(I)I"))).isEqualTo(Verdict.METHOD_HANDLE);
        assertThat(judge(INVOKEDYNAMIC, "com/acme/Main$$Lambda.0x56", "<init>", "()V"))
                .isEqualTo(Verdict.INVOKEDYNAMIC);
        assertThat(judge(INVOKEDYNAMIC, "java/lang/String", "length", "()I")).isEqualTo(Verdict.IMPOSSIBLE);
    }

    @Test
    void callsThatByteCodeDoesNotShowAreExempt() {
        Place stub = new Place("[jbyte_arraycopy]", "", "", 0, Place.PSEUDO);
        assertThat(calls.judge(caller(IADD), stub)).isEqualTo(Verdict.PSEUDO);
        assertThat(judge(Place.NATIVE, "java/lang/String", "length", "()I")).isEqualTo(Verdict.NATIVE_CALLER);
        assertThat(judge(Place.UNKNOWN, "java/lang/String", "length", "()I")).isEqualTo(Verdict.UNKNOWN);
        assertThat(judge(IADD, "java/lang/String", "length", "")).isEqualTo(Verdict.UNKNOWN);
    }

    @ParameterizedTest
    @CsvSource({
        "Ljava/lang/String;,                             java/lang/String",
        "java.lang.String,                               java/lang/String",
        "Ljava/lang/invoke/LambdaForm$MH.0x7f12;,        java/lang/invoke/LambdaForm$MH.0x7f12",
        "java.lang.invoke.LambdaForm$MH/0x7f12,          java/lang/invoke/LambdaForm$MH.0x7f12",
        "java/lang/invoke/LambdaForm$MH+0x7f12,          java/lang/invoke/LambdaForm$MH.0x7f12"
    })
    void aClassHasOneSpelling(String name, String expected) {
        assertThat(Place.typeName(name)).isEqualTo(expected);
    }
}

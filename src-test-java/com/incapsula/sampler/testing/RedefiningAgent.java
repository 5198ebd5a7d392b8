// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.testing;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.instrument.ClassDefinition;
import java.lang.instrument.Instrumentation;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;

/** A Java agent that redefines classes of tests: it replaces a number in their code. */
public final class RedefiningAgent {

    private static final int SIPUSH = 0x11;

    private static Instrumentation instrumentation;

    private RedefiningAgent() {}

    /** Called by the JVM. */
    public static void premain(String arguments, Instrumentation given) {
        instrumentation = given;
    }

    /** Writes the jar for {@code -javaagent}. This class itself is found on the class path. */
    public static void writeJar(Path file) throws IOException {
        Manifest manifest = new Manifest();
        manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
        manifest.getMainAttributes().putValue("Premain-Class", RedefiningAgent.class.getName());
        manifest.getMainAttributes().putValue("Can-Redefine-Classes", "true");
        manifest.getMainAttributes().putValue("Can-Retransform-Classes", "true");
        try (OutputStream out = Files.newOutputStream(file);
                JarOutputStream jar = new JarOutputStream(out, manifest)) {
            jar.finish();
        }
    }

    static void redefine() throws Exception {
        redefine(RedefinedWork.class, RedefinedWork.VERSION, RedefinedWork.NEXT);
    }

    static void redefine(Class<?> type, int number, int next) throws Exception {
        instrumentation.redefineClasses(new ClassDefinition(type, bytesWith(type, number, next)));
    }

    static void redefineWithField(Class<?> type, int number, int next) throws Exception {
        instrumentation.redefineClasses(
                new ClassDefinition(type, AddingAgent.withField(bytesWith(type, number, next))));
    }

    static void retransform(Class<?> type) throws Exception {
        instrumentation.retransformClasses(type);
    }

    private static byte[] bytesWith(Class<?> type, int number, int next) throws IOException {
        byte[] code = bytesOf(type);
        for (int i = 0; i + 2 < code.length; i++) {
            if (code[i] == SIPUSH && numberAt(code, i + 1) == number) {
                code[i + 1] = (byte) (next >> 8);
                code[i + 2] = (byte) next;
            }
        }
        return code;
    }

    private static int numberAt(byte[] code, int at) {
        return code[at] << 8 | code[at + 1] & 0xff;
    }

    static byte[] bytesOf(Class<?> type) throws IOException {
        String name = "/" + type.getName().replace('.', '/') + ".class";
        try (InputStream in = type.getResourceAsStream(name)) {
            return in.readAllBytes();
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.torture;

import java.io.IOException;
import java.io.InputStream;
import java.lang.instrument.ClassDefinition;
import java.lang.instrument.Instrumentation;
import java.lang.instrument.UnmodifiableClassException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;

/** An agent that replaces the code of a class while the class is in use. */
public final class Redefinition {

    private static final int MARK = 0x5EED0001;
    private static Instrumentation instrumentation;

    /** The class to redefine; the number in its code is replaced. */
    static final class Redefined {

        private Redefined() {}

        static long work(int rounds) {
            long sum = 0;
            for (int i = 0; i < rounds; i++) {
                sum += deeper(i) ^ sum << 1;
            }
            return sum;
        }

        private static long deeper(int value) {
            return even(value) ? value * (long) number() : text(value);
        }

        private static boolean even(int value) {
            return value % 64 != 0;
        }

        private static long text(int value) {
            return Integer.toString(value * number()).hashCode();
        }

        static int number() {
            return MARK;
        }
    }

    private Redefinition() {}

    /** Called by the JVM. */
    public static void premain(String arguments, Instrumentation offered) {
        instrumentation = offered;
    }

    /** @return the path of a jar for {@code -javaagent} */
    static Path agent(Path folder) throws IOException {
        Manifest manifest = new Manifest();
        Attributes attributes = manifest.getMainAttributes();
        attributes.put(Attributes.Name.MANIFEST_VERSION, "1.0");
        attributes.putValue("Premain-Class", Redefinition.class.getName());
        attributes.putValue("Can-Redefine-Classes", "true");
        Path jar = folder.resolve("agent.jar");
        try (JarOutputStream out = new JarOutputStream(Files.newOutputStream(jar), manifest)) {
            out.finish();
        }
        return jar;
    }

    /** Redefines a class with the bytes that it is loaded from. */
    static void redefineAsItIs(Class<?> type) throws IOException, ClassNotFoundException, UnmodifiableClassException {
        try (InputStream in = type.getResourceAsStream("/" + type.getName().replace('.', '/') + ".class")) {
            instrumentation.redefineClasses(new ClassDefinition(type, in.readAllBytes()));
        }
    }

    /** Sets the number in the class's code. */
    static void redefine(int number) throws IOException, ClassNotFoundException, UnmodifiableClassException {
        byte[] code;
        try (InputStream in = Redefinition.class.getResourceAsStream("Redefinition$Redefined.class")) {
            code = in.readAllBytes();
        }
        ByteBuffer buffer = ByteBuffer.wrap(code);
        int at = 0;
        while (buffer.getInt(at) != MARK) {
            at++;
        }
        buffer.putInt(at, number);
        instrumentation.redefineClasses(new ClassDefinition(Redefined.class, code));
        if (Redefined.number() != number) {
            throw new IllegalStateException("the class is as it was");
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.testing;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.ProtectionDomain;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;

/**
 * A Java agent that adds a field, each time with another name, to the class that {@link counted.Changing} calls. So the
 * JVM refuses each later change of that class.
 */
public final class AddingAgent {

    private static final int UTF8 = 1;
    private static final int LONG = 5;
    private static final int DOUBLE = 6;
    private static final int CLASS = 7;
    private static final int STRING = 8;
    private static final int METHOD_HANDLE = 15;
    private static final int METHOD_TYPE = 16;
    private static final int MODULE = 19;
    private static final int PACKAGE = 20;
    private static final int PRIVATE_STATIC_SYNTHETIC = 0x100a;

    private static final AtomicInteger ADDED = new AtomicInteger();

    private AddingAgent() {}

    /** Called by the JVM. */
    public static void premain(String arguments, Instrumentation instrumentation) {
        instrumentation.addTransformer(
                new ClassFileTransformer() {
                    @Override
                    public byte[] transform(
                            ClassLoader loader, String name, Class<?> redefined, ProtectionDomain domain, byte[] file) {
                        return AddedMembersProgram.CHANGED.equals(name) ? withField(file) : null;
                    }
                },
                true);
    }

    /** Writes the jar for {@code -javaagent}. This class itself is found on the class path. */
    public static void writeJar(Path file) throws IOException {
        Manifest manifest = new Manifest();
        manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
        manifest.getMainAttributes().putValue("Premain-Class", AddingAgent.class.getName());
        manifest.getMainAttributes().putValue("Can-Retransform-Classes", "true");
        try (OutputStream out = Files.newOutputStream(file);
                JarOutputStream jar = new JarOutputStream(out, manifest)) {
            jar.finish();
        }
    }

    static byte[] withField(byte[] file) {
        ByteArrayOutputStream changed = new ByteArrayOutputStream();
        try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(file));
                DataOutputStream out = new DataOutputStream(changed)) {
            copy(in, out, 8); // magic number and version
            int constants = in.readUnsignedShort();
            out.writeShort(constants + 2);
            for (int i = 1; i < constants; i++) {
                i += copyConstant(in, out);
            }
            addText(out, "added" + ADDED.incrementAndGet());
            addText(out, "I");
            copy(in, out, 6); // access, class, super class
            int interfaces = in.readUnsignedShort();
            out.writeShort(interfaces);
            copy(in, out, 2 * interfaces);
            out.writeShort(in.readUnsignedShort() + 1); // fields
            out.writeShort(PRIVATE_STATIC_SYNTHETIC);
            out.writeShort(constants);
            out.writeShort(constants + 1);
            out.writeShort(0);
            in.transferTo(out);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return changed.toByteArray();
    }

    private static void addText(DataOutputStream out, String text) throws IOException {
        out.writeByte(UTF8);
        out.writeUTF(text);
    }

    /* Returns the number of further entries that the constant takes in the pool. */
    private static int copyConstant(DataInputStream in, DataOutputStream out) throws IOException {
        int tag = in.readUnsignedByte();
        out.writeByte(tag);
        switch (tag) {
            case UTF8 -> {
                int length = in.readUnsignedShort();
                out.writeShort(length);
                copy(in, out, length);
            }
            case LONG, DOUBLE -> {
                copy(in, out, 8);
                return 1;
            }
            case CLASS, STRING, METHOD_TYPE, MODULE, PACKAGE -> copy(in, out, 2);
            case METHOD_HANDLE -> copy(in, out, 3);
            default -> copy(in, out, 4);
        }
        return 0;
    }

    private static void copy(DataInputStream in, DataOutputStream out, int bytes) throws IOException {
        out.write(in.readNBytes(bytes));
    }
}

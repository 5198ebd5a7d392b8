// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.testing;

import counted.FailingHook;
import counted.Failures;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.lang.instrument.UnmodifiableClassException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.ProtectionDomain;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/**
 * A Java agent that inserts calls of {@link FailingHook} into the methods of {@link counted.Failures}: after they have
 * noted the call, and before each return; in constructors also before {@code super()}.
 */
public final class HookingAgent {

    private static final String HOOKED = "counted/Failures";
    private static final String HOOK = FailingHook.class.getName().replace('.', '/');

    private static Instrumentation instrumentation;

    private HookingAgent() {}

    /** Called by the JVM. */
    public static void premain(String arguments, Instrumentation given) {
        instrumentation = given;
    }

    /** Writes the jar for {@code -javaagent}. This class itself is found on the class path. */
    public static void writeJar(Path file) throws IOException {
        Manifest manifest = new Manifest();
        manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
        manifest.getMainAttributes().putValue("Premain-Class", HookingAgent.class.getName());
        manifest.getMainAttributes().putValue("Can-Retransform-Classes", "true");
        try (OutputStream out = Files.newOutputStream(file);
                JarOutputStream jar = new JarOutputStream(out, manifest)) {
            jar.finish();
        }
    }

    /*
     * Also changes classes that are loaded. They are not searched among all loaded classes, because -Xcheck:jni then
     * reports errors of the JDK.
     */
    static void hook() throws UnmodifiableClassException {
        instrumentation.addTransformer(
                new ClassFileTransformer() {
                    @Override
                    public byte[] transform(
                            ClassLoader loader, String name, Class<?> redefined, ProtectionDomain domain, byte[] file) {
                        return name != null && name.startsWith(HOOKED) ? hooked(file) : null;
                    }
                },
                true);
        instrumentation.retransformClasses(Failures.class);
        instrumentation.retransformClasses(Failures.class.getDeclaredClasses());
    }

    private static byte[] hooked(byte[] file) {
        ClassReader reader = new ClassReader(file);
        ClassWriter writer = new ClassWriter(reader, ClassWriter.COMPUTE_MAXS);
        reader.accept(
                new ClassVisitor(Opcodes.ASM9, writer) {
                    @Override
                    public MethodVisitor visitMethod(
                            int access, String name, String descriptor, String signature, String[] exceptions) {
                        MethodVisitor method = super.visitMethod(access, name, descriptor, signature, exceptions);
                        boolean isCounted = !name.equals("run") && !name.equals("<clinit>");
                        return isCounted ? new HookedMethod(method) : method;
                    }
                },
                0);
        return writer.toByteArray();
    }

    private static final class HookedMethod extends MethodVisitor {

        private boolean hasNoted; // a call that fails before its note is not in the ledger

        HookedMethod(MethodVisitor to) {
            super(Opcodes.ASM9, to);
        }

        private void callHook() {
            super.visitMethodInsn(Opcodes.INVOKESTATIC, HOOK, "call", "()V", false);
        }

        @Override
        public void visitInsn(int opcode) {
            if (hasNoted && opcode >= Opcodes.IRETURN && opcode <= Opcodes.RETURN) {
                callHook();
            }
            super.visitInsn(opcode);
            if (opcode == Opcodes.LASTORE && !hasNoted) {
                hasNoted = true;
                callHook();
            }
        }
    }
}

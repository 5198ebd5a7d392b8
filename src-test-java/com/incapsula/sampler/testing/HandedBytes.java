// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.testing;

import com.sun.tools.attach.VirtualMachine;
import java.io.OutputStream;
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.ProtectionDomain;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;

/**
 * An agent that receives the bytes of a class after all agents that were added before, and changes nothing. Needs
 * {@code -Djdk.attach.allowAttachSelf=true}.
 */
public final class HandedBytes {

    private static Instrumentation instrumentation;
    /*
     * Identified by the class object, because other loaders have classes of the same name, which the sampler may be
     * changing.
     */
    private static volatile Class<?> watched;
    private static volatile ClassLoader defining;
    private static volatile String defined;
    private static volatile byte[] seen = {};

    private HandedBytes() {}

    /** Called by the JVM. */
    public static void agentmain(String arguments, Instrumentation given) {
        instrumentation = given;
        given.addTransformer(new Watcher(), true);
    }

    /** Loads the agent into this JVM, after all agents that exist now. The jar is written to this file. */
    public static void attach(Path jar) throws Exception {
        Manifest manifest = new Manifest();
        manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
        manifest.getMainAttributes().putValue("Agent-Class", HandedBytes.class.getName());
        manifest.getMainAttributes().putValue("Can-Retransform-Classes", "true");
        try (OutputStream out = Files.newOutputStream(jar)) {
            new JarOutputStream(out, manifest).close();
        }
        VirtualMachine self =
                VirtualMachine.attach(String.valueOf(ProcessHandle.current().pid()));
        self.loadAgent(jar.toString());
        self.detach();
    }

    /** @return the bytes that the class has if it is changed now */
    public static byte[] of(Class<?> type) throws Exception {
        watched = type;
        instrumentation.retransformClasses(type);
        watched = null;
        return seen;
    }

    /** @return the bytes by which the loader defines the class now */
    public static byte[] atDefinition(ClassLoader loader, String name) throws Exception {
        defined = name.replace('.', '/');
        defining = loader;
        loader.loadClass(name);
        defining = null;
        return seen;
    }

    private static final class Watcher implements ClassFileTransformer {
        @Override
        public byte[] transform(
                ClassLoader loader, String name, Class<?> redefined, ProtectionDomain domain, byte[] bytes) {
            boolean isWanted = redefined != null
                    ? redefined == watched
                    : loader != null && loader == defining && defined.equals(name);
            if (isWanted) {
                seen = bytes.clone();
            }
            return null;
        }
    }
}

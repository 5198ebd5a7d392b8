// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.testing;

import com.incapsula.sampler.ThreadsSampler;
import com.incapsula.sampler.internal.engine.PatientExit;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.stream.Stream;
import java.util.zip.Deflater;
import java.util.zip.ZipEntry;

/**
 * The agent's jar, made from the same classes and the same manifest as by Maven, because tests run before that jar
 * exists.
 */
public final class AgentJar {

    private static final String NAME = "threads-sampler.jar";
    private static final Path MANIFEST = Path.of("java", "META-INF", "agent.mf");

    private AgentJar() {}

    /** @return the jar, which is written into the folder */
    public static Path in(Path folder) throws IOException {
        Path jar = folder.resolve(NAME);
        Path classes = ChildJvm.placeOf(ThreadsSampler.class);
        List<Path> files;
        try (Stream<Path> all = Files.walk(classes)) {
            files = all.filter(Files::isRegularFile)
                    .filter(file -> !file.endsWith("META-INF/MANIFEST.MF")) // written by the build
                    .toList();
        }
        try (InputStream entries = Files.newInputStream(MANIFEST);
                OutputStream file = Files.newOutputStream(jar);
                JarOutputStream out = new JarOutputStream(file, new Manifest(entries))) {
            out.setLevel(Deflater.BEST_SPEED);
            for (Path each : files) {
                out.putNextEntry(new ZipEntry(classes.relativize(each).toString()));
                Files.copy(each, out);
            }
        }
        return jar;
    }

    /**
     * @return the jar of a second agent, for the folder of the first one's jar: it makes exits wait for the last
     *     report, which a busy machine delays
     */
    public static Path ofPatience(Path folder) throws IOException {
        Path jar = folder.resolve("patience.jar");
        Manifest manifest = new Manifest();
        manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
        manifest.getMainAttributes().putValue("Premain-Class", AgentJar.class.getName());
        manifest.getMainAttributes().put(Attributes.Name.CLASS_PATH, NAME);
        try (OutputStream file = Files.newOutputStream(jar);
                JarOutputStream out = new JarOutputStream(file, manifest)) {
            out.finish();
        }
        return jar;
    }

    /**
     * @return a subfolder with the class {@link HelloProgram} only, because classes of agents must come from their jars
     */
    public static Path hello(Path folder) throws IOException {
        Path classes = folder.resolve("hello");
        String file = HelloProgram.class.getName().replace('.', '/') + ".class";
        Files.createDirectories(classes.resolve(file).getParent());
        try (InputStream in = HelloProgram.class.getResourceAsStream("/" + file)) {
            Files.copy(in, classes.resolve(file), StandardCopyOption.REPLACE_EXISTING);
        }
        return classes;
    }

    /** @return the jar of {@link EmptyAgent}, in the folder */
    public static Path empty(Path folder) throws IOException {
        Path jar = folder.resolve("empty.jar");
        String file = EmptyAgent.class.getName().replace('.', '/') + ".class";
        Manifest manifest = new Manifest();
        manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
        manifest.getMainAttributes().putValue("Premain-Class", EmptyAgent.class.getName());
        try (InputStream in = EmptyAgent.class.getResourceAsStream("/" + file);
                OutputStream to = Files.newOutputStream(jar);
                JarOutputStream out = new JarOutputStream(to, manifest)) {
            out.putNextEntry(new ZipEntry(file));
            in.transferTo(out);
        }
        return jar;
    }

    /** Called by the JVM. */
    public static void premain(String options) throws ReflectiveOperationException {
        PatientExit.setForAgent();
    }
}

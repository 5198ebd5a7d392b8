// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.report;

import static org.assertj.core.api.Assertions.assertThat;

import com.incapsula.sampler.testing.AgentJar;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.InvocationTargetException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A resource is the same file, wherever the classes come from. */
class ResourceTest {

    private static final String PAGE = HtmlPage.HEAD;

    @TempDir
    Path folder;

    private static byte[] expected() throws IOException {
        try (InputStream in = Resource.class.getResourceAsStream(PAGE)) {
            return in.readAllBytes();
        }
    }

    @Test
    void aFolderOfClassesHasIt() throws IOException {
        Resource found = Resource.find(PAGE);
        assertThat(found.read()).isEqualTo(expected());
        assertThat(found.size()).isEqualTo(expected().length);
        assertThat(Resource.find("/META-INF/none")).isNull();
    }

    /* A space and a percent sign: the jar's place is a URL. */
    @Test
    void aJarHasItWithTheSameSum() throws Exception {
        Path jar = AgentJar.in(Files.createDirectory(folder.resolve("a b%20c")));
        try (URLClassLoader loader = new URLClassLoader(new URL[] {jar.toUri().toURL()}, null)) {
            Class<?> ofJar = loader.loadClass(Resource.class.getName());
            Object found = find(ofJar, PAGE);
            assertThat(ofJar.getMethod("read").invoke(found)).isEqualTo(expected());
            assertThat(ofJar.getMethod("crc").invoke(found))
                    .isEqualTo(Resource.of(expected()).crc());
            assertThat(ofJar.getMethod("size").invoke(found)).isEqualTo((long) expected().length);
            assertThat(find(ofJar, "/META-INF/none")).isNull();
            Files.delete(jar);
            Files.writeString(jar, "no jar");
            assertThat(catchCause(() -> ofJar.getMethod("read").invoke(found))).isInstanceOf(IOException.class);
        }
    }

    private static Object find(Class<?> ofJar, String name) throws ReflectiveOperationException {
        return ofJar.getMethod("find", String.class).invoke(null, name);
    }

    private interface Call {
        void run() throws ReflectiveOperationException;
    }

    private static Throwable catchCause(Call call) throws ReflectiveOperationException {
        try {
            call.run();
            return null;
        } catch (InvocationTargetException e) {
            return e.getCause();
        }
    }

    @Test
    void itsContentCanBeWritten() throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        Resource.of("abc".getBytes(StandardCharsets.UTF_8)).writeTo(out);
        assertThat(out.toString(StandardCharsets.UTF_8)).isEqualTo("abc");
    }
}

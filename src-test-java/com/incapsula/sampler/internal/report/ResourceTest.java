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
import java.security.CodeSource;
import java.security.ProtectionDomain;
import java.security.cert.Certificate;
import java.util.Collections;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.zip.ZipEntry;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.NullSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A resource is the same file wherever the classes come from. */
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
    void aResourceIsFoundInAFolderOfClasses() throws IOException {
        Resource found = Resource.find(PAGE);
        assertThat(found.read()).isEqualTo(expected());
        assertThat(found.size()).isEqualTo(expected().length);
        assertThat(Resource.find("/META-INF/none")).isNull();
    }

    /* The path has a space and a percent sign, because the jar's place is a URL. */
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

    /* As with a class folder inside a bundle, whose classes have the bundle's jar as their source. */
    @Test
    void aResourceIsFoundOutsideOfTheCodeSource() throws Exception {
        Path outer = folder.resolve("outer.jar");
        new JarOutputStream(Files.newOutputStream(outer), new Manifest()).close();
        Class<?> inside = new Inside(outer.toUri().toURL()).loadClass(Resource.class.getName());
        assertThat(inside).isNotEqualTo(Resource.class);
        assertThat(inside.getMethod("read").invoke(find(inside, PAGE))).isEqualTo(expected());
    }

    /** A class loader may give its classes any source. Those here name no jar that can be opened. */
    @ParameterizedTest
    @NullSource
    @ValueSource(strings = {"http://localhost/library.jar", "file:/a b.jar", "file://host/a.jar", "file:/no/such.jar"})
    void aSourceThatIsNoFileIsNotRead(String source) throws Exception {
        Class<?> inside = new Inside(source == null ? null : new URL(source)).loadClass(Resource.class.getName());
        assertThat(inside).isNotEqualTo(Resource.class);
        assertThat(inside.getMethod("read").invoke(find(inside, PAGE))).isEqualTo(expected());
    }

    /** As after a deployment into the same folder, while the application runs. */
    @ParameterizedTest
    @ValueSource(strings = {"", "another page"})
    void aJarThatWasReplacedIsNotRead(String newPage) throws Exception {
        Path jar = stored(AgentJar.in(folder));
        try (URLClassLoader loader = new URLClassLoader(new URL[] {jar.toUri().toURL()}, null)) {
            Class<?> ofJar = loader.loadClass(Resource.class.getName());
            Object found = find(ofJar, PAGE);
            Files.delete(jar);
            try (JarOutputStream to = new JarOutputStream(Files.newOutputStream(jar))) {
                to.putNextEntry(new JarEntry(newPage.isEmpty() ? "other" : PAGE.substring(1)));
                to.write(newPage.getBytes(StandardCharsets.UTF_8));
            }
            assertThat(catchCause(() -> ofJar.getMethod("read").invoke(found)))
                    .isInstanceOf(IOException.class)
                    .hasMessage(jar + " has changed");
        }
    }

    @Test
    void aDamagedJarIsReported() throws Exception {
        Path jar = stored(AgentJar.in(folder));
        byte[] bytes = Files.readAllBytes(jar);
        int at = new String(bytes, StandardCharsets.ISO_8859_1)
                .indexOf(new String(expected(), StandardCharsets.ISO_8859_1));
        bytes[at + 1] ^= 1;
        Files.write(jar, bytes);
        try (URLClassLoader loader = new URLClassLoader(new URL[] {jar.toUri().toURL()}, null)) {
            Class<?> ofJar = loader.loadClass(Resource.class.getName());
            Object found = find(ofJar, PAGE);
            assertThat(catchCause(() -> ofJar.getMethod("read").invoke(found)))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("is damaged");
        }
    }

    /* A copy of the jar without compression. */
    private Path stored(Path jar) throws IOException {
        Path copy = folder.resolve("stored.jar");
        try (JarFile from = new JarFile(jar.toFile());
                JarOutputStream to = new JarOutputStream(Files.newOutputStream(copy))) {
            to.setMethod(ZipEntry.STORED);
            for (JarEntry each : Collections.list(from.entries())) {
                JarEntry entry = new JarEntry(each.getName());
                entry.setSize(each.getSize());
                entry.setCrc(each.getCrc());
                to.putNextEntry(entry);
                to.write(from.getInputStream(each).readAllBytes());
            }
        }
        return copy;
    }

    /** Loads the classes of this package with another place as their source. */
    private static final class Inside extends ClassLoader {

        private final URL source;

        Inside(URL source) {
            super(Resource.class.getClassLoader());
            this.source = source;
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (!name.startsWith(Resource.class.getPackageName()) || findLoadedClass(name) != null) {
                return super.loadClass(name, resolve);
            }
            try (InputStream in = getResourceAsStream(name.replace('.', '/') + ".class")) {
                byte[] bytes = in.readAllBytes();
                CodeSource place = new CodeSource(source, (Certificate[]) null);
                return defineClass(name, bytes, 0, bytes.length, new ProtectionDomain(place, null));
            } catch (IOException e) {
                throw new ClassNotFoundException(name, e);
            }
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

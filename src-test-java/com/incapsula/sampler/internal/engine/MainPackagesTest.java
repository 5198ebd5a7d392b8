// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;
import org.junit.jupiter.api.io.TempDir;

class MainPackagesTest {

    @TempDir
    Path folder;

    @Test
    void theMainClassHasThePackage() {
        assertThat(MainPackages.find("com.acme.Main arguments of.it")).isEqualTo("com.acme");
        assertThat(MainPackages.find("acme.orders/com.acme.Main")).isEqualTo("com.acme");
        assertThat(MainPackages.find("Main")).isEmpty();
        assertThat(MainPackages.find("")).isEmpty();
        assertThat(MainPackages.find("no such file.jar")).isEmpty();
    }

    private String jar(String name, String... classes) throws IOException {
        Manifest manifest = new Manifest();
        manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
        manifest.getMainAttributes().put(Attributes.Name.MAIN_CLASS, classes[0]);
        if (classes.length > 1) {
            manifest.getMainAttributes().putValue("Start-Class", classes[1]);
        }
        Path jar = folder.resolve(name);
        new JarOutputStream(Files.newOutputStream(jar), manifest).close();
        return jar.toString();
    }

    @Test
    void theClassThatAJarStartsHasThePackage() throws IOException {
        assertThat(MainPackages.find(jar("plain.jar", "com.acme.Main") + " x")).isEqualTo("com.acme");
        assertThat(MainPackages.find(jar("with space.jar", "org.springframework.Launcher", "com.acme.App")))
                .isEqualTo("com.acme");
        assertThat(MainPackages.find(
                        jar("app.war", "org.springframework.boot.loader.launch.WarLauncher", "com.acme.App")))
                .isEqualTo("com.acme");
        Path broken = Files.writeString(folder.resolve("broken.jar"), "no jar");
        assertThat(MainPackages.find(broken.toString())).isEmpty();
    }

    @Test
    void anUnpackedArchiveStartsWhatItsManifestSays() throws IOException {
        Path manifest = folder.resolve("META-INF/MANIFEST.MF");
        Files.createDirectories(manifest.getParent());
        Files.writeString(manifest, "Manifest-Version: 1.0\nStart-Class: com.acme.App\n");

        try (URLClassLoader loader =
                new URLClassLoader(new URL[] {folder.toUri().toURL()}, null)) {
            assertThat(MainPackages.packageStartedFrom(loader)).isEqualTo("com.acme");
        }
        assertThat(MainPackages.find("org.springframework.boot.loader.launch.JarLauncher x"))
                .doesNotContain("springframework");
    }

    /** JDK 17 allows setting a security manager at run time. */
    @Test
    @EnabledForJreRange(max = JRE.JAVA_17)
    @SuppressWarnings("removal")
    void aSecurityManagerMayRefuse() {
        SecurityManager before = System.getSecurityManager();
        System.setSecurityManager(new SecurityManager() {
            @Override
            public void checkPropertyAccess(String key) {
                if (key.equals("sun.java.command")) {
                    throw new SecurityException(key);
                }
            }

            @Override
            public void checkPermission(java.security.Permission permission) {}
        });
        try {
            assertThat(MainPackages.findOrNone()).isEmpty();
        } finally {
            System.setSecurityManager(before);
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.loading;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.util.Map;
import java.util.Properties;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PlatformTest {

    private static String require(String system, String machine, String architecture) {
        Properties properties = new Properties();
        properties.putAll(Map.of("os.name", system, "java.vm.name", machine, "os.arch", architecture));
        return Platform.require(properties);
    }

    @ParameterizedTest
    @CsvSource({
        "OpenJDK 64-Bit Server VM, amd64, linux-x86_64",
        "Java HotSpot(TM) 64-Bit Server VM, x86_64, linux-x86_64",
        "OpenJDK 64-Bit Server VM, aarch64, linux-aarch64",
    })
    void supported(String machine, String architecture, String folder) {
        assertThat(require("Linux", machine, architecture)).isEqualTo(folder);
    }

    @ParameterizedTest
    @CsvSource({
        "Windows 11, OpenJDK 64-Bit Server VM, amd64, 'threads-sampler needs Linux, this is Windows 11'",
        "Linux, Eclipse OpenJ9 VM, amd64, 'threads-sampler needs a HotSpot JVM, this is Eclipse OpenJ9 VM'",
        "Linux, Substrate VM, amd64, 'threads-sampler needs a HotSpot JVM, this is Substrate VM'",
        "Linux, OpenJDK 64-Bit Server VM, s390x, 'threads-sampler needs x86-64 or aarch64, this is s390x'",
    })
    void unsupportedWithItsReason(String system, String machine, String architecture, String reason) {
        assertThatExceptionOfType(UnsupportedOperationException.class)
                .isThrownBy(() -> require(system, machine, architecture))
                .withMessage(reason);
    }

    @Test
    void aNativeImageIsNoJvm() {
        Properties properties = new Properties();
        properties.putAll(Map.of("os.name", "Linux", "org.graalvm.nativeimage.imagecode", "runtime"));
        assertThatExceptionOfType(UnsupportedOperationException.class)
                .isThrownBy(() -> Platform.require(properties))
                .withMessage("threads-sampler needs a HotSpot JVM, this is a native image");
    }

    @Test
    void missingPropertyIsAReasonToo() {
        assertThatExceptionOfType(UnsupportedOperationException.class)
                .isThrownBy(() -> Platform.require(new Properties()))
                .withMessage("threads-sampler needs Linux, this is unknown");
    }
}

// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.torture;

import static org.assertj.core.api.Assertions.assertThat;

import com.incapsula.sampler.testing.ChildJvm;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.io.TempDir;

/**
 * Value classes (JEP 401): compiled code that scalarises them may store the size of its frame in the frame. A walk with
 * a wrong stack pointer would read an arbitrary word as that size, and crash. Runs for a moment, or with {@code
 * -Dsampler.test.long=true} for twenty minutes.
 */
@EnabledForJreRange(minVersion = 28)
class ValueClassesIT {

    private static final boolean LONG = Boolean.getBoolean("sampler.test.long");
    private static final String MILLIS = LONG ? "1200000" : "4000";

    /* Source text, because the other tests are compiled for Java 17. */
    private static final String SOURCE = """
            package value;

            public final class Classes {
                value record P(int a, int b, long c) {
                    P plus(P other) {
                        return new P(a + other.a, b ^ other.b, c + 31 * other.c);
                    }
                }

                value record Q(P x, P y, P z) {
                    Q plus(P p, Q q) {
                        return new Q(x.plus(p), y.plus(q.x), z.plus(q.y));
                    }
                }

                static Q down(int depth, P p, Q q) {
                    return depth == 0 ? q : down(depth - 1, p.plus(q.x), q.plus(p, q)).plus(p, q);
                }

                public static long run() {
                    P p = new P(1, 2, 3);
                    Q q = new Q(p, p, p);
                    long sum = 0;
                    for (int i = 0; i < 1000; i++) {
                        q = down(20, p, q);
                        sum += q.x.c;
                    }
                    return sum;
                }
            }
            """;

    @TempDir
    private Path folder;

    @Test
    void framesThatKeepTheirSizeAreWalked() throws Exception {
        compile();
        ChildJvm.of(ValueClassesProgram.class)
                .withTestLibraries()
                .longer(Duration.ofMillis(Long.parseLong(MILLIS)))
                .option("-XX:TieredStopAtLevel=4", "--enable-preview", "-XX:CompileCommand=quiet")
                .option("-XX:CompileCommand=dontinline,value.Classes*::*")
                .run(folder.toString(), MILLIS)
                .assertSaysFine();
    }

    private void compile() throws IOException, InterruptedException {
        Path source = folder.resolve("Classes.java");
        Files.writeString(source, SOURCE);
        Process javac = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "javac").toString(),
                        "--enable-preview",
                        "--release",
                        Integer.toString(Runtime.version().feature()),
                        "-d",
                        folder.toString(),
                        source.toString())
                .inheritIO()
                .start();
        assertThat(javac.waitFor()).isZero();
    }
}

// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import static org.assertj.core.api.Assertions.assertThat;

import com.incapsula.sampler.testing.ChildJvm;
import com.incapsula.sampler.testing.UpcallProgram;
import java.nio.file.Files;
import java.nio.file.Path;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.io.TempDir;

/**
 * Java code calls native code that calls Java code, through the foreign function interface (JEP 454). Stacks have
 * frames of both, and are walked through them, from outside and in the handler.
 */
@EnabledForJreRange(minVersion = 22)
class UpcallIT {

    /*
     * Source text, because the other tests are compiled for Java 17. The C library's function compares two elements
     * once.
     */
    private static final String SOURCE = """
            package upcall;

            import static java.lang.foreign.ValueLayout.ADDRESS;
            import static java.lang.foreign.ValueLayout.JAVA_INT;
            import static java.lang.foreign.ValueLayout.JAVA_LONG;

            import java.lang.foreign.Arena;
            import java.lang.foreign.FunctionDescriptor;
            import java.lang.foreign.Linker;
            import java.lang.foreign.MemorySegment;
            import java.lang.invoke.MethodHandle;
            import java.lang.invoke.MethodHandles;
            import java.lang.invoke.MethodType;

            public final class Sorting {
                private static final ThreadLocal<Runnable> WORK = new ThreadLocal<>();

                private static MethodHandle function(String name, FunctionDescriptor descriptor) {
                    Linker linker = Linker.nativeLinker();
                    return linker.downcallHandle(linker.defaultLookup().find(name).orElseThrow(), descriptor);
                }

                private static int compare(MemorySegment one, MemorySegment other) {
                    WORK.get().run();
                    return 0;
                }

                public static void sort(Runnable work) throws Throwable {
                    WORK.set(work);
                    MethodHandle qsort =
                            function("qsort", FunctionDescriptor.ofVoid(ADDRESS, JAVA_LONG, JAVA_LONG, ADDRESS));
                    MethodHandle compare = MethodHandles.lookup().findStatic(Sorting.class, "compare",
                            MethodType.methodType(int.class, MemorySegment.class, MemorySegment.class));
                    try (Arena arena = Arena.ofConfined()) {
                        MemorySegment stub = Linker.nativeLinker()
                                .upcallStub(compare, FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS), arena);
                        qsort.invokeExact(arena.allocate(8, 4), 2L, 4L, stub);
                    }
                }

                public static void sleep(int millis) throws Throwable {
                    int failed = (int) function("usleep", FunctionDescriptor.of(JAVA_INT, JAVA_INT))
                            .invokeExact(1000 * millis);
                }
            }
            """;

    @TempDir
    Path folder;

    @Test
    void framesOfNativeCodeThatCallsJavaAreWalked() throws Exception {
        compile();
        ChildJvm.of(UpcallProgram.class)
                .withTestLibraries()
                .option("-XX:TieredStopAtLevel=4")
                .run(folder.toString())
                .assertSaysFine();
    }

    private void compile() throws Exception {
        Path file = folder.resolve("Sorting.java");
        Files.writeString(file, SOURCE);
        int exit = ToolProvider.getSystemJavaCompiler()
                .run(null, null, null, "-proc:none", "-d", folder.toString(), file.toString());
        assertThat(exit).isZero();
    }
}

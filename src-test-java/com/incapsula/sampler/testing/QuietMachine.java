// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.testing;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.TestExecutionExceptionHandler;
import org.junit.platform.commons.support.AnnotationSupport;
import org.opentest4j.TestAbortedException;

/**
 * Aborts a test that has failed while others used a part of the machine's CPU time, because such a test has measured
 * nothing. The message has the size of that part. On a quiet machine the test fails, and a test that passes always
 * counts. Others are the host of a virtual machine, and processes that this one has not started.
 */
public final class QuietMachine implements BeforeEachCallback, TestExecutionExceptionHandler {

    /** The limits as shares of the time of all CPUs. If others use more, a bound of a few percent is meaningless. */
    static final double MOST_STOLEN = 0.01;

    static final double MOST_OF_OTHERS = 0.1;

    private static final ExtensionContext.Namespace NAMESPACE = ExtensionContext.Namespace.create(QuietMachine.class);

    /**
     * The CPU time used so far, in ticks of the kernel's clock.
     *
     * @param all of all CPUs, including idle time
     * @param stolen by the host
     * @param worked by processes
     * @param own by this process and those that it has started
     */
    record Reading(long all, long stolen, long worked, long own) {

        /**
         * @param stat the text of {@code /proc/stat}
         * @param own the texts of {@code /proc/PID/stat} of this process and of its live children
         */
        static Reading of(String stat, Stream<String> own) {
            long[] cpus = figures(stat.lines().findFirst().orElseThrow().substring("cpu".length()));
            return new Reading(
                    LongStream.of(cpus).limit(8).sum(),
                    cpus[7],
                    cpus[0] + cpus[1] + cpus[2] + cpus[5] + cpus[6],
                    own.mapToLong(Reading::ticksOf).sum());
        }

        /* The time of the process and of its ended children. */
        private static long ticksOf(String stat) {
            long[] process = figures(stat.substring(stat.lastIndexOf(") ") + 3)); // after the name and the state
            return process[10] + process[11] + process[12] + process[13];
        }

        private static long[] figures(String text) {
            return Arrays.stream(text.trim().split(" +"))
                    .mapToLong(figure -> Long.parseUnsignedLong(figure.replaceFirst("^-", "")))
                    .toArray();
        }

        private static Reading now() {
            ProcessHandle self = ProcessHandle.current();
            Stream<String> own = Stream.concat(Stream.of(self), self.descendants())
                    .flatMap(process -> read("/proc/" + process.pid() + "/stat"));
            return of(read("/proc/stat").findFirst().orElseThrow(), own);
        }

        /* Empty if the process has ended meanwhile. */
        private static Stream<String> read(String file) {
            try {
                return Stream.of(Files.readString(Path.of(file)));
            } catch (IOException e) {
                return Stream.empty();
            }
        }

        /**
         * @return a description of what others have used since the earlier reading; null if it is too little to matter
         */
        String disturbanceSince(Reading earlier) {
            double time = Math.max(1, all - earlier.all);
            double byHost = (stolen - earlier.stolen) / time;
            double byOthers = (worked - earlier.worked - (own - earlier.own)) / time;
            return byHost <= MOST_STOLEN && byOthers <= MOST_OF_OTHERS
                    ? null
                    : String.format(
                            Locale.ROOT,
                            "the machine was not quiet: its host took %.1f %% of the CPU time, other processes %.1f %%",
                            100 * byHost,
                            100 * byOthers);
        }
    }

    @Override
    public void beforeEach(ExtensionContext context) {
        context.getStore(NAMESPACE).put(Reading.class, Reading.now());
    }

    private static boolean measuresBesideOthers(ExtensionContext context) {
        return AnnotationSupport.findAnnotation(context.getRequiredTestMethod(), Measures.class)
                .or(() -> AnnotationSupport.findAnnotation(context.getRequiredTestClass(), Measures.class))
                .orElseThrow()
                .besideOthers();
    }

    @Override
    public void handleTestExecutionException(ExtensionContext context, Throwable failure) throws Throwable {
        Reading before = context.getStore(NAMESPACE).get(Reading.class, Reading.class);
        String disturbance = Reading.now().disturbanceSince(before);
        if (disturbance == null || measuresBesideOthers(context)) {
            throw failure;
        }
        System.out.println(context.getDisplayName() + ": " + disturbance + "\n" + failure);
        throw new TestAbortedException(disturbance, failure);
    }
}

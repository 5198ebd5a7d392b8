// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.testing;

import com.incapsula.sampler.ThreadsSampler;
import com.incapsula.sampler.outputer.PrintStreamSamplingOutputer;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;

/**
 * A program that starts its sampler before anything else, and then runs the Java compiler in this JVM for the first
 * time.
 */
public final class ColdStartProgram {

    private static final int INTERVAL_MILLIS = 5;
    private static final int CLASSES = 4;
    private static final int METHODS = 20;
    private static final String METHOD = """
                public static String m%d(java.util.List<? extends Number> numbers) {
                    record Pair(int left, String right) { }
                    var lengths = numbers.stream().map(n -> n.intValue() + %1$d).map(String::valueOf)
                            .collect(java.util.stream.Collectors.groupingBy(String::length));
                    StringBuilder text = new StringBuilder();
                    for (var entry : lengths.entrySet()) {
                        switch (entry.getKey() %% 3) {
                            case 0 -> text.append(new Pair(entry.getKey(), "a%1$d"));
                            default -> text.append(entry.getValue());
                        }
                    }
                    return text.toString();
                }
            """;

    private ColdStartProgram() {}

    /**
     * Runs the program.
     *
     * @param arguments the file of the report, the number of polls that it must have
     */
    public static void main(String... arguments) throws IOException {
        long polls = Long.parseLong(arguments[1]);
        try (ThreadsSampler sampler = new ThreadsSampler()) {
            sampler.setThreadToBeSampled(Thread.currentThread());
            sampler.setSamplingFrequencyMillis(INTERVAL_MILLIS);
            sampler.setReportFrequencySeconds(0);
            // without a limit, because the number of skipped polls depends on the machine
            sampler.setOverheadLimitPercent(100);
            sampler.setSamplingOutputer(new PrintStreamSamplingOutputer(arguments[0]));
            ChosenEngine.set(sampler);
            sampler.init();
            do {
                compile();
            } while (sampler.getStatistics().getPolls() < polls);
        }
    }

    /** Compiles some classes in this JVM. */
    public static void compile() throws IOException {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        List<JavaFileObject> sources = new ArrayList<>();
        for (int i = 0; i < CLASSES; i++) {
            sources.add(new Source("Made" + i));
        }
        Path folder = Files.createTempDirectory("cold-start");
        try {
            if (!compiler.getTask(null, null, null, List.of("-d", folder.toString(), "-proc:none"), null, sources)
                    .call()) {
                throw new AssertionError("not compiled");
            }
        } finally {
            delete(folder);
        }
    }

    private static void delete(Path folder) throws IOException {
        try (var files = Files.list(folder)) {
            for (Path file : files.toList()) {
                Files.delete(file);
            }
        }
        Files.delete(folder);
    }

    private static final class Source extends SimpleJavaFileObject {

        private final String text;

        Source(String name) {
            super(URI.create("string:///" + name + ".java"), Kind.SOURCE);
            StringBuilder built = new StringBuilder("public final class " + name + " {\n");
            for (int i = 0; i < METHODS; i++) {
                built.append(String.format(Locale.ROOT, METHOD, i));
            }
            text = built.append("}\n").toString();
        }

        @Override
        public CharSequence getCharContent(boolean ignoreEncodingErrors) {
            return text;
        }
    }
}

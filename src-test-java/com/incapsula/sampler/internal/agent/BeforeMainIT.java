// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.agent;

import static org.assertj.core.api.Assertions.assertThat;

import com.incapsula.sampler.ThreadsSampler;
import com.incapsula.sampler.internal.options.BeanProperties;
import com.incapsula.sampler.testing.AgentJar;
import com.incapsula.sampler.testing.ChildJvm;
import com.incapsula.sampler.testing.ChosenManagersProgram;
import java.io.InputStream;
import java.lang.reflect.Method;
import java.net.URI;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Application servers choose their log manager and their MBean server in {@code main}. Until then the agent uses
 * nothing that would create these, whatever its options are.
 */
class BeforeMainIT {

    /** Classes whose first use creates something that the application may want to choose. */
    private static final Pattern CHOSEN_IN_MAIN =
            Pattern.compile("^(java\\.util\\.logging\\.|jdk\\.internal\\.logger\\.|"
                    + "sun\\.util\\.logging\\.|java\\.lang\\.System\\$LoggerFinder|org\\.slf4j\\.|javax\\.management\\.|"
                    + "java\\.lang\\.management\\.|com\\.sun\\.jmx\\.|com\\.sun\\.net\\.httpserver\\.).*");

    private static final String WITHOUT_REPORTS = "to=none,";
    private static final int AT_A_TIME = 2;

    @TempDir
    static Path shared;

    private static Path jar;

    @TempDir
    Path folder;

    @BeforeAll
    static void makeJar() throws Exception {
        jar = AgentJar.in(shared);
    }

    private static ChildJvm child(String options) {
        return ChildJvm.bare(ChosenManagersProgram.class.getName())
                .with(ChosenManagersProgram.class)
                .option("-javaagent:" + jar + "=" + options);
    }

    // ---- each option ----

    /** Values of the agent's own options, each with the other options that it needs. */
    private Map<String, List<String>> ofAgent() {
        String file = "file=" + folder + "/%p.html";
        return Map.ofEntries(
                Map.entry(Keys.FILE, List.of(file)),
                Map.entry(Keys.FORMAT, List.of(file + ",format=html")),
                Map.entry(Keys.KEEP, List.of("file=" + folder + "/%p-%t.html,every=1,keep=2")),
                Map.entry(Keys.MEASURE, List.of("file=" + folder + "/%p.collapsed,measure=cpu")),
                Map.entry(Keys.PER, List.of("file=" + folder + "/%p.calls.txt,per=class")),
                Map.entry(Keys.FOCUS, List.of("file=" + folder + "/%p.calls.txt,focus=a.B.c")),
                Map.entry(Keys.TO, List.of("to=log", "to=stdout", "to=none")),
                Map.entry(Keys.HTTP, List.of("to=none,http=0")),
                Map.entry(Keys.MCP, List.of("to=none,http=0,mcp=true")),
                Map.entry(Keys.PUSH, List.of("push=http://127.0.0.1:9/x,every=1")),
                Map.entry(Keys.PUSH_HEADERS, List.of("push=http://127.0.0.1:9/x,every=1,pushHeaders=a=b")),
                Map.entry(Keys.THREADS, List.of("to=none,threads=main")),
                Map.entry(Keys.CONFIG, List.of("config=" + folder + "/none")), // refused
                Map.entry(Keys.DURATION, List.of("duration=1s")), // refused
                Map.entry(Keys.CONTENT, List.of("content=html"))); // refused
    }

    private static final Map<String, String> TEXTS = Map.of(
            "rootMethods", ChosenManagersProgram.class.getName() + ".main",
            "jmxName", "x",
            "monitoredPackages", "com.incapsula",
            "instrumentationFilter", "com.incapsula");

    /** Values that differ from the default, for a choice or a flag; else one value. */
    private static List<String> values(String property) throws ReflectiveOperationException {
        Object standard = null;
        for (Method getter : ThreadsSampler.class.getMethods()) {
            if (getter.getName().equalsIgnoreCase("get" + property)
                    || getter.getName().equalsIgnoreCase("is" + property)) {
                standard = getter.invoke(new ThreadsSampler());
            }
        }
        if (standard instanceof Boolean flag) {
            return List.of(String.valueOf(!flag));
        }
        if (standard instanceof Enum<?> choice) {
            return Stream.of(choice.getDeclaringClass().getEnumConstants())
                    .filter(value -> value != choice)
                    .map(Object::toString)
                    .toList();
        }
        return List.of(standard instanceof Number ? standard.toString() : TEXTS.getOrDefault(property, "x"));
    }

    private List<String> optionSets() throws ReflectiveOperationException {
        Map<String, List<String>> sets = new HashMap<>(ofAgent());
        for (String property : BeanProperties.names()) {
            List<String> ofProperty = new ArrayList<>();
            for (String value : values(property)) {
                ofProperty.add(WITHOUT_REPORTS + property + "=" + value);
            }
            sets.put(property, ofProperty);
        }
        assertThat(sets.keySet()).as("options with values").containsAll(Keys.all());
        return sets.values().stream().flatMap(List::stream).sorted().toList();
    }

    /** @return the error, or "" */
    private static String check(String options) throws Exception {
        String output = child(options)
                .option("-Xlog:class+load:stdout:none")
                .run()
                .assertFine()
                .output();
        List<String> lines = List.of(output.split("\n"));
        List<String> before = lines.stream()
                .takeWhile(line -> !line.startsWith(ChosenManagersProgram.class.getName() + " "))
                .toList();
        assertThat(before.size()).as(options).isBetween(100, lines.size() - 1);
        List<String> touched = before.stream()
                .filter(line -> CHOSEN_IN_MAIN.matcher(line).matches())
                .limit(3)
                .toList();
        boolean isChosen = lines.contains("log manager: OwnLogManager") && lines.contains("MBean server: own");
        return touched.isEmpty() && isChosen ? "" : options + ": chosen " + isChosen + ", touched " + touched;
    }

    @Test
    void noOptionTouchesWhatTheApplicationChooses() throws Exception {
        Queue<String> waiting = new ConcurrentLinkedQueue<>(optionSets());
        List<String> wrong = Collections.synchronizedList(new ArrayList<>());
        ExecutorService threads = Executors.newFixedThreadPool(AT_A_TIME);
        List<Future<?>> all = new ArrayList<>();
        for (int i = 0; i < AT_A_TIME; i++) {
            all.add(threads.submit(() -> {
                for (String options = waiting.poll(); options != null; options = waiting.poll()) {
                    String found = check(options);
                    if (!found.isEmpty()) {
                        wrong.add(found);
                    }
                }
                return null;
            }));
        }
        threads.shutdown();
        for (Future<?> each : all) {
            each.get();
        }
        assertThat(wrong).isEmpty();
    }

    // ---- afterwards ----

    @Test
    void postponedOptionsAreThereAfterwards() throws Exception {
        ChildJvm.Running running = child("interval=5ms,to=log,every=1,jmx=x,http=0,rootMethods=x.Y.z")
                .start("runs on")
                .awaitOutput("log manager: OwnLogManager")
                .awaitOutput("MBean server: own")
                .awaitOutput(
                        "reports to the log com.incapsula.sampler.outputer.LoggerSamplingOutputer every 1 s, page at ")
                .awaitOutput("bean: [com.incapsula.sampler:")
                .awaitOutput("INFO: Report interval: from ");
        Matcher page = Pattern.compile("page at (\\S+)").matcher(running.output());
        assertThat(page.find()).isTrue();
        URL url = URI.create(page.group(1)).toURL();
        try (InputStream content = url.openStream()) {
            assertThat(new String(content.readAllBytes(), StandardCharsets.UTF_8))
                    .startsWith("<!DOCTYPE html>");
        }
        running.process().getOutputStream().close();
        running.await().assertFine();
    }
}

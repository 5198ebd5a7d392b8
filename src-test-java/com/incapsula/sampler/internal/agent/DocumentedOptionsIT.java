// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.agent;

import static org.assertj.core.api.Assertions.assertThat;

import com.incapsula.sampler.ThreadsSampler;
import com.incapsula.sampler.internal.agent.AgentCommand.Verb;
import com.incapsula.sampler.internal.options.BeanProperties;
import com.incapsula.sampler.testing.NothingLeft;
import com.incapsula.sampler.testing.PushServer;
import java.io.IOException;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/**
 * The agent's options in the documents: the examples start a sampler, and so does each pair of options, unless one of
 * the two needs a third option or they exclude each other; then the refusal says which.
 */
@ExtendWith(NothingLeft.class)
class DocumentedOptionsIT {

    private static final List<String> DOCUMENTS =
            List.of("README.md", "java/README.md", "java/REFERENCE.md", "SECURITY.md", "CHANGELOG.md");

    private static final boolean IS_LONG = Boolean.getBoolean("sampler.test.long");

    private static final Map<String, String> TEXTS = Map.of(
            "monitoredPackages", "com.acme",
            "rootMethods", "com.acme.Order.total",
            "instrumentationFilter", "com.acme",
            "ioMethods", "com.acme.Driver.read",
            "idleMethods", "com.acme.Loop.next",
            "jmxName", "pairs");

    @TempDir
    Path folder;

    private PushServer server;

    @BeforeEach
    void open() {
        server = new PushServer();
    }

    @AfterEach
    void close() {
        server.close();
    }

    // ---- examples ----

    private static String allDocuments() throws IOException {
        StringBuilder all = new StringBuilder(Usage.TEXT);
        for (String document : DOCUMENTS) {
            all.append('\n').append(Files.readString(Path.of(document)));
        }
        return all.toString();
    }

    private static List<String> found(String expression, String text) {
        return Pattern.compile(expression)
                .matcher(text)
                .results()
                .map(match -> match.group(1))
                .filter(found -> !found.startsWith("OPTIONS"))
                .toList();
    }

    @Test
    void examplesStart() throws IOException {
        String text = allDocuments();
        List<String> options = new ArrayList<>(found("-javaagent:\\S*?\\.jar=([^\\s`]+)", text));
        options.addAll(found("-agentpath:\\S*?\\.so=([^\\s`]+)", text));
        options.addAll(found("JVMTI\\.agent_load \\S+ ([^\\s`]+)", text));
        assertThat(options).hasSizeGreaterThanOrEqualTo(4).contains("push=otlp+http://collector:4318");
        for (String each : options) {
            AgentCommand command = AgentCommand.parse(each);
            assertThat(command.verb()).as(each).isEqualTo(Verb.START);
            assertThat(outcome(command.settings(), true)).as(each).isNull();
        }
    }

    @Test
    void examplesOfTheEnvironmentStart() throws IOException {
        String text = allDocuments();
        Map<String, String> environment = Stream.of(
                        "(?m)(THREADS_SAMPLER_[A-Z_]+)=(\\S+)", "(THREADS_SAMPLER_[A-Z_]+)\\s+value: (\\S+)")
                .flatMap(form -> Pattern.compile(form).matcher(text).results())
                .collect(Collectors.toMap(match -> match.group(1), match -> match.group(2), (first, last) -> last));
        assertThat(environment).containsKeys("THREADS_SAMPLER_FILE", "THREADS_SAMPLER_EVERY");
        List<String> ignored = new ArrayList<>();
        Map<String, String> settings = AgentSession.merged(Map.of(), environment, ignored);
        assertThat(ignored).isEmpty();
        assertThat(outcome(settings, true)).isNull();
    }

    @Test
    void examplesOfTheCommandLineAreRead() throws IOException {
        List<String> lines = found("(?m)^java -jar threads-sampler\\.jar (.+)$", allDocuments()).stream()
                .filter(line -> !line.contains("|"))
                .toList();
        assertThat(lines).hasSizeGreaterThanOrEqualTo(5);
        for (String line : lines) {
            Arguments arguments =
                    Arguments.parse(line.replaceFirst("\\s{2,}.*", "").split(" "));
            if (arguments.action() == Arguments.Action.ATTACH) {
                AgentCommand command = AgentCommand.parse(arguments.forAgent());
                assertThat(command.verb()).as(line).isEqualTo(arguments.verb());
                if (command.verb() == Verb.START) {
                    assertThat(outcome(command.settings(), false)).as(line).isNull();
                }
            }
        }
    }

    /* Starts a sampler with these settings. Returns null if it ran, else the refusal. */
    private @Nullable String outcome(Map<String, String> settings, boolean atStart) {
        try {
            AgentSampler sampler = AgentSession.prepared(here(settings), atStart);
            sampler.init();
            sampler.end();
            return null;
        } catch (Refusal e) {
            return e.getMessage();
        }
    }

    /* Replaces files and servers by those of this test. */
    private Map<String, String> here(Map<String, String> settings) {
        Map<String, String> changed = new LinkedHashMap<>(settings);
        changed.computeIfPresent(
                Keys.FILE,
                (key, file) -> folder.resolve(Path.of(file).getFileName()).toString());
        changed.computeIfPresent(Keys.PUSH, (key, url) -> url.replaceFirst("//[^/]+", "//" + server.address()));
        return changed;
    }

    // ---- pairs ----

    /**
     * Pairs of options that the documents name in one row, paragraph or example; in the long form also pairs of the
     * sampler's own options.
     */
    @Test
    void pairsThatTheDocumentsMentionTogetherStart() throws IOException {
        Map<String, List<String>> values = values();
        int started = 0;
        for (Set<String> pair : documentedPairs(values.keySet())) {
            if (!IS_LONG && !isOfAgent(pair)) {
                continue;
            }
            for (Map<String, String> settings : combinations(pair, values)) {
                String expected = refusal(settings);
                if (isReady(settings)) {
                    assertOutcome(settings, expected, outcome(settings, false));
                    started++;
                }
            }
        }
        assertThat(started).isGreaterThan(30);
    }

    private static boolean isOfAgent(Set<String> pair) {
        return pair.stream().anyMatch(name -> !BeanProperties.has(name) || name.equals(Keys.EVERY));
    }

    @Test
    void everyPairOfTheTablesIsTakenOrRefusedWithAReason() throws IOException {
        Map<String, List<String>> values = values();
        List<String> names = new ArrayList<>(values.keySet());
        for (int i = 0; i < names.size(); i++) {
            for (String second : names.subList(i + 1, names.size())) {
                for (Map<String, String> settings : combinations(Set.of(names.get(i), second), values)) {
                    assertOutcome(settings, refusalOfOptions(settings), prepared(settings));
                }
            }
        }
    }

    private static @Nullable String prepared(Map<String, String> settings) {
        try {
            AgentSession.prepared(new LinkedHashMap<>(settings), false);
            return null;
        } catch (Refusal e) {
            return e.getMessage();
        }
    }

    private static void assertOutcome(
            Map<String, String> settings, @Nullable String expected, @Nullable String outcome) {
        if (expected == null) {
            assertThat(outcome).as(settings.toString()).isNull();
        } else {
            assertThat(outcome).as(settings.toString()).startsWith(expected);
        }
    }

    /** Compiling a longer regular expression would take time that grows with the square of its length. */
    @Test
    void textsThatAreTooLongAreRefused() {
        assertThat(prepared(Map.of(Keys.THREADS, "a".repeat(4096)))).isNull();
        assertThat(prepared(Map.of(Keys.THREADS, "a".repeat(4097))))
                .isEqualTo("threads must have at most 4096 characters, got 4097");
        assertThat(prepared(Map.of(Keys.FILE, "/tmp/" + "%%".repeat(250) + ".json")))
                .isNull();
        assertThat(prepared(Map.of(Keys.FILE, "/tmp/" + "a".repeat(256))))
                .isEqualTo("file must have a name of at most 255 characters, got 256");
    }

    @Test
    void theTableHasAllKeys() throws IOException {
        String table = between("| key of the agent |", "- **Times**");
        Set<String> keys =
                new TreeSet<>(found("`(\\w+)`", String.join("\n", found("(?m)^\\|((?: `\\w+`,?)+) \\|", table))));
        assertThat(keys).contains("every", "push").contains(AgentCommand.JAR);
        keys.remove(AgentCommand.JAR);
        Set<String> known = new TreeSet<>(found("(\\w+)(?:,|$)", Keys.help().replaceFirst(", and the .*", "")));
        assertThat(keys).isEqualTo(known);
    }

    private static String between(String first, String last) throws IOException {
        String text = Files.readString(Path.of("java/REFERENCE.md"));
        int begin = text.indexOf(first);
        return text.substring(begin, text.indexOf(last, begin));
    }

    /*
     * Values by canonical key, in order; for an enumeration each constant. Excludes {@code duration}, which belongs to
     * run, and {@code config}, which is replaced by the content of its file.
     */
    private Map<String, List<String>> values() throws IOException {
        Map<String, List<String>> values = new TreeMap<>();
        for (Method setter : ThreadsSampler.class.getMethods()) {
            String name = setter.getName().replaceFirst("^set", "");
            String property = name.isEmpty() ? "" : Character.toLowerCase(name.charAt(0)) + name.substring(1);
            if (setter.getName().startsWith("set") && BeanProperties.has(property)) {
                values.put(property, valuesOf(property, setter.getParameterTypes()[0], name));
            }
        }
        assertThat(values.keySet()).isEqualTo(BeanProperties.names());
        values.put("samplingFrequencyMillis", List.of("20ms"));
        values.put("reportFrequencySeconds", List.of("10s"));
        values.put(Keys.FILE, List.of(folder.resolve("pair.html").toString()));
        values.put(Keys.FORMAT, List.of("json"));
        values.put(Keys.KEEP, List.of("3"));
        values.put(Keys.TO, List.of("file", "log", "stdout", "none"));
        values.put(Keys.HTTP, List.of("0"));
        values.put(Keys.MCP, List.of("true"));
        values.put(Keys.PUSH, List.of("http://" + server.address()));
        values.put(Keys.PUSH_HEADERS, List.of("a=b"));
        values.put(Keys.THREADS, List.of("main"));
        return values;
    }

    private static List<String> valuesOf(String property, Class<?> type, String name) {
        if (type == String.class) {
            assertThat(TEXTS).as("a value for the pairs of " + property).containsKey(property);
            return List.of(TEXTS.get(property));
        }
        if (type == boolean.class) {
            return List.of("true");
        }
        if (type.isEnum()) {
            return Arrays.stream(type.getEnumConstants()).map(String::valueOf).toList();
        }
        try {
            return List.of(
                    String.valueOf(ThreadsSampler.class.getMethod("get" + name).invoke(new ThreadsSampler())));
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }

    private static List<Map<String, String>> combinations(Set<String> pair, Map<String, List<String>> values) {
        List<Map<String, String>> all = List.of(Map.of());
        for (String name : pair) {
            List<Map<String, String>> longer = new ArrayList<>();
            for (Map<String, String> before : all) {
                for (String value : values.get(name)) {
                    Map<String, String> settings = new TreeMap<>(before);
                    settings.put(name, value);
                    longer.add(settings);
                }
            }
            all = longer;
        }
        return all;
    }

    /* Excludes reports to the working folder or to the console, which pairs are not about. */
    private static boolean isReady(Map<String, String> settings) {
        String output = settings.getOrDefault(Keys.TO, "none");
        return !output.equals("stdout") && (!output.equals("file") || settings.containsKey(Keys.FILE));
    }

    private static Set<Set<String>> documentedPairs(Set<String> known) throws IOException {
        Set<Set<String>> pairs = new LinkedHashSet<>();
        for (String unit : allDocuments().split("\n(?=\\||- |\n|  - )|\n\n")) {
            List<String> names = Pattern.compile("\\w+")
                    .matcher(String.join(" ", found("`([^`\n]+)`", unit)) + " " + code(unit))
                    .results()
                    .map(MatchResult::group)
                    .map(word -> Keys.canonical(word))
                    .filter(name -> name != null && known.contains(name))
                    .distinct()
                    .toList();
            for (int i = 0; i < names.size(); i++) {
                for (String second : names.subList(i + 1, names.size())) {
                    pairs.add(Set.of(names.get(i), second));
                }
            }
        }
        return pairs;
    }

    /* The lines of examples with their options. */
    private static String code(String unit) {
        return String.join(" ", found("(?m)^(?:java|jcmd|JAVA_TOOL_OPTIONS)(.*)$", unit));
    }

    // ---- refusals and their reasons ----

    private static boolean has(Map<String, String> settings, String key, String value) {
        return value.equals(settings.get(key));
    }

    /* The documented requirements and exclusions of options. */
    private static @Nullable String refusalOfOptions(Map<String, String> settings) {
        Set<String> keys = settings.keySet();
        String output = settings.getOrDefault(Keys.TO, keys.contains(Keys.FILE) ? "file" : "none");
        for (String key : List.of(Keys.FILE, Keys.FORMAT, Keys.KEEP)) {
            if (keys.contains(key) && !output.equals("file")) {
                return keys.contains(Keys.FORMAT) || keys.contains(Keys.KEEP) ? "" : key + " needs to=file";
            }
        }
        boolean hasPlace = keys.contains(Keys.TO)
                || keys.contains(Keys.FILE)
                || keys.contains(Keys.PUSH)
                || keys.contains("jfrEvents");
        if (keys.contains(Keys.EVERY) && !hasPlace) {
            return "every has no place for its reports: ";
        }
        if (keys.contains(Keys.PUSH_HEADERS) && !keys.contains(Keys.PUSH)) {
            return "pushHeaders needs push";
        }
        if (keys.contains(Keys.MCP) && !keys.contains(Keys.HTTP)) {
            return "mcp needs http=PORT";
        }
        return null;
    }

    private static @Nullable String refusal(Map<String, String> settings) {
        String ofOptions = refusalOfOptions(settings);
        if (ofOptions != null) {
            return ofOptions;
        }
        if (has(settings, "clock", "CPU") && has(settings, "engine", "JVMTI")) {
            return "clock";
        }
        return null;
    }
}

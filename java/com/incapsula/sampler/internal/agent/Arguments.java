// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.agent;

import com.incapsula.sampler.internal.agent.AgentCommand.Verb;
import com.incapsula.sampler.internal.report.FileNames;
import com.incapsula.sampler.outputer.FileSamplingOutputer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A command line, checked as far as possible without the target.
 *
 * <p>Threads: one.
 */
final class Arguments {

    /** The command. */
    enum Action {
        HELP,
        VERSION,
        LIST,
        ATTACH,
        DIFF,
        MERGE
    }

    private static final Map<Character, String> SHORT = Map.of('d', Keys.DURATION, 'i', "interval", 'o', Keys.OUTPUT);
    private static final String NO = "no-";
    private static final String STANDARD_DURATION = "10s";
    private static final Set<String> BEGIN_WITH_SUMMARY = Set.of("top", "text"); // formats

    private Action action = Action.LIST;
    private Verb verb = Verb.RUN;
    private @Nullable String output; // null: standard output
    private boolean isStandardOutput; // by name
    private final List<String> words = new ArrayList<>();
    private final Map<String, List<String>> settings = new LinkedHashMap<>();

    private Arguments() {}

    /**
     * Reads a command line in the style of GNU programs: {@code -d10s}, {@code -d 10s}, {@code --duration=10s},
     * {@code --duration 10s}; no options follow {@code --}.
     *
     * @throws Refusal if it is wrong
     */
    static Arguments parse(String... arguments) {
        Arguments parsed = new Arguments();
        boolean isOver = false;
        for (Iterator<String> rest = List.of(arguments).iterator(); rest.hasNext(); ) {
            String word = rest.next();
            if (isOver || !word.startsWith("-") || word.equals("-")) {
                parsed.words.add(word);
            } else if (word.equals("--")) {
                isOver = true;
            } else if (word.startsWith("--")) {
                parsed.longOption(word, rest);
            } else {
                parsed.shortOption(word, rest);
            }
        }
        parsed.findAction();
        return parsed;
    }

    private void longOption(String word, Iterator<String> rest) {
        int equals = word.indexOf('=');
        String key = equals < 0 ? word.substring(2) : word.substring(2, equals);
        if (word.equals("--help")) {
            action = Action.HELP;
        } else if (word.equals("--version")) {
            action = Action.VERSION;
        } else if (equals < 0 && key.startsWith(NO) && Keys.isFlag(key.substring(NO.length()))) {
            Keys.add(settings, key.substring(NO.length()), "false");
        } else if (key.equals(Keys.CONTENT) || Keys.canonical(key) == null) {
            throw new Refusal("there is no option --" + key);
        } else if (equals < 0 && Keys.isFlag(key)) {
            Keys.add(settings, key, "true");
        } else {
            set(key, equals < 0 ? valueOf("--" + key, rest) : word.substring(equals + 1));
        }
    }

    private void shortOption(String word, Iterator<String> rest) {
        String key = SHORT.get(word.charAt(1));
        if (word.equals("-h")) {
            action = Action.HELP;
        } else if (key == null) {
            throw new Refusal("there is no option " + word);
        } else {
            set(key, word.length() > 2 ? word.substring(2) : valueOf(word, rest));
        }
    }

    private static String valueOf(String option, Iterator<String> rest) {
        if (!rest.hasNext()) {
            throw new Refusal(option + " needs a value");
        }
        return rest.next();
    }

    private void set(String key, String value) {
        if (!key.equals(Keys.OUTPUT)) {
            Keys.add(settings, key, value);
            return;
        }
        if (isStandardOutput || output != null) {
            throw new Refusal("-o is there twice");
        }
        isStandardOutput = value.equals("-");
        output = isStandardOutput ? null : value;
    }

    private void findAction() {
        if (action == Action.HELP || action == Action.VERSION || (words.isEmpty() && isBare())) {
            return;
        }
        if (words.isEmpty()) {
            throw new Refusal("which JVM? a process id or a name is missing");
        }
        String first = words.get(0);
        if (first.equals("diff") || first.equals("merge")) {
            action = first.equals("diff") ? Action.DIFF : Action.MERGE;
            words.remove(0);
            return;
        }
        action = Action.ATTACH;
        Verb named = Verb.of(first);
        if (named != null) {
            verb = named;
            words.remove(0);
        }
        if (words.isEmpty()) {
            throw new Refusal("which JVM? a process id or a name is missing");
        }
        if (verb == Verb.SET && words.size() == 2 && words.get(1).indexOf('=') > 0) {
            String pair = words.remove(1);
            int at = pair.indexOf('=');
            Keys.add(settings, pair.substring(0, at), pair.substring(at + 1));
        }
        if (words.size() > 1) {
            throw new Refusal("\"" + words.get(1) + "\" is one word too many");
        }
        if (verb == Verb.START && isStandardOutput) {
            throw new Refusal("-o - is the standard output of this command, which ends before the reports come;"
                    + " --to stdout is that of the target");
        }
        if (verb == Verb.SET && settings.size() != 1) {
            throw new Refusal("set needs one KEY=VALUE");
        }
    }

    private boolean isBare() {
        return settings.isEmpty() && output == null && !isStandardOutput;
    }

    Action action() {
        return action;
    }

    Verb verb() {
        return verb;
    }

    /** @return the word for the JVM */
    String target() {
        return words.get(0);
    }

    /** @return the options by canonical key */
    Map<String, String> settings() {
        return Keys.joined(settings);
    }

    /** @return the files of {@link Action#DIFF} and {@link Action#MERGE} */
    List<String> files() {
        return words;
    }

    /** @return the file that this process writes the report to; null: standard output, or the target writes it */
    @Nullable
    String output() {
        return verb == Verb.START ? null : output;
    }

    /** @return how long a run takes */
    long durationMillis() {
        String duration = settings().getOrDefault(Keys.DURATION, STANDARD_DURATION);
        return Refusal.unlessMillis(Keys.DURATION, duration);
    }

    /** @return the text for {@link AgentCommand} */
    String forAgent() {
        Map<String, String> sent = settings();
        if (verb == Verb.START && output != null) {
            sent.put(Keys.FILE, Path.of(output).toAbsolutePath().toString());
        }
        boolean isFetched = verb == Verb.RUN || verb == Verb.DUMP || verb == Verb.STOP;
        if (isFetched && !sent.containsKey(Keys.FILE)) {
            String format = sent.remove(Keys.FORMAT);
            sent.put(Keys.CONTENT, format != null ? format : standardFormat());
        }
        if (verb == Verb.RUN) {
            sent.put(Keys.DURATION, durationMillis() + "ms");
            String content = sent.getOrDefault(Keys.CONTENT, "").toLowerCase(Locale.ROOT);
            if (output == null && BEGIN_WITH_SUMMARY.contains(content)) {
                sent.put(AgentCommand.SUMMARY, "false");
            }
        }
        StringBuilder text = new StringBuilder(verb.text());
        sent.forEach((key, value) -> text.append(',').append(key).append('=').append(AgentCommand.escape(value)));
        return text.toString();
    }

    private String standardFormat() {
        if (output == null) {
            return "top";
        }
        try {
            return new FileSamplingOutputer(FileNames.expand(output, ""))
                    .getFormat()
                    .name()
                    .toLowerCase(Locale.ROOT);
        } catch (IllegalArgumentException e) {
            throw new Refusal("-o: " + e.getMessage(), e);
        }
    }
}

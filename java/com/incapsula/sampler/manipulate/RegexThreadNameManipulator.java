// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.manipulate;

import com.incapsula.sampler.internal.options.Values;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;
import org.jspecify.annotations.Nullable;

/**
 * Removes text that matches patterns from thread names, so that {@code worker-1} and {@code worker-2} are one group
 * {@code worker-}. The sampler's default.
 *
 * <pre>{@code
 * RegexThreadNameManipulator byPool = new RegexThreadNameManipulator();
 * byPool.setThreadNameRemovalPatterns(List.of("-thread-\\d+$"));
 * sampler.setThreadNameManipulator(byPool);
 * }</pre>
 *
 * <p>The default patterns remove, one after the other:
 *
 * <ol>
 *   <li>UUIDs;
 *   <li>runs of eight or more hexadecimal digits with both a digit and a letter ({@code 1a2b3c4d}, but also
 *       {@code facade12}: a word of the letters a to f with digits behind it);
 *   <li>{@code [0-9a-f]{16,}}, longer identifiers of one kind;
 *   <li>{@code [\.:\d]+}: numbers, addresses, ports.
 * </ol>
 *
 * <p>The first two match capital letters, too. A name that becomes empty is grouped under {@value #UNNAMED}.
 *
 * <p>With the default patterns the sampler applies the rule in its native core, without a call into Java. So set
 * other patterns before you give the manipulator to a sampler.
 *
 * <p>Threads: any.
 *
 * @since 1.0
 */
public class RegexThreadNameManipulator implements ThreadNameManipulator {

    /** The group of threads with an empty name. */
    public static final String UNNAMED = "[unnamed]";

    private static final String HEX = "[0-9a-fA-F]";

    /* A run is matched from its begin or not at all; otherwise a long run would take quadratic time. */
    private static final String MIXED_RUN = "(?<!" + HEX + ")(?=\\d*[a-fA-F])(?=[a-fA-F]*\\d)" + HEX + "{8,}";

    private static final List<String> DEFAULT_PATTERNS =
            List.of(HEX + "{8}(?:-" + HEX + "{4}){3}-" + HEX + "{12}", MIXED_RUN, "[0-9a-f]{16,}", "[\\.:\\d]+");

    /* null: the default patterns, which are compiled at their first use, usually never. */
    private volatile @Nullable List<Pattern> patterns;

    /** Creates a manipulator with the default patterns. */
    public RegexThreadNameManipulator() {}

    /**
     * Sets the patterns of text to remove from thread names. The patterns are applied one after the other, each to the
     * result of the one before.
     *
     * @param threadNameRemovalPatterns regular expressions of {@link Pattern}; an empty list leaves names as they are
     * @throws IllegalArgumentException if the list or a pattern is null, or a pattern is not a regular expression
     */
    public void setThreadNameRemovalPatterns(List<String> threadNameRemovalPatterns) {
        patterns = compile(Values.notNull("threadNameRemovalPatterns", threadNameRemovalPatterns));
    }

    /** {@return the regular expressions in use, in order of application; not modifiable} */
    public List<String> getThreadNameRemovalPatterns() {
        List<Pattern> used = patterns;
        if (used == null) {
            return DEFAULT_PATTERNS;
        }
        return used.stream().map(Pattern::pattern).toList();
    }

    @Override
    public String getManipulatedThreadName(Thread thread) {
        List<Pattern> used = patterns;
        String name = thread.getName();
        for (Pattern pattern : used != null ? used : Defaults.PATTERNS) {
            name = pattern.matcher(name).replaceAll("");
        }
        return name.isEmpty() ? UNNAMED : name;
    }

    private static List<Pattern> compile(List<String> expressions) {
        List<Pattern> compiled = new ArrayList<>(expressions.size());
        for (String expression : expressions) {
            String where = "threadNameRemovalPatterns[" + compiled.size() + "]";
            Values.notNull(where, expression);
            try {
                compiled.add(Pattern.compile(expression));
            } catch (PatternSyntaxException e) {
                throw new IllegalArgumentException(
                        where + " must be a regular expression, got " + expression + ": " + e.getDescription(), e);
            }
        }
        return List.copyOf(compiled);
    }

    private static final class Defaults {
        private static final List<Pattern> PATTERNS = compile(DEFAULT_PATTERNS);
    }
}

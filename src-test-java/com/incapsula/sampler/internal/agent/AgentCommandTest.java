// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.incapsula.sampler.internal.agent.AgentCommand.Verb;
import com.incapsula.sampler.internal.agent.AnswerSlot.Answer;
import com.incapsula.sampler.internal.agent.AnswerSlot.State;
import com.incapsula.sampler.internal.report.PlainText;
import com.incapsula.sampler.testing.Samplers;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The grammar of the agent's options, and the answers. */
class AgentCommandTest {

    private static AgentCommand parse(String options) {
        return AgentCommand.parse(options);
    }

    private static void assertRefused(String options, String message) {
        assertThatExceptionOfType(Refusal.class)
                .isThrownBy(() -> parse(options))
                .withMessageContaining(message);
    }

    @Test
    void nothingMeansStart() {
        assertThat(parse("")).isEqualTo(new AgentCommand(Verb.START, Map.of(), null, List.of()));
        assertThat(parse(" , ,")).isEqualTo(parse("start"));
    }

    @Test
    void anEqualsSignAndAColonSeparateWhicheverComesFirst() {
        assertThat(parse("dump,file:a=b.html").settings()).containsExactly(Map.entry("file", "a=b.html"));
        assertThat(parse("stop,file=a:b.html").settings()).containsExactly(Map.entry("file", "a:b.html"));
        assertThat(parse("stop , file = a b ").settings()).containsExactly(Map.entry("file", "a b"));
        assertThat(parse("status").verb()).isEqualTo(Verb.STATUS);
    }

    @Test
    void shortKeysAreThePropertiesThemselves() {
        assertThat(parse("interval=5ms,every=1h,jmx=x,packages=a,monitoredPackages=b")
                        .settings())
                .containsOnly(
                        Map.entry("samplingFrequencyMillis", "5ms"),
                        Map.entry("reportFrequencySeconds", "1h"),
                        Map.entry("jmxName", "x"),
                        Map.entry("monitoredPackages", "a,b"));
    }

    @Test
    void theMeasureHasThreeNames() {
        for (String name : List.of("measure", "by", "weight")) {
            assertThat(parse("dump," + name + "=calls").settings()).containsExactly(Map.entry("measure", "calls"));
        }
        assertRefused("dump,by=cpu,weight=calls", "weight is there twice: cpu and calls");
    }

    @Test
    void anUnknownWordIsNamedTogetherWithTheKnownOnes() {
        assertRefused(
                "start,intervall=5", "there is no option \"intervall\"; options are interval, packages, every, jmx,");
        assertRefused("threadToBeSampled=x", "there is no option \"threadToBeSampled\"");
        assertRefused("begin", "\"begin\" is neither one of start, run, dump, status, set, stop, mcp nor KEY=VALUE");
        assertRefused("packages=com.acme,org.example", "\"org.example\" is not KEY=VALUE; a list repeats its key");
        assertRefused("interval", "interval has no value: write interval=VALUE, or interval:VALUE for jcmd");
        assertRefused("file=a,file=b", "file is there twice: a and b");
    }

    @Test
    void noMessageShowsAPassword() {
        assertThatExceptionOfType(Refusal.class)
                .isThrownBy(() -> parse("push=http://u:secret@h,push=http://h"))
                .withMessage("push is there twice");
        assertThatExceptionOfType(Refusal.class)
                .isThrownBy(() -> parse("pushHeaders:Authorization=secret,pushHeaders:A=b"))
                .withMessage("pushHeaders is there twice");
    }

    @Test
    void theIdIsFoundInACommandThatIsWrong() {
        assertThat(AnswerSlot.of("nonsense,answer=7f").isAwaited()).isTrue();
        assertThat(AnswerSlot.of("start").isAwaited()).isFalse();
        assertThat(parse("run,answer=7f,copy=/a\\,b.jar,copy=/c.so,jar=/d.jar,library=/l.so"))
                .isEqualTo(new AgentCommand(Verb.RUN, Map.of(), "7f", List.of("/a,b.jar", "/c.so")));
        assertThat(AgentCommand.written("wrong,library=/l\\,.so", AgentCommand.LIBRARY))
                .isEqualTo("/l,.so");
        assertThat(AgentCommand.written("stop", AgentCommand.LIBRARY)).isNull();
    }

    @Test
    void aValueThatEndsInABackslashEndsThere() {
        assertThat(parse("start,threads=a\\\\,interval=5ms").settings())
                .containsOnly(Map.entry("threads", "a\\"), Map.entry("samplingFrequencyMillis", "5ms"));
        assertThat(parse("threads=\\d+\\.x\\").settings()).containsOnly(Map.entry("threads", "\\d+\\.x\\"));
    }

    /** Values with commas and backslashes arrive unchanged. */
    @Test
    void escapedValuesArriveAsTheyWere() {
        Random random = new Random(13);
        for (int round = 0; round < 2000; round++) {
            List<String> values = new ArrayList<>();
            StringBuilder text = new StringBuilder();
            for (int i = 0; i <= random.nextInt(4); i++) {
                StringBuilder value = new StringBuilder("v");
                random.ints(random.nextInt(6), 0, 5).forEach(c -> value.append("a,=:\\".charAt(c)));
                values.add(value.toString());
                text.append(i == 0 ? "" : ",").append(AgentCommand.escape(value.toString()));
            }
            assertThat(AgentCommand.split(text.toString())).isEqualTo(values);
        }
    }

    /** The time grows with the number of parts, not with its square, which would take ten minutes. */
    @Test
    @Timeout(Samplers.HANG_SECONDS)
    void aListMayHaveAMillionParts() {
        int parts = 1_000_000;
        assertThat(parse("packages=a,".repeat(parts)).settings())
                .containsExactly(Map.entry("monitoredPackages", "a,".repeat(parts - 1) + "a"));
    }

    @Test
    void anAnswerIsReadByItsIdOnly() {
        Properties properties = new Properties();
        assertThat(AnswerSlot.read(properties, "1")).isNull();
        assertThat(AnswerSlot.isInUse(properties)).isFalse();
        properties.setProperty(AnswerSlot.PROPERTY + 3, "1 DONE /tmp/a b.html\nfirst\nsecond");
        assertThat(AnswerSlot.read(properties, "1"))
                .isEqualTo(new Answer(State.DONE, "/tmp/a b.html", "first\nsecond"));
        assertThat(AnswerSlot.read(properties, "2")).isNull();
        assertThat(AnswerSlot.isInUse(properties)).isTrue();
        properties.setProperty(AnswerSlot.PROPERTY + 3, "1 REFUSED \nwhy");
        assertThat(AnswerSlot.read(properties, "1")).isEqualTo(new Answer(State.REFUSED, null, "why"));
        for (String broken : List.of("", "1", "1 DONE", "1 DONE x", "1 LATER x\ntext")) {
            properties.setProperty(AnswerSlot.PROPERTY + 3, broken);
            assertThat(AnswerSlot.read(properties, "1")).as(broken).isNull();
        }
    }

    @Test
    void variablesAreSettingsByTheirNames() {
        List<String> ignored = new ArrayList<>();
        assertThat(Keys.ofEnvironment(
                        Map.of(
                                "THREADS_SAMPLER_INTERVAL", "5ms",
                                "THREADS_SAMPLER_REPORT_CPU_TIME", " true ",
                                "THREADS_SAMPLER_FILE", "x",
                                "THREADS_SAMPLER_PORT", "tcp://10.0.0.1:80",
                                "THREADS_SAMPLER_KEEP", " ",
                                "OTHER", "y"),
                        ignored))
                .containsOnly(
                        Map.entry("samplingFrequencyMillis", "5ms"),
                        Map.entry("reportCpuTime", "true"),
                        Map.entry("file", "x"));
        assertThat(ignored).containsExactly("THREADS_SAMPLER_PORT");
    }

    /** Each source of settings may name another output under another key. */
    @Test
    void theNearerPlaceForReportsWins() {
        Map<String, String> aFile = Map.of("THREADS_SAMPLER_FILE", "x.html", "THREADS_SAMPLER_KEEP", "3");
        assertThat(AgentSession.merged(Map.of("to", "log"), aFile, new ArrayList<>()))
                .containsOnly(Map.entry("to", "log"));
        assertThat(AgentSession.merged(Map.of("file", "y.html"), aFile, new ArrayList<>()))
                .containsOnly(Map.entry("file", "y.html"), Map.entry("keep", "3"));
        assertThat(AgentSession.merged(
                        Map.of("file", "y.html"), Map.of("THREADS_SAMPLER_TO", "log"), new ArrayList<>()))
                .containsOnly(Map.entry("file", "y.html"));
    }

    @Test
    void aJvmThatIsTooOldIsRefused() throws Exception {
        for (String version : List.of("17", "25", "", "next")) {
            Target.requireVersion(version);
        }
        for (String version : List.of("1.8", "11")) {
            assertThatExceptionOfType(Target.Unreachable.class)
                    .isThrownBy(() -> Target.requireVersion(version))
                    .withMessage("it runs on Java " + version + ", the agent needs 17");
        }
    }

    @Test
    void aQuestionThatFailsIsAskedAgain() throws Exception {
        Properties answer = new Properties();
        int[] calls = new int[1];
        assertThat(Target.oneOf(3, () -> {
                    if (++calls[0] < 3) {
                        throw new IOException("java.lang.NullPointerException");
                    }
                    return answer;
                }))
                .isSameAs(answer);
        assertThatExceptionOfType(IOException.class)
                .isThrownBy(() -> Target.oneOf(2, () -> {
                    calls[0]++;
                    throw new IOException("it has ended");
                }))
                .withMessage("it has ended");
        assertThat(calls[0]).isEqualTo(5);
    }

    /** A process chooses its name and its answers, so they must not control a terminal. */
    @Test
    void textOfOtherProcessesCannotControlATerminal() {
        assertThat(PlainText.of("two\tlines\nof text \u00e4\u4e2d")).isEqualTo("two\tlines\nof text \u00e4\u4e2d");
        assertThat(PlainText.of("a\u001b[2Jb\r\u009b\u202ec\u007f"))
                .isEqualTo("a\\u001b[2Jb\\u000d\\u009b\\u202ec\\u007f");
        assertThat(JvmNames.shown("a\nb\u0007")).isEqualTo("a b\\u0007");
    }

    @Test
    void aJvmIsFoundByProcessClassJarOrAnyPart() {
        List<Target.Listed> all = List.of(
                new Target.Listed("1", "com.acme.Shop --port 80"),
                new Target.Listed("2", "/opt/shop/shop.jar"),
                new Target.Listed("3", "com.acme.ShopTest"),
                new Target.Listed("4", ""));
        assertThat(JvmNames.find(all, "3")).containsExactly(all.get(2));
        assertThat(JvmNames.find(all, "77")).containsExactly(new Target.Listed("77", ""));
        assertThat(JvmNames.find(all, "Shop")).containsExactly(all.get(0));
        assertThat(JvmNames.find(all, "com.acme.Shop")).containsExactly(all.get(0));
        assertThat(JvmNames.find(all, "shop")).containsExactly(all.get(1));
        assertThat(JvmNames.find(all, "--port")).containsExactly(all.get(0));
        assertThat(JvmNames.find(all, "acme")).containsExactly(all.get(0), all.get(2));
        assertThat(JvmNames.find(all, "nothing")).isEmpty();
    }
}

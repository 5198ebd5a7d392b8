// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import static com.incapsula.sampler.testing.Samplers.awaitTicks;
import static org.assertj.core.api.Assertions.assertThat;

import com.incapsula.sampler.outputer.LoggerSamplingOutputer;
import com.incapsula.sampler.outputer.PrintStreamSamplingOutputer;
import com.incapsula.sampler.testing.Group;
import com.incapsula.sampler.testing.Logged;
import com.incapsula.sampler.testing.NothingLeft;
import com.incapsula.sampler.testing.Report;
import com.incapsula.sampler.testing.SpringXml;
import com.incapsula.sampler.testing.Worker;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.context.support.GenericXmlApplicationContext;

/** The three uses that the original's document prints, unchanged. */
@ExtendWith(NothingLeft.class)
class SnippetsIT {

    private static final List<String> ENDS_OF_THREADS =
            List.of("java.lang.Thread.exit", "[thread ended]", "[no Java frames]");

    private static final String BEANS = """
    <bean id="samplingOutputer" class="com.incapsula.sampler.outputer.LoggerSamplingOutputer" scope="singleton" />
    <bean id="threasSampler" class="com.incapsula.sampler.ThreadsSampler" scope="singleton" init-method="init">
      <property name="monitoredPackages" value="com.imperva,com.mprv" />
      <property name="reportFrequencySeconds" value="600" />
      <property name="samplingFrequencyMillis" value="25" />
      <property name="skipDaemonThreads" value="true" />
      <property name="active" value="true" />
      <property name="samplingOutputer" ref="samplingOutputer" />
    </bean>
    """;

    @TempDir
    Path folder;

    private long workedMillis;

    private void someCode(ThreadsSampler sampler) {
        long start = System.nanoTime();
        awaitTicks(sampler, 8);
        workedMillis = (System.nanoTime() - start) / 1_000_000;
    }

    private void longRunningMethod() {
        try (ThreadsSampler ts = new ThreadsSampler()) {
            ts.setMonitoredPackages("com.imperva,com.mprv");
            ts.setReportFrequencySeconds(0);
            ts.setSamplingFrequencyMillis(25L);
            ts.setThreadToBeSampled(Thread.currentThread());
            ts.setActive(true);
            ts.init();
            someCode(ts);
        } catch (IOException ioe) {
        }
    }

    private void longRunningMethodToFile(String file) {
        try (ThreadsSampler ts = new ThreadsSampler()) {
            ts.setMonitoredPackages("com.imperva,com.mprv");
            ts.setReportFrequencySeconds(0);
            ts.setSamplingFrequencyMillis(25L);
            ts.setThreadToBeSampled(Thread.currentThread());
            ts.setActive(true);
            ts.setSamplingOutputer(new PrintStreamSamplingOutputer(file));
            ts.init();
            someCode(ts);
        } catch (IOException ioe) {
        }
    }

    @Test
    void longRunningMethodIsReportedOnStandardOutput() {
        PrintStream before = System.out;
        ByteArrayOutputStream printed = new ByteArrayOutputStream();
        System.setOut(new PrintStream(printed, true, StandardCharsets.UTF_8));
        try {
            longRunningMethod();
        } finally {
            System.setOut(before);
        }
        assertReportOfThisThread(printed.toString(StandardCharsets.UTF_8));
    }

    @Test
    void longRunningMethodIsReportedToAFile() throws IOException {
        Path file = folder.resolve("log/directory/file.log");
        longRunningMethodToFile(file.toString());
        assertReportOfThisThread(Files.readString(file));
    }

    /* Rows in brackets are of single polls, for example during a garbage collection. */
    private static List<String> roots(Group group) {
        return group.methods().stream()
                .filter(method -> !method.startsWith("["))
                .toList();
    }

    /* The stack has no frame of the monitored packages, so the root has all the time. */
    private void assertReportOfThisThread(String text) {
        List<Report> reports = Report.parse(text);
        assertThat(reports).as(text).hasSize(1);
        Group own = reports.get(0).sampled().get(0);
        assertThat(reports.get(0).sampled()).hasSize(1);
        assertThat(own.threadNames()).isEqualTo(Thread.currentThread().getName());
        assertThat(roots(own)).hasSize(1);
        assertThat(own.methodMillis()).isEqualTo(own.cumulativeMillis()).isGreaterThan(workedMillis - own.roots());
    }

    @Test
    void wholeProcessIsReportedToTheLoggerBySpring() {
        Logged log = new Logged(LoggerSamplingOutputer.class.getName());
        try (log;
                Worker user = Worker.waiting("user-7");
                Worker daemon = Worker.daemon("housekeeper");
                GenericXmlApplicationContext spring = SpringXml.start(BEANS)) {
            ThreadsSampler sampler = spring.getBean("threasSampler", ThreadsSampler.class);
            assertPropertiesOfTheSnippet(sampler, spring.getBean("samplingOutputer"));
            awaitTicks(sampler, 8);
            assertThat(log.texts()).as("nothing is reported before 600 s").isEmpty();
        }
        assertThat(log.messages()).allSatisfy(message -> assertThat(message).startsWith("INFO "));
        List<String> events = log.texts();
        assertThat(events.get(0)).matches("Report interval: from .* till .*");
        assertThat(events.get(1)).startsWith("Summary.\n");
        assertThat(events.get(2)).startsWith("Sampler account.\npolls: ");
        List<Group> groups = events.subList(3, events.size()).stream()
                .map(event -> Group.parse(event.split("\n", 2)[0], event.split("\n", 2)[1]))
                .filter(group -> !group.name().equals(Report.JVM))
                .toList();
        assertThat(groups).extracting(Group::name).contains("user-").doesNotContain("housekeeper");
        assertThat(groups)
                .allSatisfy(group -> assertThat(group.rows())
                        .allSatisfy(row -> assertThat(row.depth()).isZero()));
        /* A thread that is starting or ending at a tick has other roots. */
        assertThat(groups)
                .allSatisfy(group -> assertThat(roots(group).stream().distinct())
                        .filteredOn(method -> !ENDS_OF_THREADS.contains(method))
                        .hasSizeLessThanOrEqualTo(2));
        assertThat(groups)
                .filteredOn(group -> group.name().equals("user-"))
                .singleElement()
                .satisfies(group -> assertThat(roots(group)).hasSize(1));
    }

    private static void assertPropertiesOfTheSnippet(ThreadsSampler sampler, Object outputer) {
        assertThat(sampler.getMonitoredPackages()).isEqualTo("com.imperva,com.mprv");
        assertThat(sampler.getReportFrequencySeconds()).isEqualTo(600);
        assertThat(sampler.getSamplingFrequencyMillis()).isEqualTo(25);
        assertThat(sampler.isSkipDaemonThreads()).isTrue();
        assertThat(sampler.isActive()).isTrue();
        assertThat(sampler.getSamplingOutputer()).isSameAs(outputer);
    }
}

// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import static com.incapsula.sampler.testing.Samplers.awaitTicks;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import com.incapsula.sampler.outputer.LoggerSamplingOutputer;
import com.incapsula.sampler.testing.ChildJvm;
import com.incapsula.sampler.testing.NothingLeft;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;
import org.springframework.context.support.GenericXmlApplicationContext;
import org.springframework.core.io.ByteArrayResource;

/** The snippets of README, read from it: Java compiles, and Spring starts the bean. Surefire runs in its folder. */
@ExtendWith(NothingLeft.class)
class ReadmeSnippetsIT {

    private static final String BEANS = """
            <beans xmlns="http://www.springframework.org/schema/beans"
                   xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"
                   xsi:schemaLocation="http://www.springframework.org/schema/beans
                                       http://www.springframework.org/schema/beans/spring-beans.xsd">
            %s
            </beans>
            """;

    private static List<String> blocks(String language) throws IOException {
        return Pattern.compile("(?ms)^```" + language + "\n(.*?)^```")
                .matcher(Files.readString(Path.of("README.md")))
                .results()
                .map(block -> block.group(1))
                .toList();
    }

    @Test
    void everyJavaBlockCompiles(@TempDir Path folder) throws IOException {
        StringBuilder source = new StringBuilder("import com.incapsula.sampler.*;\n"
                + "import java.io.IOException;\nimport java.nio.file.Path;\n"
                + "abstract class Snippets {\n");
        List<String> blocks = blocks("java");
        assertThat(blocks).hasSizeGreaterThanOrEqualTo(3);
        for (int i = 0; i < blocks.size(); i++) {
            String block = blocks.get(i);
            boolean isMethod = block.startsWith("public ");
            source.append(isMethod ? "" : "void block" + i + "(ThreadsSampler sampler) throws Exception {\n")
                    .append(block)
                    .append(isMethod ? "" : "}\n");
        }
        Path file = Files.writeString(folder.resolve("Snippets.java"), source + "}\n");
        String place = ChildJvm.placeOf(ThreadsSampler.class).toString();
        ByteArrayOutputStream errors = new ByteArrayOutputStream();
        int status = ToolProvider.getSystemJavaCompiler()
                .run(null, errors, errors, "-proc:none", "-cp", place, "-d", folder.toString(), file.toString());
        assertThat(status).as(errors.toString(StandardCharsets.UTF_8)).isZero();
    }

    @Test
    void springStartsTheBean() throws IOException {
        List<String> beans = blocks("xml").stream()
                .filter(block -> block.startsWith("<bean "))
                .toList();
        assertThat(beans).hasSize(1);
        byte[] xml = String.format(BEANS, beans.get(0)).getBytes(StandardCharsets.UTF_8);
        ListAppender<ILoggingEvent> log = new ListAppender<>();
        log.start();
        Logger logger = (Logger) LoggerFactory.getLogger(LoggerSamplingOutputer.class.getName());
        logger.setAdditive(false);
        logger.addAppender(log);
        try (GenericXmlApplicationContext spring = new GenericXmlApplicationContext(new ByteArrayResource(xml))) {
            ThreadsSampler sampler = spring.getBean("threadsSampler", ThreadsSampler.class);
            assertThat(sampler.getMonitoredPackages()).isEqualTo("com.imperva,com.mprv");
            assertThat(sampler.getReportFrequencySeconds()).isEqualTo(600);
            assertThat(sampler.getSamplingOutputer()).isInstanceOf(LoggerSamplingOutputer.class);
            awaitTicks(sampler, 3);
        } finally {
            logger.detachAppender(log);
            logger.setAdditive(true);
        }
        assertThat(log.list.get(0).getFormattedMessage()).startsWith("Report interval: from ");
    }
}

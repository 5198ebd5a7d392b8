// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import static com.incapsula.sampler.testing.Samplers.awaitTicks;
import static org.assertj.core.api.Assertions.assertThat;

import com.incapsula.sampler.outputer.LoggerSamplingOutputer;
import com.incapsula.sampler.testing.ChildJvm;
import com.incapsula.sampler.testing.Logged;
import com.incapsula.sampler.testing.NothingLeft;
import com.incapsula.sampler.testing.SpringXml;
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
import org.springframework.context.support.GenericXmlApplicationContext;

/**
 * The snippets of README.md and of the guide, java/README.md, read from these files: Java compiles, and Spring starts
 * the beans. Surefire runs in the folder of README.md.
 */
@ExtendWith(NothingLeft.class)
class ReadmeSnippetsIT {

    private static List<String> blocks(String language) throws IOException {
        return Pattern.compile("(?ms)^```" + language + "\n(.*?)^```")
                .matcher(Files.readString(Path.of("README.md")) + Files.readString(Path.of("java", "README.md")))
                .results()
                .map(block -> block.group(1))
                .toList();
    }

    @Test
    void everyJavaBlockCompiles(@TempDir Path folder) throws IOException {
        StringBuilder source =
                new StringBuilder("import com.incapsula.sampler.*;\nimport com.incapsula.sampler.outputer.*;\n"
                        + "import java.io.IOException;\nimport java.nio.file.Path;\n"
                        + "abstract class Snippets {\nabstract void alert(String text);\n");
        List<String> blocks = blocks("java");
        assertThat(blocks).hasSizeGreaterThanOrEqualTo(6);
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
    void springStartsTheBeans() throws IOException {
        List<String> beans = blocks("xml").stream()
                .filter(block -> block.startsWith("<bean "))
                .toList();
        assertThat(beans).hasSize(2);
        for (String each : beans) {
            assertLogsReports(each);
        }
    }

    private static void assertLogsReports(String beans) {
        Logged log = new Logged(LoggerSamplingOutputer.class.getName());
        try (log;
                GenericXmlApplicationContext spring = SpringXml.start(beans)) {
            ThreadsSampler sampler = spring.getBean("threadsSampler", ThreadsSampler.class);
            assertThat(sampler.getMonitoredPackages()).isEqualTo("com.imperva,com.mprv");
            assertThat(sampler.getReportFrequencySeconds()).isEqualTo(600);
            assertThat(sampler.getSamplingOutputer()).isInstanceOf(LoggerSamplingOutputer.class);
            awaitTicks(sampler, 3);
        }
        assertThat(log.texts().get(0)).startsWith("Report interval: from ");
    }
}

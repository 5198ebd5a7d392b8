// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import static org.assertj.core.api.Assertions.assertThat;

import com.incapsula.sampler.internal.engine.FakeSampler;
import com.incapsula.sampler.outputer.FileSamplingOutputer;
import java.net.HttpURLConnection;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.beans.MutablePropertyValues;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.context.support.GenericApplicationContext;

/** Beans that Spring makes from text. */
class SpringBeansTest {

    @TempDir
    private Path folder;

    private static RootBeanDefinition bean(Class<?> type, Map<String, Object> properties) {
        RootBeanDefinition definition = new RootBeanDefinition(type);
        definition.setPropertyValues(new MutablePropertyValues(properties));
        return definition;
    }

    @Test
    void outputerAndServerAreSetFromText() throws Exception {
        FakeSampler fake = new FakeSampler();
        ThreadsSampler sampler = Fakes.sampler(fake.lifecycle());
        sampler.init();
        ThreadsSamplerServer server;
        try (GenericApplicationContext context = new GenericApplicationContext()) {
            context.registerBean(
                    "sampler",
                    ThreadsSampler.class,
                    () -> sampler,
                    definition -> ((RootBeanDefinition) definition).setDestroyMethodName(""));
            context.registerBeanDefinition(
                    "files",
                    bean(
                            FileSamplingOutputer.class,
                            Map.of(
                                    "file",
                                    folder.resolve("r-%n.pb.gz").toString(),
                                    "format",
                                    "PPROF",
                                    "measure",
                                    "CPU",
                                    "maxFiles",
                                    "7",
                                    "maxTotalBytes",
                                    "1000000")));
            RootBeanDefinition serverBean = bean(
                    ThreadsSamplerServer.class,
                    Map.of(
                            "sampler",
                            sampler,
                            "host",
                            "localhost",
                            "port",
                            "0",
                            "maxSeconds",
                            "5",
                            "allowedHosts",
                            "a.example, b.example",
                            "token",
                            "t"));
            serverBean.setInitMethodName("init");
            context.registerBeanDefinition("server", serverBean);
            context.refresh();

            FileSamplingOutputer files = context.getBean(FileSamplingOutputer.class);
            assertThat(files.getFormat()).isEqualTo(ReportFormat.PPROF);
            assertThat(files.getMeasure()).isEqualTo(ReportMeasure.CPU);
            assertThat(files.getMaxFiles()).isEqualTo(7);
            assertThat(files.getMaxTotalBytes()).isEqualTo(1_000_000);
            server = context.getBean(ThreadsSamplerServer.class);
            HttpURLConnection connection =
                    (HttpURLConnection) server.getUrl().toURL().openConnection();
            assertThat(connection.getResponseCode()).isEqualTo(401);
        }
        assertThat(server.getUrl()).as("closed by Spring").isNull();
        sampler.close();
    }
}

// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.testing;

import com.incapsula.sampler.ReportFormat;
import com.incapsula.sampler.SamplingReport;
import com.incapsula.sampler.ThreadsSampler;
import com.incapsula.sampler.ThreadsSamplerServer;
import java.nio.channels.ServerSocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.springframework.beans.MutablePropertyValues;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.context.support.GenericApplicationContext;

/** An application with a sampler in a JVM where sampling is not possible. */
public final class InertProgram {

    private InertProgram() {}

    /** Runs the program; the argument selects its variant. */
    public static void main(String[] arguments) throws Exception {
        switch (arguments[0]) {
            case "try" -> inTryWithResources();
            case "spring" -> {
                pretendToBeAMac();
                InSpring.run();
            }
            default -> throw new AssertionError(arguments[0]);
        }
        System.out.println("end of main");
    }

    /* Not set on the command line, because the JDK's own sockets would then look for classes of a Mac's JDK. */
    private static void pretendToBeAMac() throws Exception {
        ServerSocketChannel.open().close();
        System.setProperty("os.name", "Mac OS X");
    }

    private static void inTryWithResources() throws Exception {
        try (ThreadsSampler sampler = new ThreadsSampler()) {
            sampler.setMonitoredPackages("com.acme");
            sampler.setReportFrequencySeconds(0);
            sampler.setThreadToBeSampled(Thread.currentThread());
            sampler.init();
            System.out.println("available: " + ThreadsSampler.isAvailable());
            use(sampler);
        }
    }

    private static void use(ThreadsSampler sampler) {
        sampler.pauseSampling();
        sampler.resumeSampling();
        sampler.printReport();
        System.out.println("engine: " + sampler.getStatistics().getEngine());
        try (SamplingReport report = sampler.snapshot()) {
            System.out.print("report: " + report.toString(ReportFormat.TEXT));
        }
    }

    /** A separate class, which is loaded only if Spring is on the class path. */
    private static final class InSpring {

        private static RootBeanDefinition bean(Class<?> type, Map<String, Object> properties) {
            RootBeanDefinition definition = new RootBeanDefinition(type);
            definition.setPropertyValues(new MutablePropertyValues(properties));
            definition.setInitMethodName("init");
            return definition;
        }

        static void run() throws Exception {
            try (GenericApplicationContext context = new GenericApplicationContext()) {
                context.registerBeanDefinition(
                        "sampler",
                        bean(
                                ThreadsSampler.class,
                                Map.of(
                                        "monitoredPackages",
                                        "com.acme",
                                        "reportFrequencySeconds",
                                        "600",
                                        "jmxName",
                                        "app")));
                RootBeanDefinition server = bean(ThreadsSamplerServer.class, Map.of("port", "0"));
                server.getPropertyValues()
                        .add("sampler", new org.springframework.beans.factory.config.RuntimeBeanReference("sampler"));
                context.registerBeanDefinition("server", server);
                context.refresh();
                use(context.getBean(ThreadsSampler.class));
                byte[] page = context.getBean(ThreadsSamplerServer.class)
                        .getUrl()
                        .resolve("report.txt")
                        .toURL()
                        .openStream()
                        .readAllBytes();
                System.out.print("served: " + new String(page, StandardCharsets.UTF_8));
            }
        }
    }
}

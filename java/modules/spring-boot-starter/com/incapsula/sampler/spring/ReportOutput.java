// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.spring;

import com.incapsula.sampler.ReportFormat;
import com.incapsula.sampler.SamplingReport;
import com.incapsula.sampler.outputer.FileSamplingOutputer;
import com.incapsula.sampler.outputer.LoggerSamplingOutputer;
import com.incapsula.sampler.outputer.SamplingOutputer;
import com.incapsula.sampler.remote.RemoteSamplingOutputer;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.core.env.Environment;
import org.springframework.util.StringUtils;

/** Creates the outputer for {@code threads-sampler.output.*}. */
final class ReportOutput {

    /** A property that is true in the application contexts of Spring's test framework. */
    static final String TESTED = "threads-sampler-tested";

    private static final String GROUP = "output.";

    private ReportOutput() {}

    /**
     * Creates an outputer for all configured outputs.
     *
     * @param environment contains the application's name
     * @throws IllegalArgumentException naming the property, if a value cannot be used
     */
    static SamplingOutputer outputer(ThreadsSamplerProperties.Output output, Environment environment) {
        List<SamplingOutputer> places = new ArrayList<>();
        if (StringUtils.hasText(output.file().path())) {
            places.add(file(output.file()));
        }
        if (StringUtils.hasText(output.push().url())) {
            places.add(push(output.push(), environment));
        }
        Boolean isLogged = output.log().enabled();
        boolean isTested = environment.getProperty(TESTED, Boolean.class, false);
        if (isLogged == null ? places.isEmpty() && !isTested : isLogged) {
            places.add(log(output.log()));
        }
        return places.stream().reduce(SamplingOutputer::and).orElseGet(ReportOutput::none);
    }

    /** @return an outputer for reports on demand only */
    static SamplingOutputer none() {
        return SamplingOutputer.of(report -> {});
    }

    private static SamplingOutputer file(ThreadsSamplerProperties.File file) {
        FileSamplingOutputer files = new FileSamplingOutputer();
        Setting in = new Setting(GROUP + "file.");
        in.setIfPresent("path", file.path(), files::setFile);
        in.setIfPresent("format", file.format(), files::setFormat);
        in.set("max-files", file.maxFiles(), files::setMaxFiles);
        in.set("max-total-size", file.maxTotalSize().toBytes(), files::setMaxTotalBytes);
        return files;
    }

    private static SamplingOutputer push(ThreadsSamplerProperties.Push push, Environment environment) {
        RemoteSamplingOutputer server = new RemoteSamplingOutputer();
        Setting in = new Setting(GROUP + "push.");
        in.setIfPresent("url", push.url(), server::setUrl);
        in.setIfPresent("service-name", serviceName(push, environment), server::setServiceName);
        in.set("resource-attributes", list(push.resourceAttributes()), server::setResourceAttributes);
        in.set("headers", list(push.headers()), server::setHeaders);
        in.set("queue-limit", push.queueLimit().toBytes(), server::setQueueLimitBytes);
        in.set("report-limit", push.reportLimit().toBytes(), server::setReportLimitBytes);
        Duration timeout = push.timeout();
        if (timeout != null) {
            in.setIntMillis("timeout", timeout, server::setTimeoutMillis);
        }
        in.setIntMillis("spread", push.spread(), server::setSpreadMillis);
        in.setIntMillis("close-timeout", push.closeTimeout(), server::setCloseMillis);
        return server;
    }

    /* The outputer itself reads the name in the environment variable. */
    private static @Nullable String serviceName(ThreadsSamplerProperties.Push push, Environment environment) {
        if (push.serviceName() != null) {
            return push.serviceName();
        }
        boolean isNamed = StringUtils.hasText(environment.getProperty("OTEL_SERVICE_NAME"))
                || environment.getProperty("OTEL_RESOURCE_ATTRIBUTES", "").contains("service.name=")
                || push.resourceAttributes().containsKey("service.name");
        String name = environment.getProperty("spring.application.name");
        return isNamed || !StringUtils.hasText(name) ? null : name;
    }

    /* The form of OpenTelemetry, with percent encoding. */
    private static String list(Map<String, String> values) {
        return values.entrySet().stream()
                .map(each -> each.getKey() + "="
                        + URLEncoder.encode(each.getValue(), StandardCharsets.UTF_8)
                                .replace("+", "%20"))
                .collect(Collectors.joining(","));
    }

    private static SamplingOutputer log(ThreadsSamplerProperties.Log settings) {
        Setting in = new Setting(GROUP + "log.");
        ReportFormat format = settings.format();
        LoggerSamplingOutputer log =
                format == ReportFormat.TEXT ? new LoggerSamplingOutputer() : new LoggedTable(format);
        in.set("format", format, ReportOutput::requireText);
        in.set("level", settings.level(), log::setLevel);
        in.setIfPresent("logger-name", settings.loggerName(), log::setLoggerName);
        in.set("per-group", settings.perGroup(), log::setPerGroup);
        return log;
    }

    private static void requireText(ReportFormat format) {
        if (format != ReportFormat.TEXT && format != ReportFormat.TOP && format != ReportFormat.CALLS) {
            throw new IllegalArgumentException("must be TEXT, TOP or CALLS, got " + format);
        }
    }

    /** Logs a report in a format with tables, as one event. */
    private static final class LoggedTable extends LoggerSamplingOutputer {

        private final ReportFormat format;

        LoggedTable(ReportFormat format) {
            this.format = format;
        }

        @Override
        public void report(SamplingReport report) {
            super.printThreadRecord("From " + report.getFrom() + " till " + report.getTill(), report.toString(format));
        }

        @Override
        public void printIntervalTitle(String title) {
            // the event includes it
        }

        @Override
        public void printThreadRecord(String threadTitle, String record) {
            // belongs to the long form
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.agent;

import com.incapsula.sampler.ReportFormat;
import com.incapsula.sampler.ReportMeasure;
import com.incapsula.sampler.ReportOptions;
import com.incapsula.sampler.ReportUnit;
import com.incapsula.sampler.SamplingReport;
import com.incapsula.sampler.internal.options.Values;
import com.incapsula.sampler.internal.report.FileNames;
import com.incapsula.sampler.internal.report.OpenFolder;
import com.incapsula.sampler.internal.report.WholeFile;
import com.incapsula.sampler.internal.report.WithoutText;
import com.incapsula.sampler.outputer.FileSamplingOutputer;
import java.io.IOException;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/**
 * The files of one sampler's reports. Remembers the first failure, so that an answer can name it.
 *
 * <p>Threads: any.
 */
final class ReportFiles extends FileSamplingOutputer implements WithoutText {

    /** The settings for writing a report, except its format. */
    static final Set<String> OPTIONS = Set.of(Keys.MEASURE, Keys.PER, Keys.FOCUS);

    private volatile @Nullable Throwable failure;

    /** Creates the files for some settings. @throws Refusal if a value is wrong */
    ReportFiles(Map<String, String> settings) {
        String format = settings.get(Keys.FORMAT);
        String keep = settings.get(Keys.KEEP);
        try {
            String name = settings.getOrDefault(Keys.FILE, "");
            setFile(name.isEmpty() ? name : Path.of(name).toAbsolutePath().toString());
            if (format != null) {
                setFormat(format(format));
            }
            if (settings.containsKey(Keys.MEASURE)) {
                setMeasure(ReportMeasure.of(settings.get(Keys.MEASURE)));
            }
            if (settings.containsKey(Keys.PER)) {
                setPer(ReportUnit.of(settings.get(Keys.PER)));
            }
            setFocus(settings.get(Keys.FOCUS));
            if (keep != null) {
                setMaxFiles(Math.toIntExact(Long.parseLong(keep)));
            }
        } catch (NumberFormatException | ArithmeticException e) {
            throw new Refusal("keep must be a number of files, got \"" + keep + "\"", e);
        } catch (IllegalArgumentException e) {
            throw new Refusal(String.valueOf(e.getMessage()), e);
        }
    }

    /** @throws Refusal naming all formats */
    static ReportFormat format(String text) {
        try {
            return Values.choice("format", ReportFormat.values(), text);
        } catch (IllegalArgumentException e) {
            throw new Refusal(String.valueOf(e.getMessage()), e);
        }
    }

    @Override
    public void report(SamplingReport report) {
        try {
            super.report(report);
        } catch (RuntimeException | Error e) {
            failure = e;
            throw e;
        }
    }

    /** @return the reason of the last failure, or null */
    @Nullable
    Throwable failure() {
        return failure;
    }

    /** @return the pattern and the format, for people */
    String description() {
        return FileNames.expand(String.valueOf(getFile())) + " ("
                + getFormat().name().toLowerCase(Locale.ROOT) + ")";
    }

    /** Changes options by the settings. @throws Refusal if a value is wrong */
    static ReportOptions changed(ReportOptions options, Map<String, String> settings) {
        try {
            return options.changedBy(settings.get(Keys.MEASURE), settings.get(Keys.PER), settings.get(Keys.FOCUS));
        } catch (IllegalArgumentException e) {
            throw new Refusal(String.valueOf(e.getMessage()), e);
        }
    }

    /**
     * Writes a report into a new file in the JVM's temporary folder, which only its user can read. The reader removes
     * it.
     */
    static Path writeTemporary(SamplingReport report, ReportFormat format, ReportOptions options) throws IOException {
        Path folder = Path.of(System.getProperty("java.io.tmpdir", "/tmp")).toRealPath(); // the reader may refuse links
        Path name = Path.of("threads-sampler-"
                + Long.toHexString(ThreadLocalRandom.current().nextLong()) + "." + format.getFileExtension());
        try (OpenFolder open = OpenFolder.open(folder)) {
            FileAttribute<?> ownerOnly =
                    PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));
            WholeFile.replace(open, name, out -> report.writeTo(format, options, out), ownerOnly);
        }
        return folder.resolve(name);
    }
}

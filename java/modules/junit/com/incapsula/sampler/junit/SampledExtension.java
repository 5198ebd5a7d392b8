// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.junit;

import com.incapsula.sampler.ReportFormat;
import com.incapsula.sampler.SamplingCursor;
import com.incapsula.sampler.SamplingReport;
import com.incapsula.sampler.internal.report.Folders;
import com.incapsula.sampler.internal.report.HotRows;
import com.incapsula.sampler.internal.report.LibraryLog;
import com.incapsula.sampler.manipulate.RegexThreadNameManipulator;
import java.io.IOException;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.MediaType;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.extension.AfterTestExecutionCallback;
import org.junit.jupiter.api.extension.BeforeTestExecutionCallback;
import org.junit.jupiter.api.extension.DynamicTestInvocationContext;
import org.junit.jupiter.api.extension.ExtensionConfigurationException;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.InvocationInterceptor;
import org.junit.jupiter.api.extension.ReflectiveInvocationContext;
import org.junit.platform.commons.JUnitException;
import org.junit.platform.commons.support.AnnotationSupport;
import org.junit.platform.commons.support.HierarchyTraversalMode;
import org.junit.platform.commons.support.ReflectionSupport;

/**
 * The implementation of {@link Sampled}. If it is registered without the annotation, the annotation's defaults apply.
 *
 * <p>The sampler starts before the test and the report is written after it, so neither uses time of the test's
 * {@code @Timeout}. Dynamic tests have no timeout.
 *
 * <p>It never changes the result of a test, except that options out of range fail the test, with
 * {@link ExtensionConfigurationException}; if a report cannot be made or written, a warning is logged.
 *
 * <p>Threads: any; tests may run at the same time.
 *
 * @since 1.0
 */
public final class SampledExtension
        implements BeforeTestExecutionCallback, InvocationInterceptor, AfterTestExecutionCallback {

    /** JUnit's configuration parameter: the folder of the files. */
    public static final String FOLDER_PARAMETER = "com.incapsula.sampler.junit.folder";

    /** The key of the report entry. */
    public static final String ENTRY = "sampled";

    private static final String ABORTED = "org.opentest4j.TestAbortedException";
    private static final Pattern NUMBER = Pattern.compile("#(\\d+)\\]");
    private static final long NANOS_PER_MILLI = 1_000_000;

    @Sampled
    private static final class Defaults {}

    /** For JUnit. */
    public SampledExtension() {}

    @Override
    public void beforeTestExecution(ExtensionContext context) {
        if (!isFactory(context)) {
            store(context).put(Running.class, Running.begin(context));
        }
    }

    /* The class's tests are sampled individually. */
    private static boolean isFactory(ExtensionContext context) {
        return AnnotationSupport.isAnnotated(context.getTestMethod(), TestFactory.class);
    }

    private static ExtensionContext.Store store(ExtensionContext context) {
        return context.getStore(ExtensionContext.Namespace.create(SampledExtension.class));
    }

    @Override
    public void interceptTestMethod(
            Invocation<Void> invocation, ReflectiveInvocationContext<Method> method, ExtensionContext context)
            throws Throwable {
        run(invocation, context);
    }

    @Override
    public void interceptTestTemplateMethod(
            Invocation<Void> invocation, ReflectiveInvocationContext<Method> method, ExtensionContext context)
            throws Throwable {
        run(invocation, context);
    }

    private static void run(Invocation<Void> invocation, ExtensionContext context) throws Throwable {
        Running test = store(context).get(Running.class, Running.class);
        if (test == null) {
            invocation.proceed();
        } else {
            test.run(invocation);
        }
    }

    @Override
    public void afterTestExecution(ExtensionContext context) {
        Running test = store(context).remove(Running.class, Running.class);
        if (test != null) {
            end(test, context.getExecutionException().orElse(null));
        }
    }

    @Override
    public void interceptDynamicTest(
            Invocation<Void> invocation, DynamicTestInvocationContext dynamic, ExtensionContext context)
            throws Throwable {
        Running test = Running.begin(context);
        Throwable failure = null;
        try {
            test.run(invocation);
        } catch (Throwable t) {
            failure = t;
            throw t;
        } finally {
            end(test, failure);
        }
    }

    /** A running test. JUnit may run its method in another thread, for {@code @Timeout}. */
    private static final class Running {

        private final ExtensionContext context;
        private final Sampled options;
        private final @Nullable SamplingCursor cursor; // null if this test is not sampled
        private volatile String group;
        private volatile long beginNanos;
        private volatile long nanos = -1; // -1 while the method runs

        private Running(ExtensionContext context, Sampled options, @Nullable SamplingCursor cursor) {
            this.context = context;
            this.options = options;
            this.cursor = cursor;
            this.group = groupOfThisThread();
            this.beginNanos = System.nanoTime();
        }

        static Running begin(ExtensionContext context) {
            Sampled options = optionsOf(context);
            return new Running(context, options, open(context, options));
        }

        private static String groupOfThisThread() {
            return String.valueOf(new RegexThreadNameManipulator().getManipulatedThreadName(Thread.currentThread()));
        }

        void run(Invocation<Void> invocation) throws Throwable {
            group = groupOfThisThread();
            beginNanos = System.nanoTime();
            try {
                invocation.proceed();
            } finally {
                nanos = System.nanoTime() - beginNanos;
            }
        }

        /* A method that has not ended by then was ended by its timeout. */
        long nanos() {
            long taken = nanos;
            return taken < 0 ? System.nanoTime() - beginNanos : taken;
        }
    }

    private static Sampled optionsOf(ExtensionContext context) {
        Sampled options = nearest(context, at -> AnnotationSupport.findAnnotation(at.getElement(), Sampled.class))
                .orElseGet(() -> Defaults.class.getAnnotation(Sampled.class));
        if (options.lines() < 1) {
            throw new ExtensionConfigurationException("@Sampled: lines must be at least 1, got " + options.lines());
        }
        if (options.slowerThanMillis() < 0) {
            throw new ExtensionConfigurationException(
                    "@Sampled: slowerThanMillis must not be negative, got " + options.slowerThanMillis());
        }
        return options;
    }

    /* Of the test itself, else of its parents, because a dynamic test has no method or class of its own. */
    private static <T> Optional<T> nearest(ExtensionContext context, Function<ExtensionContext, Optional<T>> part) {
        for (Optional<ExtensionContext> at = Optional.of(context);
                at.isPresent();
                at = at.get().getParent()) {
            Optional<T> found = part.apply(at.get());
            if (found.isPresent()) {
                return found;
            }
        }
        return Optional.empty();
    }

    /* Null if the test is not sampled, for lack of memory or because more than 30 tests run at the same time. */
    private static @Nullable SamplingCursor open(ExtensionContext context, Sampled options) {
        SharedSampler sampler = SharedSampler.of(context, options.samplingFrequencyMillis());
        try {
            return sampler.openCursor();
        } catch (IllegalStateException | OutOfMemoryError e) {
            warn(context, e);
            return null;
        }
    }

    /** A finished test. */
    private record Ended(
            ExtensionContext context,
            Sampled options,
            String group,
            long nanos,
            @Nullable Throwable failure) {

        boolean isReported() {
            if (failure != null) {
                return !isAborted(failure.getClass());
            }
            return options.slowerThanMillis() == 0 || nanos / NANOS_PER_MILLI > options.slowerThanMillis();
        }

        /* Compares names, because opentest4j is a dependency of JUnit only. */
        private static boolean isAborted(@Nullable Class<?> type) {
            return type != null && (type.getName().equals(ABORTED) || isAborted(type.getSuperclass()));
        }
    }

    private static void end(Running running, @Nullable Throwable failure) {
        SamplingCursor cursor = running.cursor;
        if (cursor == null) {
            return;
        }
        Ended test = new Ended(running.context, running.options, running.group, running.nanos(), failure);
        try (cursor) {
            if (test.isReported()) {
                report(test, cursor);
            }
        } catch (RuntimeException | OutOfMemoryError e) {
            warn(test.context(), e);
        }
    }

    private static void report(Ended test, SamplingCursor cursor) {
        try (SamplingReport report = cursor.next()) {
            if (report.getGroups().isEmpty()) {
                return; // sampling is not possible; the library has logged the cause
            }
            String text = textOf(test, report) + write(test, report);
            Throwable failure = test.failure();
            if (failure != null) {
                failure.addSuppressed(new SampledTimes(text));
            }
            test.context().publishReportEntry(ENTRY, text);
        }
    }

    private static String textOf(Ended test, SamplingReport report) {
        String table = HotRows.table(
                HotRows.of(report, each -> each.getName().equals(test.group())),
                test.options().lines());
        return "the test ran for " + test.nanos() / NANOS_PER_MILLI + " ms; the hottest lines of the threads "
                + test.group() + ":\n" + table;
    }

    /* The text is useful without the file, too. */
    private static String write(Ended test, SamplingReport report) {
        try {
            return "the whole report: " + writeFile(test, report);
        } catch (IOException | InvalidPathException | JUnitException | OutOfMemoryError e) {
            warn(test.context(), e);
            return "the whole report could not be written: " + e;
        }
    }

    private static Path writeFile(Ended test, SamplingReport report) throws IOException {
        Optional<Path> folder = folderOf(test.context(), test.options());
        String name = nameOf(test);
        if (folder.isEmpty()) {
            try {
                return publish(test, report, name);
            } catch (NoSuchMethodError | NoClassDefFoundError beforeJUnit514) {
                folder = Optional.of(folderOfTheBuild());
            }
        }
        Path file = Folders.make(folder.get().toAbsolutePath()).resolve(name);
        report.writeTo(test.options().format(), file);
        return file;
    }

    /* JUnit has a folder for files of tests, which it publishes to IDEs and builds. */
    private static Path publish(Ended test, SamplingReport report, String name) {
        ReportFormat format = test.options().format();
        AtomicReference<Path> published = new AtomicReference<>();
        test.context().publishFile(name, MediaType.parse(format.getMediaType()), file -> {
            report.writeTo(format, file);
            published.set(file);
        });
        return Objects.requireNonNull(published.get(), "JUnit has called it");
    }

    private static String nameOf(Ended test) {
        ExtensionContext context = test.context();
        StringBuilder name = new StringBuilder();
        Optional<Class<?>> type = nearest(context, ExtensionContext::getTestClass);
        type.ifPresent(found -> name.append(found.getName()));
        nearest(context, ExtensionContext::getTestMethod)
                .ifPresent(method -> name.append('.').append(nameOf(method, type.orElse(method.getDeclaringClass()))));
        Matcher number = NUMBER.matcher(context.getUniqueId());
        while (number.find()) {
            name.append('-').append(number.group(1));
        }
        return name.append('.')
                .append(test.options().format().getFileExtension())
                .toString();
    }

    /* With parameter types if there are several methods of this name. */
    private static String nameOf(Method method, Class<?> in) {
        List<Method> sameName = ReflectionSupport.findMethods(
                in,
                each -> each.getName().equals(method.getName()) && !each.isSynthetic(),
                HierarchyTraversalMode.TOP_DOWN);
        if (sameName.size() < 2 || method.getParameterCount() == 0) {
            return method.getName();
        }
        return method.getName() + "("
                + Arrays.stream(method.getParameterTypes())
                        .map(Class::getTypeName)
                        .collect(Collectors.joining(",")) + ")";
    }

    /* Empty if JUnit is to choose. */
    private static Optional<Path> folderOf(ExtensionContext context, Sampled options) {
        return options.folder().isEmpty()
                ? context.getConfigurationParameter(FOLDER_PARAMETER).map(Path::of)
                : Optional.of(Path.of(options.folder()));
    }

    private static Path folderOfTheBuild() {
        for (String build : new String[] {"target", "build"}) {
            if (Files.isDirectory(Path.of(build))) {
                return Path.of(build, ENTRY);
            }
        }
        return Path.of(System.getProperty("java.io.tmpdir"), ENTRY);
    }

    private static void warn(ExtensionContext context, Throwable cause) {
        LibraryLog.log(
                System.Logger.Level.WARNING, "no report of the test " + context.getDisplayName() + ": " + cause, cause);
    }
}

// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.testing;

import java.io.IOException;
import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;
import java.util.jar.JarFile;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Lets the JVM verify rewritten classes: loads and links classes, retransforms them with probes in each method, and
 * removes the probes. Prints, for the runtime image and for the jars, the number of classes, how many could not be
 * loaded and why, and how many were retransformed and changed; then how many the JVM has refused, and the results of
 * the methods.
 *
 * <p>Arguments: the test library, the class file of the hook, a regular expression for names of the JDK's classes, the
 * number of classes of the negative control, folders of jars.
 */
public final class RetransformProgram {

    private static final int BATCH = 4000;
    private static final int AS_THEY_WERE = 0;
    private static final int WITH_PROBES = 1;
    private static final int WITH_A_WRONG_FRAME = 2;
    private static final int FAILS_VERIFICATION = 62;
    private static final String[] COUNTS = {
        "classes",
        "classes with code",
        "changed classes",
        "malformed",
        "handlers",
        "without handler",
        "bytes before",
        "bytes after",
        "ns of CPU"
    };

    private static final int CLASSES = 0;
    private static final int WITH_CODE = 1;
    private static final int CHANGED = 2;
    private static final int NANOS = 8;

    private final TreeMap<Integer, List<String>> refused = new TreeMap<>();
    private final TreeMap<String, List<String>> leftOut = new TreeMap<>();
    private int retransformed;

    private RetransformProgram() {}

    /* Native methods of the test library. */
    private static native boolean open(byte[] hook);

    private static native boolean isLinked(Class<?> type);

    private static native boolean isModifiable(Class<?> type);

    private static native int retransform(Class<?>[] classes, int how);

    private static native long[] counts();

    private static native String[] reasons();

    private static native void count(Thread thread);

    private static native long counted(String what);

    public static void main(String[] arguments) throws Exception {
        System.load(arguments[0]);
        if (!open(Files.readAllBytes(Path.of(arguments[1])))) {
            throw new IllegalStateException("no hook class");
        }
        RetransformProgram program = new RetransformProgram();
        List<Class<?>> classes = new ArrayList<>();
        List<String> image = namesOfImage(Pattern.compile(arguments[2]));
        classes.addAll(program.check("image", image, ClassLoader.getSystemClassLoader()));
        List<Path> folders = Arrays.stream(arguments).skip(4).map(Path::of).toList();
        if (!folders.isEmpty()) {
            List<Path> jars = jarsIn(folders);
            classes.addAll(program.check("jars", namesIn(jars), loaderOf(jars)));
        }
        program.printResults();
        control(classes, Integer.parseInt(arguments[3]));
        balance();
        System.out.println("fine");
    }

    private static long millisSince(long start) {
        return (System.nanoTime() - start) / 1_000_000;
    }

    private static List<String> namesOfImage(Pattern wanted) throws IOException {
        Path modules = FileSystems.getFileSystem(URI.create("jrt:/")).getPath("/modules");
        List<String> names = new ArrayList<>();
        try (Stream<Path> files = Files.walk(modules)) {
            files.map(Path::toString)
                    .filter(file -> file.endsWith(".class") && !file.endsWith("-info.class"))
                    /* The class name follows /modules/NAME/. */
                    .map(file -> nameOf(file.substring(file.indexOf('/', "/modules/".length()) + 1)))
                    .filter(name -> wanted.matcher(name).matches())
                    .forEach(names::add);
        }
        return names;
    }

    private static String nameOf(String file) {
        return file.substring(0, file.length() - ".class".length()).replace('/', '.');
    }

    private static List<Path> jarsIn(List<Path> folders) throws IOException {
        List<Path> jars = new ArrayList<>();
        for (Path folder : folders) {
            try (Stream<Path> files = Files.walk(folder)) {
                files.filter(file -> file.toString().endsWith(".jar")).sorted().forEach(jars::add);
            }
        }
        return jars;
    }

    /* Each name once, even if several jars have it: the loader uses the first one. */
    private static List<String> namesIn(List<Path> jars) throws IOException {
        Set<String> names = new LinkedHashSet<>();
        for (Path jar : jars) {
            try (JarFile file = new JarFile(jar.toFile())) {
                file.stream()
                        .map(entry -> entry.getName())
                        .filter(name -> name.endsWith(".class") && !name.endsWith("-info.class"))
                        .filter(name -> !name.startsWith("META-INF/"))
                        .map(RetransformProgram::nameOf)
                        .forEach(names::add);
            }
        }
        System.out.println("jars of " + jars.size() + " files");
        return List.copyOf(names);
    }

    private static ClassLoader loaderOf(List<Path> jars) throws IOException {
        List<URL> urls = new ArrayList<>();
        for (Path jar : jars) {
            urls.add(jar.toUri().toURL());
        }
        return new URLClassLoader(urls.toArray(new URL[0]));
    }

    /* Returns the classes that could be loaded. Each named class is retransformed, refused or skipped. */
    private List<Class<?>> check(String what, List<String> names, ClassLoader loader) {
        long[] before = counts();
        retransformed = 0;
        leftOut.clear();
        long start = System.nanoTime();
        List<Class<?>> classes = load(names, loader);
        System.out.println(what + ", named: " + names.size());
        System.out.println(what + ", loaded: " + classes.size() + " in " + millisSince(start) + " ms");
        System.out.println(what + ", left out: " + (names.size() - classes.size()));
        leftOut.forEach((reason, left) ->
                System.out.println(what + ", left out, " + reason + ": " + left.size() + ", as " + left.get(0)));
        start = System.nanoTime();
        retransformAll(classes);
        System.out.println(what + ", retransformed: " + retransformed + " in " + millisSince(start) + " ms");
        long[] after = counts();
        for (int count : new int[] {WITH_CODE, CHANGED}) {
            System.out.println(what + ", " + COUNTS[count] + ": " + (after[count] - before[count]));
        }
        return classes;
    }

    /* Loads classes without running static initialisers. A class that depends on a missing class cannot be linked. */
    private List<Class<?>> load(List<String> names, ClassLoader loader) {
        List<Class<?>> classes = new ArrayList<>();
        for (String name : names) {
            try {
                Class<?> type = Class.forName(name, false, loader);
                String missing = link(type);
                if (!isLinked(type)) {
                    leaveOut(name, "not linked, " + missing);
                } else if (isModifiable(type)) {
                    classes.add(type);
                } else {
                    leaveOut(name, "not modifiable");
                }
            } catch (ClassNotFoundException | LinkageError | SecurityException e) {
                leaveOut(name, e.getClass().getSimpleName());
            }
        }
        return classes;
    }

    private void leaveOut(String name, String reason) {
        leftOut.computeIfAbsent(reason, key -> new ArrayList<>()).add(name);
    }

    /*
     * The JVM links a class before it lists its members, and finds missing parameter classes later. Returns the
     * exception, after which the class may be linked nevertheless.
     */
    private static String link(Class<?> type) {
        try {
            if (type.isInterface()) {
                type.getDeclaredMethods(); /* for constructors of an interface the JVM would not be called */
            } else {
                type.getDeclaredConstructors();
            }
            return "no reason";
        } catch (NoClassDefFoundError | TypeNotPresentException e) {
            return e.getClass().getSimpleName();
        }
    }

    private void retransformAll(List<Class<?>> classes) {
        for (int from = 0; from < classes.size(); from += BATCH) {
            Class<?>[] batch = classes.subList(from, Math.min(from + BATCH, classes.size()))
                    .toArray(new Class<?>[0]);
            retransformEach(batch);
            retransform(batch, AS_THEY_WERE);
        }
    }

    /* If one class is refused, the JVM refuses all of the call; halving finds that class. */
    private void retransformEach(Class<?>[] classes) {
        int error = retransform(classes, WITH_PROBES);
        if (error == 0) {
            retransformed += classes.length;
            return;
        }
        if (classes.length == 1) {
            refused.computeIfAbsent(error, key -> new ArrayList<>()).add(classes[0].getName());
            return;
        }
        int half = classes.length / 2;
        retransformEach(Arrays.copyOfRange(classes, 0, half));
        retransformEach(Arrays.copyOfRange(classes, half, classes.length));
    }

    private void printResults() {
        long[] counts = counts();
        String[] reasons = reasons();
        System.out.println("VerifyErrors: "
                + refused.getOrDefault(FAILS_VERIFICATION, List.of()).size());
        refused.forEach((error, names) -> System.out.println("error " + error + ": " + names.size() + " " + names));
        for (int i = 0; i < COUNTS.length; i++) {
            System.out.println(COUNTS[i] + ": " + counts[i]);
        }
        System.out.println("ns of CPU a class: " + counts[NANOS] / counts[CLASSES]);
        for (int i = 0; i < reasons.length; i++) {
            System.out.println("methods, " + reasons[i] + ": " + counts[COUNTS.length + i]);
        }
    }

    /*
     * Retransforms some classes with a wrong frame of the handler, which the JVM must refuse. They are spread over all
     * classes, so all kinds are included.
     */
    private static void control(List<Class<?>> classes, int wanted) {
        int tried = 0;
        int failed = 0;
        for (int i = 0; i < wanted && i < classes.size(); i++) {
            Class<?>[] one = {classes.get((int) ((long) i * classes.size() / wanted))};
            tried++;
            if (retransform(one, WITH_A_WRONG_FRAME) == FAILS_VERIFICATION) {
                failed++;
            } else {
                retransform(one, AS_THEY_WERE);
            }
        }
        System.out.println("control: " + failed + " of " + tried);
    }

    /*
     * Checks that as many exit probes as entry probes run, however methods end, and that the program's results do not
     * change.
     */
    private static void balance() throws Exception {
        List<Class<?>> classes = new ArrayList<>(List.of(RetransformedCode.class));
        classes.addAll(List.of(RetransformedCode.class.getDeclaredClasses()));
        compare("new", classes.toArray(new Class<?>[0]), RetransformedCode::run);
        Class<?> old = OldClasses.define(OldCode.class);
        compare("old", new Class<?>[] {old}, () -> (String) old.getMethod("run").invoke(null));
        Class<?>[] ofImage = {
            java.util.ArrayList.class,
            java.util.HashMap.class,
            java.util.TreeMap.class,
            java.util.regex.Pattern.class,
            java.util.regex.Matcher.class,
            java.util.Scanner.class,
            java.util.concurrent.ConcurrentHashMap.class,
            java.util.concurrent.CompletableFuture.class,
            java.util.Formatter.class,
            StringBuilder.class,
            Integer.class
        };
        compare("image", ofImage, RetransformedCode::useTheImage);
    }

    private static void compare(String name, Class<?>[] classes, RetransformedCode.Body body) throws Exception {
        String before = body.run();
        int error = retransform(classes, WITH_PROBES);
        if (error != 0) {
            throw new IllegalStateException(name + ": error " + error);
        }
        long[] start = probes();
        count(Thread.currentThread());
        String after;
        try {
            after = body.run();
        } finally {
            count(null);
        }
        long[] end = probes();
        for (int i = 0; i < end.length; i++) {
            end[i] -= start[i];
        }
        System.out.println(name + ": the same " + before.equals(after) + ", entered " + end[0] + ", left " + end[1]
                + ", roots entered " + end[2] + ", left " + end[3]);
        retransform(classes, AS_THEY_WERE);
    }

    private static long[] probes() {
        return new long[] {counted("entered"), counted("exited"), counted("rootsEntered"), counted("rootsExited")};
    }
}

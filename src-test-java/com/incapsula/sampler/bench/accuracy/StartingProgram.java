// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.bench.accuracy;

import com.incapsula.sampler.testing.ColdStartProgram;
import java.io.File;
import java.lang.reflect.Method;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Programs that start together with a profiler. */
public enum StartingProgram {
    /** One busy thread. */
    BUSY,
    /** The Java compiler, again and again. */
    JAVAC,
    /** Clojure, which compiles itself. */
    CLOJURE,
    /** A web server of Spring Boot. */
    BOOT;

    private static final int LEAST_RUN_SHARE = 2;
    private static final String FOLDERS = "bench.coldStart";
    private static final String EVALUATED = "(do (require 'clojure.set 'clojure.pprint 'clojure.test 'clojure.walk"
            + " 'clojure.zip 'clojure.xml 'clojure.data) (dotimes [i 100] (eval (list 'fn ['x] (list '+ 'x i)))))";
    private static volatile long sink;

    /** The folder of its jars; null if it needs none. */
    Path jars() {
        return this == BUSY || this == JAVAC
                ? null
                : Path.of(System.getProperty(FOLDERS, "target/cold-start"), name().toLowerCase(Locale.ROOT));
    }

    /**
     * Whether it can be started.
     *
     * @return false if its jars are missing
     */
    public boolean isThere() {
        return jars() == null || Files.isDirectory(jars());
    }

    /**
     * The flags that a JVM needs to run it.
     *
     * @return flags
     */
    public List<String> flags() {
        return jars() == null
                ? List.of()
                : List.of("-D" + FOLDERS + "=" + jars().toAbsolutePath().getParent());
    }

    /**
     * Starts it, in this JVM.
     *
     * @param millis the least run time of programs that do not end by themselves
     */
    public void run(long millis) throws Exception {
        switch (this) {
            case BUSY -> compute(System.nanoTime() + millis * 1_000_000);
            case JAVAC -> {
                long end = System.nanoTime() + millis * 1_000_000 / LEAST_RUN_SHARE;
                do {
                    ColdStartProgram.compile();
                } while (System.nanoTime() < end);
            }
            case CLOJURE ->
                method("clojure.main", "main", String[].class).invoke(null, (Object) new String[] {"-e", EVALUATED});
            default -> startBoot();
        }
    }

    private static void compute(long end) {
        Map<String, Integer> counts = new HashMap<>();
        for (int i = 0; System.nanoTime() < end; i++) {
            counts.merge("k" + i % 1000, 1, Integer::sum);
            sink += counts.size();
        }
    }

    /* A web server with Boot's own configuration. */
    private void startBoot() throws Exception {
        String web = "org.springframework.boot.autoconfigure.web.servlet.";
        List<Class<?>> sources = new ArrayList<>();
        Method run = method("org.springframework.boot.SpringApplication", "run", Class[].class, String[].class);
        for (String name : List.of(
                "ServletWebServerFactoryAutoConfiguration",
                "DispatcherServletAutoConfiguration",
                "WebMvcAutoConfiguration",
                "error.ErrorMvcAutoConfiguration",
                "HttpEncodingAutoConfiguration",
                "MultipartAutoConfiguration")) {
            sources.add(Class.forName(web + name, true, Thread.currentThread().getContextClassLoader()));
        }
        run.invoke(null, sources.toArray(new Class<?>[0]), new String[] {
            "--server.port=0", "--logging.level.root=ERROR", "--spring.main.banner-mode=off"
        });
    }

    /* Loads the method from the program's jars only, because this class path has another Spring. */
    private Method method(String type, String name, Class<?>... parameters) throws Exception {
        List<URL> urls = new ArrayList<>();
        for (File jar : jars().toFile().listFiles()) {
            urls.add(jar.toURI().toURL());
        }
        ClassLoader loader = new URLClassLoader(urls.toArray(new URL[0]), ClassLoader.getPlatformClassLoader());
        Thread.currentThread().setContextClassLoader(loader);
        return Class.forName(type, true, loader).getMethod(name, parameters);
    }
}

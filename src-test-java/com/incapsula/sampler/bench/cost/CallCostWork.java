// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.bench.cost;

import counted.FourShapes;
import java.io.IOException;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.net.URI;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import tools.jackson.databind.json.JsonMapper;

/** The work that {@link CallCost} measures: calls of four shapes, and three programs of other authors. */
enum CallCostWork {
    LEAF(FourShapes.CALLS, "Leaf", "leaf"),
    VIRTUAL(FourShapes.CALLS, "Virtual", "op"),
    FIB(FourShapes.FIB_CALLS, "Fib", "fib"),
    STREAM(2 * FourShapes.CALLS, "Stream", "mapped", "lambda$runStream$0"),
    JAVAC(CountedWork.JAVAC, "com/sun/tools/javac/parser"),
    H2(CountedWork.DATABASE, "org/h2"),
    JACKSON(null, "tools/jackson");

    private static final String SHAPES = FourShapes.class.getName();
    private static final int SIZE_OF_JSON = 500;
    private static final double SHARE_OF_WORK = 0.25; /* a pass takes a part of a window */
    private static final int WINDOWS_OF_PROGRAM = 3;
    private static final int TIMES_OF_JSON = 20;

    /** The object that is serialised and parsed. */
    record Order(int id, String customer, double amount, List<String> notes) {}

    private final int calls;
    private final CountedWork work;
    private final String shape;
    private final String folder;
    private final List<String> methods;

    CallCostWork(int calls, String shape, String... methods) {
        this.calls = calls;
        this.work = null;
        this.shape = shape;
        this.folder = "counted";
        this.methods = List.of(methods);
    }

    CallCostWork(CountedWork work, String folder) {
        this.calls = 0;
        this.work = work;
        this.shape = null;
        this.folder = folder;
        this.methods = List.of();
    }

    /** The number of calls in a pass; 0 if it is not known in advance. */
    int calls() {
        return calls;
    }

    /** The length of a window, as a multiple of a shape's window: programs warm up more slowly. */
    int windows() {
        return shape != null ? 1 : WINDOWS_OF_PROGRAM;
    }

    /** The methods of a shape; empty: all methods that pass {@link #filter}. */
    List<String> methods() {
        return methods;
    }

    String roots() {
        if (shape != null) {
            return SHAPES + ".run" + shape;
        }
        return work == null ? "tools.jackson.databind.ObjectMapper.*" : work.roots();
    }

    /** The classes whose calls are counted, in the form of instrumentationFilter. */
    String filter() {
        return shape == null ? folder.replace('/', '.') : SHAPES + "*";
    }

    CountedWork.Pass prepare(Path sources, double scale) throws Exception {
        if (shape != null) {
            return shapeOf(FourShapes.class);
        }
        return work == null ? json() : work.prepare(sources, (int) Math.max(1, work.size() * scale * SHARE_OF_WORK));
    }

    /** The pass of FourShapes, or of a copy of that class. */
    CountedWork.Pass shapeOf(Class<?> shapes) throws ReflectiveOperationException {
        MethodHandle handle = MethodHandles.publicLookup().unreflect(shapes.getMethod("run" + shape));
        return () -> {
            try {
                handle.invokeExact();
            } catch (Exception | Error e) {
                throw e;
            } catch (Throwable e) {
                throw new IllegalStateException(e);
            }
        };
    }

    /** The names of all counted classes, for tools that need each name. */
    List<String> classes() throws IOException {
        if (shape != null) {
            return List.of(SHAPES, SHAPES + "$Op", SHAPES + "$Add", SHAPES + "$Subtract", SHAPES + "$Triple");
        }
        Class<?> one = work == null ? JsonMapper.class : org.h2.Driver.class;
        if (work == CountedWork.JAVAC) {
            return below(FileSystems.getFileSystem(URI.create("jrt:/")).getPath("/modules/jdk.compiler"));
        }
        Path jar = Path.of(URI.create(
                one.getProtectionDomain().getCodeSource().getLocation().toString()));
        try (var files = FileSystems.newFileSystem(jar)) {
            return below(files.getPath("/"));
        }
    }

    private List<String> below(Path root) throws IOException {
        try (Stream<Path> files = Files.walk(root.resolve(folder))) {
            return files.map(file -> root.relativize(file).toString())
                    .filter(name -> name.endsWith(".class"))
                    .map(name -> name.substring(0, name.length() - 6).replace('/', '.'))
                    .sorted()
                    .toList();
        }
    }

    /* Writes and reads a list of orders. */
    private static CountedWork.Pass json() {
        JsonMapper mapper = JsonMapper.builder().build();
        List<Order> orders = IntStream.range(0, SIZE_OF_JSON)
                .mapToObj(i -> new Order(i, "customer " + i % 50, i / 4.0, List.of("note " + i, "paid")))
                .toList();
        String text = mapper.writeValueAsString(orders);
        return () -> {
            for (int i = 0; i < TIMES_OF_JSON; i++) {
                Order[] read = mapper.readValue(text, Order[].class);
                if (read.length != SIZE_OF_JSON
                        || mapper.writeValueAsString(read).length() != text.length()) {
                    throw new IllegalStateException("not what was written");
                }
            }
        };
    }
}

// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.bench.cost;

import com.sun.source.util.JavacTask;
import java.io.IOException;
import java.io.OutputStream;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import javax.tools.FileObject;
import javax.tools.ForwardingJavaFileManager;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileManager;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;

/** Programs of other authors whose calls are counted: they repeat the same work in this JVM. */
enum CountedWork {
    /** javac compiles this project's sources; the methods of its parser are counted. */
    JAVAC("com.sun.tools.javac.parser.JavacParser.parseCompilationUnit", "com.sun.tools.javac.parser", 43_000, 2) {
        @Override
        Pass prepare(Path sources, int size) throws IOException {
            List<Path> files = files(sources);
            List<JavaFileObject> texts = texts(files, size);
            return () -> compile(texts.subList(0, Math.min(files.size(), texts.size())));
        }
    },
    /** Only the parser of javac reads the sources. */
    PARSER("com.sun.tools.javac.parser.JavacParser.parseCompilationUnit", "com.sun.tools.javac.parser", 65_000, 0) {
        @Override
        Pass prepare(Path sources, int size) throws IOException {
            List<JavaFileObject> texts = texts(files(sources), size);
            return () -> parse(texts);
        }
    },
    /** An SQL database in memory, through its JDBC classes. */
    DATABASE("org.h2.jdbc.**", "", 3_000, 1.1) {
        @Override
        Pass prepare(Path sources, int size) throws SQLException {
            Connection connection = DriverManager.getConnection("jdbc:h2:mem:counted");
            createTables(connection);
            return () -> query(connection, size);
        }
    };

    /** One pass over the work takes some tenths of a second. */
    @FunctionalInterface
    interface Pass {
        void run() throws Exception;
    }

    private static final int CUSTOMERS = 1000;
    private static final int ORDERS_OF_EACH = 5;

    private final String roots;
    private final String filter;
    private final int size;
    private final double bar;

    CountedWork(String roots, String filter, int size, double bar) {
        this.roots = roots;
        this.filter = filter;
        this.size = size;
        this.bar = bar;
    }

    String roots() {
        return roots;
    }

    String filter() {
        return filter;
    }

    /** Lines, or transactions, of a pass. */
    int size() {
        return size;
    }

    /** The allowed duration of a counted pass, as a multiple; 0 if there is no bar. */
    double bar() {
        return bar;
    }

    /** @param size the size of a pass */
    abstract Pass prepare(Path sources, int size) throws Exception;

    /* Excludes files that belong to other modules. */
    private static List<Path> files(Path sources) throws IOException {
        List<Path> files = new ArrayList<>();
        for (Path folder :
                List.of(sources.resolve("com"), sources.resolveSibling("java").resolve("com"))) {
            try (Stream<Path> found = Files.walk(folder)) {
                found.filter(file -> file.toString().endsWith(".java")).sorted().forEach(files::add);
            }
        }
        return files;
    }

    /* Repeats the files from the first one on, until there are this many lines. */
    private static List<JavaFileObject> texts(List<Path> files, int lines) throws IOException {
        List<JavaFileObject> texts = new ArrayList<>();
        long read = 0;
        for (int i = 0; read < lines; i++) {
            Text text = new Text(files.get(i % files.size()));
            texts.add(text);
            read += text.lines;
        }
        return texts;
    }

    private static void parse(List<JavaFileObject> texts) throws IOException {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        JavacTask task = (JavacTask) compiler.getTask(null, null, null, List.of("-proc:none"), null, texts);
        if (!task.parse().iterator().hasNext()) {
            throw new AssertionError("not parsed");
        }
    }

    private static void compile(List<JavaFileObject> texts) {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        JavaFileManager files = new Discarding(compiler.getStandardFileManager(null, null, null));
        List<String> options =
                List.of("-proc:none", "-nowarn", "-Xlint:none", "-cp", System.getProperty("java.class.path"));
        if (!compiler.getTask(null, files, seen -> {}, options, null, texts).call()) {
            throw new AssertionError("not compiled");
        }
    }

    private static void createTables(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("create table customer (id int primary key, name varchar(40), city varchar(40))");
            statement.execute("create table orders (id int primary key, customer int, amount decimal(10, 2),"
                    + " note varchar(80), foreign key (customer) references customer (id))");
        }
        try (PreparedStatement insert = connection.prepareStatement("insert into customer values (?, ?, ?)");
                PreparedStatement order = connection.prepareStatement("insert into orders values (?, ?, ?, ?)")) {
            for (int i = 0; i < CUSTOMERS; i++) {
                insert.setInt(1, i);
                insert.setString(2, "customer " + i);
                insert.setString(3, "city " + i % 50);
                insert.executeUpdate();
                for (int j = 0; j < ORDERS_OF_EACH; j++) {
                    order.setInt(1, i * ORDERS_OF_EACH + j);
                    order.setInt(2, i);
                    order.setBigDecimal(3, java.math.BigDecimal.valueOf(i * 7 + j, 2));
                    order.setString(4, "note " + j);
                    order.executeUpdate();
                }
            }
        }
    }

    /*
     * Queries of a typical service: one row by its key, a join of some rows, an update; every hundredth transaction a
     * sum over all rows.
     */
    private static void query(Connection connection, int transactions) throws SQLException {
        long seen = 0;
        for (int i = 0; i < transactions; i++) {
            int customer = (int) (i * 7919L % CUSTOMERS);
            seen += ask(connection, "select id, name, city from customer where id = ?", customer);
            seen += ask(
                    connection,
                    "select o.id, o.amount, c.name from orders o join customer c on c.id = o.customer"
                            + " where c.id = ? order by o.amount desc",
                    customer);
            try (PreparedStatement update =
                    connection.prepareStatement("update orders set amount = amount + 0.01 where customer = ?")) {
                update.setInt(1, customer);
                seen += update.executeUpdate();
            }
            if (i % 100 == 0) {
                seen += ask(
                        connection,
                        "select c.city, sum(o.amount), count(*) from orders o join customer c on c.id = o.customer"
                                + " where o.customer >= ? group by c.city order by 2 desc",
                        0);
            }
        }
        if (seen < transactions) {
            throw new AssertionError("rows are missing");
        }
    }

    private static long ask(Connection connection, String sql, int key) throws SQLException {
        long rows = 0;
        try (PreparedStatement select = connection.prepareStatement(sql)) {
            select.setInt(1, key);
            try (ResultSet result = select.executeQuery()) {
                while (result.next()) {
                    rows += result.getString(1).isEmpty() ? 0 : 1;
                    result.getString(2);
                    result.getString(3);
                }
            }
        }
        return rows;
    }

    private static final class Text extends SimpleJavaFileObject {

        private final String text;
        private final long lines;

        Text(Path file) throws IOException {
            super(file.toUri(), Kind.SOURCE);
            text = Files.readString(file);
            lines = text.lines().count();
        }

        @Override
        public CharSequence getCharContent(boolean ignoreEncodingErrors) {
            return text;
        }
    }

    /** Discards class files. */
    private static final class Discarding extends ForwardingJavaFileManager<JavaFileManager> {

        Discarding(JavaFileManager files) {
            super(files);
        }

        @Override
        public JavaFileObject getJavaFileForOutput(
                Location location, String name, JavaFileObject.Kind kind, FileObject sibling) {
            return new SimpleJavaFileObject(URI.create("string:///" + name.replace('.', '/') + ".class"), kind) {
                @Override
                public OutputStream openOutputStream() {
                    return OutputStream.nullOutputStream();
                }
            };
        }
    }
}

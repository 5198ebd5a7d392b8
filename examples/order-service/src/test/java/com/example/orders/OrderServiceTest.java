// SPDX-License-Identifier: Apache-2.0
package com.example.orders;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The report shows the known behaviour of the program. */
class OrderServiceTest {

    private static final long SECONDS = 8;
    private static final long FEW_SECONDS = 3;
    private static final long HANG_SECONDS = 100;
    private static final String QUERY = "HikariProxyPreparedStatement.executeQuery(";
    private static final String LOCK = "com.example.orders.PriceBook.priceOf(";
    private static final List<Pattern> COUNTED = List.of(
            Pattern.compile("(?m)^Counted thread: http-nio--exec-\\. Max depth: [3-9]\\. Distinct threads: 6 \\["),
            Pattern.compile("(?m)^ +com\\.zaxxer\\.hikari\\.pool\\.HikariProxyPreparedStatement\\.executeQuery\\("
                    + "HikariProxyPreparedStatement\\.java\\) .*, Calls: \\d+"),
            Pattern.compile(
                    "(?m)^com\\.example\\.orders\\.OrderHandler\\.handle\\(OrderHandler\\.java\\) .*, Calls: \\d+,"
                            + " Time per call\\(us\\): [\\d.]+, min [\\d.]+, max [\\d.]+$"),
            Pattern.compile(
                    "(?m)^  com\\.example\\.orders\\.PriceBook\\.priceOf\\(PriceBook\\.java\\) .*, Calls: \\d+"));
    private static final List<String> ENDS_OF_THREADS = List.of("[thread ended]", "[no Java frames]");
    /* Smaller rows, such as JSON parsing with some per mille of the time. */
    private static final String SMALL = " below 0.5 %]";
    private static final Pattern ROW =
            Pattern.compile("( *)(\\S.*?) +Cumulative time\\(ms\\): (\\d+), Method time\\(ms\\): (\\d+)");

    @TempDir
    Path folder;

    record Row(int depth, String frame, long cumulative, long self) {}

    @Test
    void theReportShowsWhatThereIs() throws Exception {
        String report = reportOfAllWorkers();
        List<Row> workers = rows(report, "http-nio--exec-");
        assertThat(title(report, "http-nio--exec-")).contains("Distinct threads: 6 [http-nio-8080-exec-");
        assertThat(workers)
                .anyMatch(row -> row.frame().contains(QUERY))
                .anyMatch(row -> row.frame().contains(LOCK));
        assertRowsEndWhereTheyShould(report, workers);
    }

    /*
     * Repeated with longer runs until all were seen, because on a busy machine the workers may have to wait for a CPU.
     */
    private String reportOfAllWorkers() throws Exception {
        String report = "";
        for (long seconds = FEW_SECONDS; seconds < HANG_SECONDS && !hasAllWorkers(report); seconds *= 2) {
            Path file = folder.resolve("report-" + seconds + ".log");
            OrderService.main(new String[] {Long.toString(seconds), OrderService.IN_MEMORY, file.toString()});
            report = Files.readString(file);
        }
        return report;
    }

    private static boolean hasAllWorkers(String report) {
        return report.contains("Distinct threads: 6 [") && report.contains(QUERY) && report.contains(LOCK);
    }

    /** The report shows how often the lock and the slow query were called, and how long a call took. */
    @Test
    void theReportCountsCalls() throws Exception {
        String report = "";
        /*
         * Repeated with longer runs, because on a busy machine some workers may have had no order since counting began.
         */
        for (long seconds = FEW_SECONDS; seconds < HANG_SECONDS && !hasAll(report, COUNTED); seconds *= 2) {
            Path file = folder.resolve("counted-" + seconds + ".log");
            OrderService.main(new String[] {
                Long.toString(seconds),
                OrderService.IN_MEMORY,
                file.toString(),
                "com.example.orders.OrderHandler.handle"
            });
            report = Files.readString(file);
        }
        for (Pattern each : COUNTED) {
            assertThat(report).containsPattern(each);
        }
    }

    private static boolean hasAll(String report, List<Pattern> patterns) {
        return patterns.stream().allMatch(pattern -> pattern.matcher(report).find());
    }

    @Test
    @Tag("truth")
    void inMemory() throws Exception {
        check(OrderService.IN_MEMORY);
    }

    @Test
    @Tag("truth")
    void inARealFile() throws Exception {
        check("jdbc:h2:file:" + folder.resolve("orders"));
    }

    private static void assertRowsEndWhereTheyShould(String report, List<Row> workers) {
        assertThat(workers)
                .as("nothing below the JDBC call")
                .noneMatch(row -> row.frame().startsWith("org.h2."));
        for (String idle : List.of("mail-sender-", "audit-writer-")) {
            assertThat(rows(report, idle))
                    .as(idle + " piles up on its root frame, apart from how it started and ended")
                    .allMatch(row -> row.depth() == 0
                            && (ENDS_OF_THREADS.contains(row.frame())
                                    || row.frame().endsWith(SMALL)
                                    || row.frame().startsWith("java.lang.Thread.run(")
                                    || row.frame().startsWith("java.lang.Thread.exit(")))
                    .anyMatch(row -> row.frame().startsWith("java.lang.Thread.run("));
        }
        assertThat(title(report, "mail-sender-")).contains("Distinct threads: 2 [mail-sender-");
    }

    private void check(String url) throws Exception {
        Path file = folder.resolve("report.log");
        OrderService.main(new String[] {Long.toString(SECONDS), url, file.toString()});
        String report = Files.readString(file);

        List<Row> workers = rows(report, "http-nio--exec-");
        long whole = sum(workers.stream().filter(row -> row.depth() == 0).toList());
        assertThat(title(report, "http-nio--exec-")).contains("Distinct threads: 6 [http-nio-8080-exec-");
        assertThat(whole)
                .as("six workers, alive for nearly all of it")
                .isCloseTo(6 * SECONDS * 1000, within(6 * SECONDS * 1000 / 5));

        assertThat(share(workers, QUERY, whole))
                .as("the slow query piles up at the JDBC call")
                .isGreaterThan(0.10);
        assertThat(share(workers, LOCK, whole)).as("the contended lock").isGreaterThan(0.10);
        assertRowsEndWhereTheyShould(report, workers);
        for (String idle : List.of("mail-sender-", "audit-writer-")) {
            assertThat(sum(rows(report, idle).stream()
                            .filter(row -> row.depth() == 0)
                            .toList()))
                    .isCloseTo(2 * SECONDS * 1000, within(2 * SECONDS * 1000 / 5));
        }
    }

    private static double share(List<Row> rows, String frame, long whole) {
        return (double) sum(
                        rows.stream().filter(row -> row.frame().contains(frame)).toList())
                / whole;
    }

    private static long sum(List<Row> rows) {
        return rows.stream().mapToLong(Row::cumulative).sum();
    }

    private static String title(String report, String group) {
        return report.lines()
                .filter(line -> line.startsWith("Aggregated thread: " + group + ". "))
                .findFirst()
                .orElseThrow(() -> new AssertionError("no group " + group + " in\n" + report));
    }

    private static List<Row> rows(String report, String group) {
        String title = title(report, group);
        return report.lines()
                .dropWhile(line -> !line.equals(title))
                .skip(1)
                .takeWhile(line -> !line.isEmpty())
                .map(OrderServiceTest::row)
                .toList();
    }

    private static Row row(String line) {
        Matcher matcher = ROW.matcher(line);
        assertThat(matcher.matches()).as(line).isTrue();
        return new Row(
                matcher.group(1).length() / 2,
                matcher.group(2),
                Long.parseLong(matcher.group(3)),
                Long.parseLong(matcher.group(4)));
    }
}

// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.agent;

import static org.assertj.core.api.Assertions.assertThat;

import com.incapsula.sampler.ReportFormat;
import com.incapsula.sampler.internal.json.JsonParser;
import com.incapsula.sampler.internal.report.HtmlPage;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.StringJoiner;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The command line, in cases that need no other JVM. */
class CommandLineTest {

    @TempDir
    Path folder;

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();

    private int run(String... arguments) {
        return new CommandLine(
                        new PrintStream(out, true, StandardCharsets.UTF_8),
                        new PrintStream(err, true, StandardCharsets.UTF_8))
                .run(arguments);
    }

    private String printed() {
        String text = out.toString(StandardCharsets.UTF_8);
        out.reset();
        return text;
    }

    private String complaint() {
        return err.toString(StandardCharsets.UTF_8);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "2 | there is no option --intervall | 1 --intervall 5ms",
                "2 | there is no option --content | 1 --content top",
                "2 | there is no option -x | 1 -x",
                "2 | -d needs a value | 1 -d",
                "2 | interval is there twice: 1ms and 2ms | 1 -i 1ms --interval=2ms",
                "2 | \"more\" is one word too many | 1 more",
                "2 | which JVM? a process id or a name is missing | start",
                "2 | which JVM? a process id or a name is missing | -d 1s",
                "2 | set needs one KEY=VALUE | set 1",
                "2 | \"x\" is one word too many | set 1 x",
                "2 | diff needs two files, BEFORE and AFTER, got 1 | diff a.collapsed",
                "2 | merge needs two files or more, got 0 | merge",
                "2 | the result can be .html, .json or .collapsed, got -o x.pb.gz | merge a.html b.html -o x.pb.gz",
                "2 | the result can be .html, .json or .collapsed, or calls, got -o x.speedscope.json | diff a b -o x.speedscope.json",
                "2 | the result can be .html, .json or .collapsed, or calls, got text | diff a b --format text",
                "2 | samplingFrequencyMillis has no meaning with diff and merge | diff a b -i 5ms",
                "2 | measure has no meaning with this form of diff and merge | diff a b --by calls",
                "2 | the result can be .html, .json or .collapsed, got calls | merge a b --format calls",
                "2 | per must be one of method, class, package, got \"x\" | diff a b --format calls --per x",
                "1 | there is no file /nowhere/a.collapsed | merge /nowhere/a.collapsed /nowhere/b.collapsed",
                "2 | -o - is the standard output of this command | start 1 -o -",
                "3 | no JVM of this user is called NoSuchProgram | NoSuchProgram",
                "3 | cannot attach to 2147483646 | 2147483646"
            })
    void theExitCodeSaysWhatWasWrong(int exit, String message, String arguments) {
        assertThat(run(arguments.split(" "))).isEqualTo(exit);
        assertThat(complaint()).startsWith("threads-sampler: ").contains(message);
        assertThat(complaint().contains("--help explains the options")).isEqualTo(exit == 2);
        assertThat(printed()).as("the results alone, if there are any").isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"--help", "--version", "", "diff a.collapsed a.collapsed", "merge a.collapsed a.collapsed -o -"})
    void outputThatCannotBePrintedIsAFailure(String arguments) throws Exception {
        Path file = Files.writeString(folder.resolve("a.collapsed"), "main;x.X.run(X.java:1) 5\n");
        String[] words = arguments.isEmpty() ? new String[0] : arguments.split(" ");
        for (int i = 0; i < words.length; i++) {
            words[i] = words[i].replace("a.collapsed", file.toString());
        }
        try (PrintStream full = new PrintStream("/dev/full")) {
            CommandLine commandLine = new CommandLine(full, new PrintStream(err, true, StandardCharsets.UTF_8));
            assertThat(commandLine.run(words)).isEqualTo(1);
        }
        assertThat(complaint()).isEqualTo("threads-sampler: standard output cannot be written to\n");
    }

    @Test
    void aMinusIsStandardOutput() throws Exception {
        Path file = Files.writeString(folder.resolve("a.collapsed"), "main;x.X.run(X.java:1) 5\n");
        assertThat(run("merge", file.toString(), file.toString(), "-o", "-")).isZero();
        assertThat(printed()).isEqualTo("main;x.X.run(X.java:1) 10\n");
        assertThat(Path.of("-")).doesNotExist();
        assertThat(Arguments.parse("7", "-o", "-").output()).isNull();
        assertThat(Arguments.parse("dump", "7", "-o", "-", "--format", "json").forAgent())
                .isEqualTo("dump,content=json");
    }

    @Test
    void aNameThatIsNoPathIsAnErrorOfTheUser() {
        assertThat(run("merge", "a\0.collapsed", "b.collapsed")).isEqualTo(2);
        assertThat(complaint()).startsWith("threads-sampler: ");
    }

    @Test
    void aFileThatCannotBeReadIsNamedWithTheReason() throws Exception {
        Path file = Files.createFile(folder.resolve("a.collapsed"));
        assertThat(run("merge", file.toString(), folder.toString())).isEqualTo(1);
        assertThat(complaint()).isEqualTo("threads-sampler: " + folder + " cannot be read: Is a directory\n");
        err.reset();
        Path link = folder.resolve("link.collapsed");
        Files.createSymbolicLink(link, link);
        assertThat(run("merge", file.toString(), link.toString())).isEqualTo(1);
        assertThat(complaint())
                .startsWith("threads-sampler: " + link + " cannot be read: java.nio.file.FileSystemException: ")
                .contains("Too many levels of symbolic links");
    }

    @Test
    void aFileThatIsTooLargeIsSaid() throws Exception {
        Path file = folder.resolve("large.collapsed");
        try (RandomAccessFile sparse = new RandomAccessFile(file.toFile(), "rw")) {
            sparse.setLength(3L << 30); // uses no disk space, and is longer than any array
        }
        assertThat(run("merge", file.toString(), file.toString())).isEqualTo(1);
        assertThat(complaint()).startsWith("threads-sampler: not enough memory: ");
    }

    @Test
    void helpAndVersionAreThere() {
        assertThat(run("--help")).isZero();
        assertThat(printed())
                .startsWith("usage: java -jar threads-sampler.jar ")
                .contains("exit: 0 done;");
        assertThat(run("--version")).isZero();
        assertThat(printed()).isEqualTo("threads-sampler dev\n");
        assertThat(complaint()).isEmpty();
    }

    @Test
    void optionsGoToTheAgentAsTheyAre() {
        assertThat(Arguments.parse("7").forAgent()).isEqualTo("run,content=top,duration=10000ms,summary=false");
        assertThat(Arguments.parse("7", "--format", "TEXT").forAgent())
                .isEqualTo("run,content=TEXT,duration=10000ms,summary=false");
        assertThat(Arguments.parse("7", "--format", "collapsed").forAgent())
                .as("what is shown has no summary")
                .isEqualTo("run,content=collapsed,duration=10000ms");
        assertThat(Arguments.parse("7", "-o", "a.html", "--packages", "a,b", "-d", "2m")
                        .forAgent())
                .isEqualTo("run,monitoredPackages=a\\,b,duration=120000ms,content=html");
        assertThat(Arguments.parse("dump", "7", "--format", "json").forAgent()).isEqualTo("dump,content=json");
        assertThat(Arguments.parse("stop", "7", "-o", "x.pb.gz").forAgent()).isEqualTo("stop,content=pprof");
        assertThat(Arguments.parse("start", "7", "-o", "/r/x-%p.html", "--to", "log")
                        .forAgent())
                .isEqualTo("start,to=log,file=/r/x-%p.html");
        assertThat(Arguments.parse("set", "7", "active=false").forAgent()).isEqualTo("set,active=false");
        assertThat(Arguments.parse("status", "7").forAgent()).isEqualTo("status");
    }

    @Test
    void optionsAreWrittenAsInGnuPrograms() {
        String agent =
                Arguments.parse("7", "-d", "10s", "-i", "5ms", "-o", "a.json").forAgent();
        assertThat(Arguments.parse("-d10s", "-i5ms", "-oa.json", "7").forAgent())
                .isEqualTo(agent);
        assertThat(Arguments.parse("--duration=10s", "--interval", "5ms", "--output", "a.json", "--", "7")
                        .forAgent())
                .isEqualTo(agent);
        assertThat(Arguments.parse("start", "7", "--report-cpu-time", "--no-report-summary", "--report-states=false")
                        .forAgent())
                .isEqualTo("start,reportCpuTime=true,reportSummary=false,reportStates=false");
        assertThat(Arguments.parse("start", "7", "--max-depth-frames", "99", "--reportFrequencySeconds", "5m")
                        .forAgent())
                .isEqualTo("start,maxDepthFrames=99,reportFrequencySeconds=5m");
        assertThat(Arguments.parse("--", "-x").target()).isEqualTo("-x");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "7 -x               | there is no option -x",
                "7 --no-interval    | there is no option --no-interval",
                "7 --report-cpu     | there is no option --report-cpu",
                "7 --interval       | --interval needs a value",
                "7 -o               | -o needs a value",
                "7 -o a.json -ob    | -o is there twice",
                "7 --report-states true | \"true\" is one word too many",
            })
    void wrongArgumentsAreNamed(String line, String message) {
        assertThat(run(line.split(" +"))).isEqualTo(2);
        assertThat(complaint()).startsWith("threads-sampler: " + message + "\n");
    }

    @Test
    void filesAreAddedUpAndCompared() throws Exception {
        Path a = Files.writeString(folder.resolve("a.collapsed"), "main;x.X.run(X.java:1) 5\nmain;y 7\n");
        Path b = Files.writeString(folder.resolve("b.collapsed"), "main;y 1\nmain;z 2\nmain;y 3\n");
        Path sum = folder.resolve("sum.collapsed");

        assertThat(run("merge", a.toString(), b.toString(), "-o", sum.toString()))
                .isZero();
        assertThat(printed()).isEqualTo("3 stacks, in " + sum + "\n");
        assertThat(sum).hasContent("main;x.X.run(X.java:1) 5\nmain;y 11\nmain;z 2\n");

        assertThat(run("diff", a.toString(), b.toString())).isZero();
        assertThat(printed()).isEqualTo("main;x.X.run(X.java:1) 5 0\nmain;y 7 4\nmain;z 0 2\n");
    }

    private static final String REPORT = """
            {"format":"threads-sampler/1","fromMillis":1000,"tillMillis":3000,"elapsedNanos":2000,"ownCpuNanos":7,
            "memoryUsedBytes":5,"memoryLimitBytes":9,"account":{"polls":4,"outcomes":{"OK":4},"counters":{}},
            "frames":[{"class":"x.X","method":"run","file":"X.java","line":1},{"pseudo":"[a;b]"},
            {"class":"x.X","method":"read0","native":true},{"class":"X","method":"go"}],
            "groups":[{"name":"ma;in \\u003c1>","threads":2,"threadNames":["m"],"maxDepth":2,"polls":4,
            "outcomes":{"OK":4},"parent":[-1,0,0,-1],"frame":[0,1,2,3],"wall":[1,20,300,4000],"cpu":[1,2,3,4],
            "samples":[1,1,1,1],"rowCalls":[[0,5,1]]}],"counted":[],"counting":{}}
            """;
    private static final String REPORT_LINES = """
            ma\\u003bin <1>;x.X.run(X.java:1) 1
            ma\\u003bin <1>;x.X.run(X.java:1);[a\\u003bb] 20
            ma\\u003bin <1>;x.X.run(X.java:1);x.X.read0(Native Method) 300
            ma\\u003bin <1>;X.go(Unknown Source) 4000
            """;

    private Path write(String name, String content) throws IOException {
        return Files.writeString(folder.resolve(name), content);
    }

    private static String page(String json) throws IOException {
        ByteArrayOutputStream page = new ByteArrayOutputStream();
        HtmlPage.write(page, out -> out.write(json.getBytes(StandardCharsets.UTF_8)));
        return page.toString(StandardCharsets.UTF_8);
    }

    private static Map<?, ?> object(Object value, String... path) {
        Object at = value;
        for (String name : path) {
            at = at instanceof List<?> list ? list.get(Integer.parseInt(name)) : ((Map<?, ?>) at).get(name);
        }
        return (Map<?, ?>) at;
    }

    private static List<?> list(Object value, String... path) {
        String last = path[path.length - 1];
        return (List<?>) object(value, Arrays.copyOf(path, path.length - 1)).get(last);
    }

    private static String dataOf(Path page) throws IOException {
        String text = Files.readString(page);
        assertThat(text).startsWith("<!DOCTYPE html>");
        int from = text.indexOf(">", text.indexOf("<script type=\"application/json\"")) + 1;
        return text.substring(from, text.indexOf("</script>", from));
    }

    @Test
    void reportsOfAllFormsAreRead() throws Exception {
        for (String file : List.of(
                write("a.json", REPORT).toString(),
                write("a b.html", page(REPORT)).toString(),
                write("a.collapsed", REPORT_LINES).toString())) {
            String none = write("none.collapsed", "").toString();
            assertThat(run("merge", none, file)).as(complaint()).isZero();
            assertThat(printed()).isEqualTo(REPORT_LINES);
        }
    }

    /** Names that differ only in such characters are different groups; the format COLLAPSED has the same escapes. */
    @Test
    void charactersThatALineCannotHaveAreEscaped() throws Exception {
        String group = "{\"name\":\"a%sb\",\"parent\":[-1,0,1],\"frame\":[0,1,2],\"wall\":[0,0,%d]}";
        List<String> names =
                List.of("\\n", "\\r", "\\t", ";", ",", "\\u0001", "\\u007f", "\\u0085", "\\u2028", "\\u202e");
        StringJoiner groups = new StringJoiner(",", "[", "]");
        StringJoiner lines = new StringJoiner("\n", "", "\n");
        for (int i = 0; i < names.size(); i++) {
            groups.add(group.formatted(names.get(i), 1 + i));
            String name = "a" + names.get(i).replace(";", "\\u003b") + "b";
            lines.add(name + ";[\\u003b];[,];x.X.run(\\n:7) " + (1 + i));
        }
        String frames = "[{\"pseudo\":\"[;]\"},{\"pseudo\":\"[,]\"},"
                + "{\"class\":\"x.X\",\"method\":\"run\",\"file\":\"\\n\",\"line\":7}]";
        Path report = write(
                "a.json", "{\"format\":\"threads-sampler/1\",\"frames\":" + frames + ",\"groups\":" + groups + "}");
        Path collapsed = write("a.collapsed", lines.toString());

        assertThat(run("merge", write("none.collapsed", "").toString(), report.toString()))
                .as(complaint())
                .isZero();
        assertThat(printed()).isEqualTo(lines.toString());
        assertThat(run("diff", collapsed.toString(), report.toString()))
                .as(complaint())
                .isZero();
        assertThat(printed()).isEqualTo(lines.toString().replaceAll("(?m) (\\d+)$", " $1 $1"));
    }

    @Test
    void theSumIsAPage() throws Exception {
        Path a = write("a.json", REPORT);
        Path sum = folder.resolve("s um.html");
        assertThat(run("merge", a.toString(), a.toString(), "-o", sum.toString()))
                .as(complaint())
                .isZero();
        assertThat(printed()).isEqualTo("4 stacks, in " + sum + "\n");

        Object report = JsonParser.parse(dataOf(sum));
        assertThat(object(report).get("elapsedNanos")).isEqualTo(4000L);
        assertThat(object(report).get("tillMillis")).isEqualTo(3000L);
        assertThat(object(report, "account", "outcomes").get("OK")).isEqualTo(8L);
        Map<?, ?> group = object(report, "groups", "0");
        assertThat(group.get("name")).isEqualTo("ma;in <1>");
        assertThat(group.get("threads")).isEqualTo(2L);
        assertThat(group.get("polls")).isEqualTo(8L);
        assertThat(group.get("parent")).isEqualTo(List.of(-1L, 0L, 0L, -1L));
        assertThat(group.get("wall")).isEqualTo(List.of(2L, 40L, 600L, 8000L));
        assertThat(group.get("cpu")).isEqualTo(List.of(2L, 4L, 6L, 8L));
        assertThat(object(report, "frames", "0"))
                .isEqualTo(Map.of("class", "x.X", "method", "run", "file", "X.java", "line", 1L));
        assertThat(object(report, "frames", "2")).isEqualTo(Map.of("class", "x.X", "method", "read0", "native", true));

        assertThat(run("merge", sum.toString(), a.toString(), "--format", "json"))
                .isZero();
        assertThat(object(JsonParser.parse(printed())).get("elapsedNanos")).isEqualTo(6000L);
    }

    private static String counted(String calls, String rootTime) {
        return REPORT.replace(
                "\"counted\":[],\"counting\":{}",
                "\"counted\":[{\"name\":\"main\",\"threads\":2,\"threadNames\":[\"m\"],\"maxDepth\":2,\"polls\":0,"
                        + "\"outcomes\":{},\"hookNanos\":10,\"parent\":[-1,0],\"frame\":[0,3],\"wall\":[5,20],"
                        + "\"cpu\":[0,1],\"samples\":[0,0],\"calls\":" + calls + ",\"rootTimes\":[" + rootTime
                        + "],\"countedSince\":[[1,1500,-1]]}],"
                        + "\"counting\":{\"BATCHES\":{\"text\":\"batches\",\"count\":1,\"names\":[]}}");
    }

    @Test
    void callsAreAddedUp() throws Exception {
        Path a = write("a.json", counted("[1,7]", "[0,1,25,24,26]"));
        Path b = write("b.json", counted("[2,3]", "[0,2,60,20,40]"));
        Path none = write("none.json", REPORT.replace(",\"counted\":[],\"counting\":{}", ""));
        Path sum = folder.resolve("sum.html");
        assertThat(run("merge", none.toString(), a.toString(), b.toString(), "-o", sum.toString()))
                .as(complaint())
                .isZero();
        assertThat(printed()).isEqualTo("4 stacks, in " + sum + "\n");
        Object report = JsonParser.parse(dataOf(sum));
        assertThat(list(report, "counted")).hasSize(1);
        Map<?, ?> group = object(report, "counted", "0");
        assertThat(group.get("name")).isEqualTo("main");
        assertThat(group.get("threads")).isEqualTo(2L);
        assertThat(group.get("hookNanos")).isEqualTo(20L);
        assertThat(group.get("parent")).isEqualTo(List.of(-1L, 0L));
        assertThat(group.get("wall")).isEqualTo(List.of(10L, 40L));
        assertThat(group.get("calls")).isEqualTo(List.of(3L, 10L));
        assertThat(group.get("rootTimes")).isEqualTo(List.of(List.of(0L, 3L, 85L, 20L, 40L)));
        long frame = (Long) list(group, "frame").get(1);
        assertThat(object(report, "frames", Long.toString(frame))).isEqualTo(Map.of("class", "X", "method", "go"));
        assertThat(object(report, "groups", "0").containsKey("calls")).isFalse();
        assertThat(object(report).containsKey("counting")).isFalse();
    }

    @Test
    void callsAreCompared() throws Exception {
        Path before = write("before.json", counted("[1,7]", "[0,1,25,24,26]"));
        Path after = write("after.json", counted("[2,3]", "[0,2,60,20,40]"));
        assertThat(run("diff", before.toString(), after.toString(), "--format", "json"))
                .as(complaint())
                .isZero();
        Object pair = JsonParser.parse(printed());
        assertThat(list(pair, "difference", "counted", "groups")).isEqualTo(List.of(List.of(0L, 0L)));
        assertThat(list(pair, "difference", "counted", "parent")).isEqualTo(List.of(-1L, 0L, 1L));
        assertThat(list(pair, "difference", "counted", "before", "calls")).isEqualTo(List.of(0L, 1L, 7L));
        assertThat(list(pair, "difference", "counted", "after", "calls")).isEqualTo(List.of(0L, 2L, 3L));
        assertThat(object(pair, "difference", "after").keySet().toString()).isEqualTo("[wall, cpu, samples]");
        assertThat(object(pair, "before", "counted", "0").get("hookNanos")).isEqualTo(10L);
        assertThat(object(pair, "after", "counting", "BATCHES").get("count")).isEqualTo(1L);
    }

    @Test
    void callsAreComparedInATable() throws Exception {
        Path before = write("before.json", counted("[1,7]", "[0,1,25,24,26]"));
        Path after = write("after.json", counted("[2,3]", "[0,2,60,20,40]"));
        String[] diff = {"diff", before.toString(), after.toString(), "--format", "calls"};
        assertThat(run(diff)).as(complaint()).isZero();
        assertThat(printed()).isEqualTo("""
                        Counted methods before and after: 2, by change of total time
                          calls before          after         change    ms before        after      us/call        after  method
                                     7              3             -4        0.000        0.000        0.003        0.007  X.go
                                     1              2             +1        0.000        0.000        0.025        0.013  x.X.run
                        """);
        assertThat(run(
                        "diff",
                        before.toString(),
                        after.toString(),
                        "--format",
                        "calls",
                        "--per",
                        "package",
                        "--by",
                        "calls"))
                .isZero();
        assertThat(printed())
                .startsWith("Counted packages before and after: 2, by change of calls\n")
                .contains("  [no package]\n")
                .contains("  x\n");
        assertThat(run("diff", before.toString(), after.toString(), "--format", "calls", "--focus", "X.go"))
                .isZero();
        assertThat(printed()).contains(" after: 1, by ").contains("  X.go\n");
        Path file = folder.resolve("x.calls.txt");
        assertThat(run("diff", before.toString(), after.toString(), "-o", file.toString()))
                .isZero();
        assertThat(printed()).isEqualTo("counted calls, in " + file + "\n");
        assertThat(file).content().contains("  X.go\n");
        Path none = write("none.json", REPORT.replace(",\"counted\":[],\"counting\":{}", ""));
        assertThat(run("diff", none.toString(), none.toString(), "--format", "calls"))
                .isEqualTo(2);
        assertThat(complaint()).contains("neither file has calls that were counted");
    }

    /**
     * A collapsed line has one measure, so counted calls are omitted. A message says so, also if the lines go to
     * standard output.
     */
    @Test
    void linesHaveNoCallsAndThatIsSaid() throws Exception {
        Path a = write("a.json", counted("[1,7]", "[0,1,25,24,26]"));
        Path sum = folder.resolve("sum.collapsed");
        assertThat(run("merge", a.toString(), a.toString(), "-o", sum.toString()))
                .isZero();
        assertThat(printed()).isEqualTo("4 stacks without the calls that were counted, in " + sum + "\n");
        assertThat(complaint()).isEmpty();
        assertThat(run("merge", a.toString(), a.toString())).isZero();
        assertThat(printed()).isEqualTo(Files.readString(sum));
        assertThat(complaint())
                .isEqualTo("threads-sampler: the calls that were counted are left out; html and json have them\n");
    }

    /** Some tools rewrite a document with nulls: a null member counts as missing. */
    @Test
    void membersThatAreNullAreMissing() throws Exception {
        String report = "{\"format\":\"threads-sampler/1\",\"elapsedNanos\":null,\"counted\":null,\"frames\":["
                + "{\"pseudo\":null,\"class\":\"a.B\",\"method\":\"c\",\"file\":\"B.java\",\"line\":null},"
                + "{\"pseudo\":null,\"class\":\"a.B\",\"method\":\"d\",\"file\":null,\"line\":7},"
                + "{\"class\":\"a.B\",\"method\":\"e\",\"file\":\"B.java\",\"line\":1.5}],"
                + "\"groups\":[{\"name\":\"main\",\"parent\":[-1,0,0],\"frame\":[0,1,2],\"wall\":[0,4,5]}]}";
        Path a = write("a.json", report);
        Path b = write("b.json", report.replace("\"elapsedNanos\":null", "\"elapsedNanos\":3"));
        assertThat(run("merge", a.toString(), a.toString(), "--format", "collapsed"))
                .as(complaint())
                .isZero();
        assertThat(printed())
                .isEqualTo("main;a.B.c(B.java);a.B.d(Unknown Source) 8\nmain;a.B.c(B.java);a.B.e(B.java:1.5) 10\n");
        Path sum = folder.resolve("sum.json");
        assertThat(run("merge", a.toString(), b.toString(), "-o", sum.toString()))
                .as(complaint())
                .isZero();
        assertThat(printed()).startsWith("2 stacks, in ");
    }

    /** The page shows groups in the order of the document. */
    @Test
    void theGroupWithMostTimeComesFirst() throws Exception {
        Path lines = write("a.collapsed", "quiet;x 1\nbusy 5\nbusy;y 2\n");
        Path none = write("none.collapsed", "");
        assertThat(run("merge", none.toString(), lines.toString(), "--format=json"))
                .as(complaint())
                .isZero();
        Object report = JsonParser.parse(printed());
        assertThat(object(report, "groups", "0").get("name")).isEqualTo("busy");
        assertThat(object(report, "groups", "0").get("wall")).isEqualTo(List.of(2L, 5L));
        assertThat(list(report, "groups", "0", "parent")).isEqualTo(List.of(-1L, -1L));
        assertThat(list(report, "frames"))
                .isEqualTo(List.of(Map.of("pseudo", "x"), Map.of("pseudo", "y"), Map.of("pseudo", "[no frame]")));
        assertThat(object(report, "groups", "1").get("name")).isEqualTo("quiet");
    }

    @Test
    void theDifferenceIsAPage() throws Exception {
        Path before = write("before.json", REPORT);
        Path after =
                write("after.collapsed", "main;x.X.run(X.java:2);y 5\nma\\u003bin <1>;x.X.run(X.java:9) 7\nmain 3\n");
        Path diff = folder.resolve("diff.html");
        assertThat(run("diff", before.toString(), after.toString(), "-o", diff.toString()))
                .as(complaint())
                .isZero();
        assertThat(printed()).isEqualTo("6 stacks, in " + diff + "\n");

        Object pair = JsonParser.parse(dataOf(diff));
        assertThat(list(pair, "difference", "groups")).isEqualTo(List.of(List.of(0L, 1L), List.of(-1L, 0L)));
        assertThat(list(pair, "difference", "parent")).isEqualTo(List.of(-1L, 0L, 1L, 1L, 0L, -1L, 5L, 6L));
        assertThat(list(pair, "difference", "frame")).isEqualTo(List.of(0L, 0L, 1L, 2L, 3L, 1L, 0L, 4L));
        assertThat(list(pair, "difference", "before", "wall")).isEqualTo(List.of(0L, 1L, 20L, 300L, 4000L, 0L, 0L, 0L));
        assertThat(list(pair, "difference", "after", "wall")).isEqualTo(List.of(0L, 7L, 0L, 0L, 0L, 3L, 0L, 5L));
        assertThat(object(pair, "difference", "after").keySet().toString()).isEqualTo("[wall, cpu, samples]");
        assertThat(object(pair, "difference", "frames", "0")).isEqualTo(Map.of("class", "x.X", "method", "run"));
        assertThat(object(pair, "difference", "frames", "4")).isEqualTo(Map.of("pseudo", "y"));
        for (String side : List.of("before", "after")) { // one has no length, so neither is scaled
            assertThat(object(pair, side).get("elapsedNanos")).isEqualTo(0L);
            assertThat(object(pair, side).get("format")).isEqualTo("threads-sampler/1");
        }
        assertThat(object(pair, "after", "groups", "1").get("name")).isEqualTo("ma\\u003bin <1>");
    }

    @Test
    void theHelpAndTheReadmeHaveEachFormatAndEachKey() throws Exception {
        assertThat(run("--help")).isZero();
        String help = printed();
        String rows = Files.readAllLines(Path.of("java", "REFERENCE.md")).stream()
                .filter(line -> line.startsWith("| `"))
                .collect(Collectors.joining("\n"));
        for (ReportFormat format : ReportFormat.values()) {
            String name = format.name().toLowerCase(Locale.ROOT);
            if (format != ReportFormat.TEXT) { // .txt
                assertThat(help).contains(" ." + format.getFileExtension());
            }
            assertThat(help).containsPattern("--format FORMAT .*\\b" + name + "\\b");
            assertThat(rows).contains("`" + name + "`");
        }
        String keys = Keys.help().replaceFirst("options are (.*), and the properties .*", "$1");
        for (String key : keys.split(", ")) {
            assertThat(rows).contains("`" + key + "`");
            if (!key.equals(Keys.FILE)) { // -o
                assertThat(help).contains("--" + key.replaceAll("[A-Z]", "-$0").toLowerCase(Locale.ROOT) + " ");
            }
        }
    }

    /** The commands of java/REFERENCE.md work as printed, except for the folder. */
    @Test
    void theCommandsOfTheReadmeWork() throws Exception {
        String program = "java -jar threads-sampler.jar ";
        List<String> commands = Files.readAllLines(Path.of("java", "REFERENCE.md")).stream()
                .filter(line -> line.matches(program + "(diff|merge) [a-z].*"))
                .toList();
        assertThat(commands).hasSize(3);
        for (String name : List.of("monday.html", "tuesday.html", "report-1.html")) {
            write(name, page(REPORT));
        }
        write("report-2.json", REPORT);
        write("before.collapsed", REPORT_LINES);
        write("after.collapsed", REPORT_LINES);
        for (String command : commands) {
            String[] words = command.substring(program.length()).split(" ");
            for (int i = 0; i < words.length; i++) {
                words[i] = words[i].indexOf('.') < 0
                        ? words[i]
                        : folder.resolve(words[i]).toString();
            }
            assertThat(run(words)).as(command + complaint()).isZero();
            assertThat(printed()).startsWith("4 stacks").endsWith(", in " + words[words.length - 1] + "\n");
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "{} | its format is null, not threads-sampler/1",
                "{\"format\":\"threads-sampler/2\"} | its format is threads-sampler/2",
                "{\"before\":{},\"after\":{}} | it is a difference of two reports",
                "{\"format\":\"threads-sampler/1\"} | an array is missing",
                "{\"format\":\"threads-sampler/1\",\"frames\":[],\"groups\":[{\"parent\":[-1],\"frame\":[]}]} | not a report",
                "{\"format\":\"threads-sampler/1\",\"frames\":[{\"pseudo\":\"x\"}],\"groups\":[{\"parent\":[0],\"frame\":[0]}]} | node 0 stands before its parent",
                "{\"format | no JSON at character 8: a string has no end",
                "{\"format\":\"threads-sampler/1\",\"frames\":[}} | no JSON at character 40: no value",
                "{\"format\":1,\"format\":2} | no JSON at character 22: a name stands twice",
                "{\"format\":null} | its format is null, not threads-sampler/1",
                "{\"format\":\"threads-sampler/1\",\"frames\":null} | an array is missing",
                "{\"format\":\"threads-sampler/1\",\"frames\":[],\"groups\":[{\"parent\":[-1.0],\"frame\":[0]}]} | a whole number is missing",
                "<!DOCTYPE html><html><head> | the page has no report, or ends before it",
                "main;x 5 7 | line 1: a difference of two reports, which is no report"
            })
    void aFileThatIsNotAReportIsNamed(String content, String message) throws Exception {
        String right = write("right.json", REPORT).toString();
        Path wrong = write("wrong", content);
        assertThat(run("diff", right, wrong.toString(), "-o", folder + "/x.html"))
                .isEqualTo(1);
        assertThat(complaint()).startsWith("threads-sampler: " + wrong).contains(message);
        assertThat(folder.resolve("x.html")).doesNotExist();
    }

    /** Its content was lost, for example because the disk was full. */
    @ParameterizedTest
    @ValueSource(strings = {"lost.json", "lost.html", "lost.htm"})
    void anEmptyFileIsNoReport(String name) throws Exception {
        Path lost = write(name, "");
        String right = write("right.json", REPORT).toString();
        assertThat(run("merge", right, lost.toString())).isEqualTo(1);
        assertThat(complaint())
                .startsWith("threads-sampler: " + lost + ": not a report of threads-sampler: the file is empty");
        assertThat(printed()).isEmpty();
    }

    @Test
    void nothingSampledIsAnEmptyCollapsedReport() throws Exception {
        String none = write("none.collapsed", "").toString();
        String some = write("some.collapsed", "main;x 7\n").toString();
        assertThat(run("merge", none, some, "--format", "collapsed"))
                .as(complaint())
                .isZero();
        assertThat(printed()).isEqualTo("main;x 7\n");
    }

    @ParameterizedTest
    @ValueSource(strings = {"diff", "merge"})
    void aFileThatIsTooDeepIsNamed(String action) throws Exception {
        String right = write("right.json", REPORT).toString();
        Path deep = write("deep.html", page("{\"a\":".repeat(100_000)));
        assertThat(run(action, right, deep.toString())).isEqualTo(1);
        assertThat(complaint())
                .startsWith("threads-sampler: " + deep + ": not a report of threads-sampler: no JSON at character 161")
                .contains(": more than 32 levels");
        assertThat(printed()).isEmpty();
    }

    /** Numbers that do not fit a long are not rounded. */
    @Test
    void valuesThatAreNotAddedUpStayUnchanged() throws Exception {
        String more = "\"exact\":12345678901234567890,\"share\":0.10,\"none\":null,\"elapsedNanos\"";
        String a = write("a.json", REPORT.replace("\"elapsedNanos\"", more)).toString();
        assertThat(run("merge", a, a, "--format", "json")).as(complaint()).isZero();
        assertThat(printed()).contains(more + ":4000,");
    }

    @Test
    void namesDoNotEndTheScriptOfThePage() throws Exception {
        Path names = write("names.collapsed", "</script>&\u2028\u00e9\ud83d\ude00;<b> 1\n");
        Path page = folder.resolve("names.html");
        assertThat(run("merge", names.toString(), names.toString(), "-o", page.toString()))
                .as(complaint())
                .isZero();
        assertThat(dataOf(page).strip()).matches("[ -~&&[^<>&]]+");
        Object report = JsonParser.parse(dataOf(page));
        assertThat(object(report, "groups", "0").get("name")).isEqualTo("</script>&\u2028\u00e9\ud83d\ude00");
        assertThat(list(report, "frames")).isEqualTo(List.of(Map.of("pseudo", "<b>")));
    }

    @Test
    void timesOfTwoClocksAreNotAddedUp() throws Exception {
        Path wall = write("wall.json", REPORT);
        Path cpu = write("cpu.json", REPORT.replace("\"ownCpuNanos\"", "\"clock\":\"CPU\",\"ownCpuNanos\""));
        assertThat(run("merge", wall.toString(), cpu.toString())).isEqualTo(2);
        assertThat(complaint()).contains("wall-clock times and CPU times cannot be added up");
    }

    @ParameterizedTest
    @CsvSource({"main;y none", "main", "'7'", "main;y -1", "main;y 9223372036854775807"})
    void aLineThatIsNotCollapsedIsNamed(String line) throws Exception {
        Path right = Files.writeString(folder.resolve("right.collapsed"), "main;y 1\n");
        Path wrong = Files.writeString(folder.resolve("wrong.collapsed"), "main;x 1\n" + line + "\n");
        assertThat(run("merge", right.toString(), wrong.toString())).isEqualTo(1);
        assertThat(complaint()).contains(wrong + ", line 2: not the form collapsed, which is STACK AMOUNT");
        assertThat(printed()).isEmpty();
    }
}

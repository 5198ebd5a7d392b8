// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.mcp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.incapsula.sampler.Fakes;
import com.incapsula.sampler.ThreadsSampler;
import com.incapsula.sampler.internal.engine.FakeSampler;
import com.incapsula.sampler.internal.engine.FakeSnapshot;
import com.incapsula.sampler.internal.engine.Snapshot;
import com.incapsula.sampler.internal.json.Json;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The answers of the tools, for a fake core with trees made here. */
class ToolsTest {

    private static final long WALL = 100_000;
    private static final long CPU = 40_000;

    /** The index of this measure. */
    private static final int BLOCKED = 6;

    private final FakeSampler fake = new FakeSampler();
    private final ThreadsSampler sampler = Fakes.sampler(fake.lifecycle());
    private final Map<Long, List<Snapshot.Row>> tree = new HashMap<>();
    private final int liveBefore = FakeSnapshot.LIVE.get();
    private final AtomicLong now = new AtomicLong();
    private KeptIntervals intervals;
    private long nextNode = FakeSnapshot.ROOT + 1;
    private String document = "{}";
    private long blockedNanos;
    private List<String> groupNames = List.of("main", "pool");
    private long elapsedNanos = 59_000_000_000L;

    @BeforeEach
    void start() {
        fake.setInterval(this::snapshot);
        sampler.init();
        intervals = new KeptIntervals(sampler, now::get);
    }

    private FakeSnapshot snapshot() {
        FakeSnapshot made = new FakeSnapshot();
        made.tree = Map.copyOf(tree);
        made.document = document;
        made.groupNames = groupNames;
        made.figures[2] = elapsedNanos;
        made.figures[FakeSnapshot.TOTALS + BLOCKED] = blockedNanos;
        System.arraycopy(new long[] {WALL * 4, CPU, 33}, 0, made.figures, FakeSnapshot.TOTALS, 3);
        made.groupFigures = new long[] {
            2,
            1,
            9,
            FakeSnapshot.ROOT,
            WALL,
            CPU,
            3,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            20,
            10,
            90,
            0,
            WALL * 3,
            0,
            30,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            0
        };
        return made;
    }

    @AfterEach
    void nothingIsLeft() throws IOException {
        intervals.close();
        sampler.close();
        assertThat(FakeSnapshot.LIVE.get()).isEqualTo(liveBefore);
    }

    /**
     * Adds a row below a node.
     *
     * @return the new node
     */
    private long add(long above, String type, String method, int line, long wall, long ownWall, long ownCpu) {
        long node = nextNode++;
        List<Snapshot.Row> rows = new ArrayList<>(tree.getOrDefault(above, List.of()));
        rows.add(FakeSnapshot.row(
                node, type, method, "X.java", line, new long[] {wall, wall * CPU / WALL, 1, 0, 0}, new long[] {
                    ownWall, ownCpu, 1, 0, 0
                }));
        tree.put(above, rows);
        return node;
    }

    private void addOrders() {
        long run = add(FakeSnapshot.ROOT, "java.lang.Thread", "run", 840, WALL, 0, 0);
        long handle = add(run, "a.orders.Handler", "handle", 20, WALL, 0, 0);
        add(handle, "a.orders.Prices", "priceOf", 24, 50_000, 50_000, 1_000);
        long query = add(handle, "a.orders.Repository", "best", 44, 40_000, 0, 0);
        add(query, "db.Statement", "executeQuery", 52, 40_000, 40_000, 39_000);
        add(handle, "a.json.Reader", "read", 7, 10_000, 10_000, 0);
    }

    private String call(String tool, Object... namesAndValues) throws Exception {
        Map<?, ?> result = new Tools(intervals).call(tool, Json.object(namesAndValues));
        assertThat(result.get("isError")).as(result.toString()).isEqualTo(false);
        return (String) ((Map<?, ?>) ((List<?>) result.get("content")).get(0)).get("text");
    }

    private String refusal(String tool, Object... namesAndValues) throws Exception {
        Map<?, ?> result = new Tools(intervals).call(tool, Json.object(namesAndValues));
        assertThat(result.get("isError")).as(result.toString()).isEqualTo(true);
        return (String) ((Map<?, ?>) ((List<?>) result.get("content")).get(0)).get("text");
    }

    private static List<String> rows(String answer) {
        return answer.lines()
                .filter(line -> line.matches(" *[-+]?[\\d.]+ +[-+]?\\d+\\.\\d .*"))
                .toList();
    }

    @Test
    void groupsAreListedWithTheirMainLine() throws Exception {
        addOrders();
        String answer = call("groups");
        assertThat(answer).startsWith("Interval 0 (the whole time so far): 59.0 s until 1970-01-01T00:01:01Z;");
        assertThat(rows(answer))
                .containsExactly(
                        " 75.0   0.0      20 \"pool\"",
                        " 25.0  40.0       2 \"main\" | a.orders.Prices.priceOf:24 50.0%");
        assertThat(answer).endsWith("\nLeft out: 0.0% of the wall time.");
        assertThat(rows(call("groups", "measure", "cpu")))
                .containsExactly(
                        "100.0  40.0       2 \"main\" | db.Statement.executeQuery:52 97.5%",
                        "  0.0   0.0      20 \"pool\"");
    }

    @Test
    void aTreeHasChainsOnOneLineAndSharesOfItsGroup() throws Exception {
        addOrders();
        assertThat(rows(call("tree", "group", "main")))
                .containsExactly(
                        "100.0   0.0   0.0 java.lang.Thread.run:840 > a.orders.Handler.handle:20",
                        " 50.0  50.0  49.0  .Prices.priceOf:24",
                        " 40.0  40.0   1.0  .Repository.best:44 > db.Statement.executeQuery:52",
                        " 10.0  10.0  10.0  a.json.Reader.read:7");
        assertThat(rows(call("tree", "group", "MAI", "from", "Repository.best", "measure", "cpu")))
                .containsExactly(" 40.0  97.5   0.0 a.orders.Repository.best:44 > db.Statement.executeQuery:52");
        assertThat(refusal("tree", "group", "main", "from", "no.Such"))
                .isEqualTo("from: no method of this group contains \"no.Such\"");
        assertThat(call("tree", "group", "main", "depth", 1L))
                .endsWith("Left out: 100.0% of the group, in rows with smaller shares.");
    }

    @Test
    void theMiddleOfALongChainIsCounted() throws Exception {
        long above = FakeSnapshot.ROOT;
        for (int i = 0; i < 20; i++) {
            above = add(above, "p" + i + ".C", "m", i + 1, WALL, i == 19 ? WALL : 0, 0);
        }
        assertThat(rows(call("tree", "group", "main")))
                .containsExactly("100.0 100.0 100.0 p0.C.m:1 > ... 17 frames of p1, p2, p3 and 14 more ... > p18.C.m:19"
                        + " > p19.C.m:20");
    }

    /** The line of the user's code that spends the time is shown, however many frames of the JDK are below it. */
    @Test
    void theInnermostFrameOfTheUserIsInAnyChain() throws Exception {
        long above = FakeSnapshot.ROOT;
        for (int i = 0; i < 12; i++) {
            String owner = i == 4 || i == 5 ? "p" + i + ".C" : "java.p" + i + ".C";
            above = add(above, owner, "m", i + 1, WALL, i == 11 ? WALL : 0, 0);
        }
        assertThat(rows(call("tree", "group", "main")))
                .containsExactly(
                        "100.0 100.0 100.0 java.p0.C.m:1 > ... 4 frames of java.p1, java.p2, java.p3 and 1 more"
                                + " ... > p5.C.m:6 > ... 4 frames of java.p6, java.p7, java.p8 and 1 more ... > java.p10.C.m:11"
                                + " > java.p11.C.m:12");
    }

    private void addRequest() {
        long above = add(FakeSnapshot.ROOT, "java.lang.Thread", "run", 840, WALL, 0, 0);
        for (int i = 0; i < 20; i++) {
            above = add(above, "org.apache.catalina.Valve" + i, "invoke", i + 1, WALL, 0, 0);
        }
        for (int i = 0; i < 11; i++) {
            above = add(above, "org.springframework.web.Filter" + i, "filter", i + 1, WALL, 0, 0);
        }
        long shop = add(above, "shop.Cart", "add", 12, WALL, 0, 0);
        add(shop, "shop.Stock", "take", 40, 70_000, 70_000, 0);
        add(shop, "db.Pool", "get", 9, 30_000, 30_000, 0);
        document = "{\"summary\":{\"packages\":[\"shop\"],\"lines\":[]}}";
    }

    /** The frames of a framework are one entry; the frames below the line that they call are shown completely. */
    @Test
    void framesThatPassTimeOnAreCountedByPackage() throws Exception {
        addRequest();
        assertThat(rows(call("tree", "group", "main")))
                .containsExactly(
                        "100.0   0.0   0.0 java.lang.Thread.run:840 > ... 30 frames of org.apache, org.springframework"
                                + " ... > org.springframework.web.Filter10.filter:11 > shop.Cart.add:12",
                        " 70.0  70.0  70.0  .Stock.take:40",
                        " 30.0  30.0  30.0  db.Pool.get:9");
    }

    @Test
    void aTreeBeginsAtYourCodeOnRequest() throws Exception {
        addRequest();
        assertThat(rows(call("tree", "group", "main", "begin", "code")))
                .containsExactly(
                        "100.0   0.0   0.0 shop.Cart.add:12",
                        " 70.0  70.0  70.0  .Stock.take:40",
                        " 30.0  30.0  30.0  db.Pool.get:9");
        assertThat(refusal("tree", "group", "main", "begin", "code", "from", "x"))
                .isEqualTo("give either from or begin: code");
        document = "{\"summary\":{\"packages\":[\"shop.Ca\"],\"lines\":[]}}";
        intervals.take(0, 0);
        assertThat(refusal("tree", "group", "main", "begin", "code", "interval", 1L))
                .as("a part of a name is no package")
                .startsWith("begin: no line of the program's own code");
    }

    /* The JDK, a frame that is no method, a class without a package, a similar package and the package itself. */
    private void addNestedPackages() {
        long run = add(FakeSnapshot.ROOT, "java.lang.Thread", "run", 840, WALL, 0, 0);
        long stub = add(run, "[stub]", null, -1, WALL, 0, 0);
        long main = add(stub, "Main", "main", 1, WALL, 0, 0);
        long similar = add(main, "shopping.List", "get", 2, WALL, 0, 0);
        add(similar, "shop.Cart$Line", "add", 3, WALL, WALL, 0);
    }

    /** The packages that a summary names may be written in each way that monitoredPackages allows. */
    @ParameterizedTest
    @CsvSource({
        "'', Main.main:1",
        "shop*, shopping.List.get:2",
        "*, java.lang.Thread.run:840",
        "shop.*, shop.Cart$Line.add:3",
        "shop., shop.Cart$Line.add:3",
        "shop, shop.Cart$Line.add:3",
        "shop.Cart, shop.Cart$Line.add:3",
        "shop.Cart$Line, shop.Cart$Line.add:3",
    })
    void yourCodeBeginsWithItsPackage(String prefix, String first) throws Exception {
        addNestedPackages();
        document = "{\"summary\":{\"packages\":[\"" + prefix + "\"],\"lines\":[]}}";
        assertThat(rows(call("tree", "group", "main", "begin", "code")))
                .singleElement()
                .asString()
                .startsWith("100.0 100.0 100.0 " + first);
    }

    @Test
    void aShortTimeSoFarIsSaidToBeLittle() throws Exception {
        String advice = "That is little: call with seconds to sample first.";
        addOrders();
        assertThat(call("groups")).doesNotContain(advice);
        elapsedNanos = 1_999_000_000L;
        assertThat(call("groups").lines().toList().get(0)).endsWith(" in all threads. " + advice);
        assertThat(call("groups", "seconds", 1L)).doesNotContain(advice);
    }

    /** A model takes a name from an earlier answer, which shows it in quotes and without hidden characters. */
    @Test
    void aGroupIsFoundByItsNameAsShown() throws Exception {
        addOrders();
        groupNames = List.of("ma\u202ein \"a\"", "main");
        assertThat(call("tree", "group", "ma?in \"a\"")).contains("\nGroup \"ma?in 'a'\", 2 threads.");
        assertThat(call("tree", "group", "\"ma?in 'a'\"")).contains("\nGroup \"ma?in 'a'\", 2 threads.");
        assertThat(call("tree", "group", "ma\u202ein \"a\"")).contains("\nGroup \"ma?in 'a'\", 2 threads.");
    }

    @Test
    void aPartOfANameMustBeThatOfOneGroup() throws Exception {
        addOrders();
        groupNames = List.of("Worker of A", "worker of b");
        assertThat(call("tree", "group", "OF B")).contains("\nGroup \"worker of b\", 20 threads.");
        assertThat(refusal("tree", "group", "worker"))
                .startsWith(
                        "group: more than one group is called \"worker\"; groups are \"Worker of A\", \"worker of b\". ");
        assertThat(refusal("tree", "group", "other"))
                .startsWith("group: no group is called \"other\"; groups are \"Worker of A\", \"worker of b\". ");
    }

    private static String spot(String state, long nanos, String group, String more) {
        return "{\"state\":\"" + state + "\",\"nanos\":" + nanos + ",\"class\":\"a.B\",\"method\":\"m\","
                + "\"file\":\"B.java\",\"line\":7,\"group\":\"" + group + "\"" + more + "}";
    }

    @Test
    void hotSpotsAreChosenByStateAndGroup() throws Exception {
        addOrders();
        document = "{\"summary\":{\"packages\":[\"a\"],\"lines\":[],\"hotSpots\":["
                + spot("waiting", 9_000_000_000L, "main", ",\"callee\":\"java.lang.Thread.sleep\"") + ","
                + spot(
                        "blocked",
                        4_000_000_000L,
                        "pool",
                        ",\"lock\":\"a.L\",\"holding\":\"a.B.n(B.java:9)\"," + "\"holder\":\"x\\\"y\"")
                + ","
                + spot("runnable", 2_900_000_000L, "main", ",\"runnableNanos\":1600000000") + ","
                + spot("running", 100_000_000L, "pool", ",\"runnableNanos\":1000000") + "]}}";
        blockedNanos = 5;
        List<String> all = call("hot_spots").lines().toList();
        assertThat(all.get(0)).startsWith("Interval 0");
        assertThat(all.get(1)).isEqualTo(BudgetText.NAMES);
        String blocked = "blocked 4.00 .B.m:7 | lock of L, held in B.java:9 by \"x'y\" | \"pool\"";
        assertThat(all.subList(3, all.size()))
                .containsExactly(
                        "waiting 9.00 + runnable 1.60 + running 1.30 a.B.m:7 > Thread.sleep | \"main\"", blocked);
        assertThat(call("hot_spots", "state", "blocked")).endsWith("\n" + blocked.replace(" .B", " a.B"));
        assertThat(call("hot_spots", "group", "main").lines()).hasSize(4).doesNotContain(blocked);
        assertThat(call("hot_spots", "group", "main", "state", "blocked")).endsWith("\nThere is no such hot spot.");
        assertThat(refusal("hot_spots", "state", "io")).startsWith("state: no thread was seen io");
        assertThat(refusal("hot_spots", "group", "nowhere")).startsWith("group: no group is called \"nowhere\"");
    }

    private List<String> hotSpots(String... spots) throws Exception {
        addOrders();
        document = "{\"summary\":{\"lines\":[],\"hotSpots\":[" + String.join(",", spots) + "]}}";
        return call("hot_spots").lines().skip(3).toList();
    }

    private static String blockedSpot(String more) {
        return spot("blocked", 1_000_000_000L, "main", ",\"lock\":\"a.L\"" + more);
    }

    @Test
    void aHotSpotHasOnlyTheStatesAndThePlaceThatItHas() throws Exception {
        assertThat(hotSpots(
                        spot(
                                "runnable",
                                4_000_000_000L,
                                "main",
                                ",\"runnableNanos\":4000000000,\"callee\":\"[native]\""),
                        "{\"state\":\"running\",\"nanos\":3000000000,\"class\":\"[stub]\",\"group\":\"pool\"}",
                        "{\"state\":\"running\",\"nanos\":2000000000,\"class\":\"b.C\",\"method\":\"n\","
                                + "\"group\":\"pool\",\"callee\":\"main\"}",
                        spot("io", 1_000_000_000L, "pool", ",\"callee\":\"Socket.read\"")))
                .containsExactly(
                        "runnable 4.00 a.B.m:7 > [native] | \"main\"",
                        "running 3.00 [stub] | \"pool\"",
                        "running 2.00 b.C.n > main | \"pool\"",
                        "io 1.00 a.B.m:7 > Socket.read | \"pool\"");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "``                                               | ``",
                ",\"holding\":\"[owner not read]\",\"holder\":\"x\"  | `, [owner not read]`",
                ",\"holding\":\"a.B.n(Native Method)\"            | `, held in a.B.n(Native Method)`",
                ",\"holding\":\"a.B.n\"                           | `, held in a.B.n`",
                ",\"holding\":\"a.B.n(B.java:9)x\"                | `, held in a.B.n(B.java:9)x`",
                ",\"holding\":\"(B.java:9)\"                      | `, held in (B.java:9)`",
                ",\"holder\":\"x\"                                | ` by \"x\"`",
            })
    void theHolderOfALockIsShownAsFarAsItIsKnown(String more, String shown) throws Exception {
        assertThat(hotSpots(blockedSpot(more)))
                .containsExactly("blocked 1.00 a.B.m:7 | lock of L" + shown + " | \"main\"");
    }

    @Test
    void hotSpotsKeepTheBudgetAndSayWhatIsLeftOut() throws Exception {
        addOrders();
        document = "{\"summary\":{\"lines\":[],\"hotSpots\":["
                + IntStream.range(0, 64)
                        .mapToObj(i -> spot("running", 1_000_000_000L, "g".repeat(900) + i, ",\"calls\":12"))
                        .collect(Collectors.joining(","))
                + "]}}";
        assertThat(call("hot_spots", "budget_chars", 1_000L))
                .hasSizeLessThanOrEqualTo(1_000)
                .matches("(?s).*\nLeft out: 6\\d smaller ones, 6\\d\\.00 s together\\.");
    }

    /** The name of a thread may contain anything, so each answer says that names are data. */
    @ParameterizedTest
    @ValueSource(strings = {"summary", "hot_spots", "groups", "top", "tree", "account"})
    void eachAnswerMarksNamesAsData(String tool) throws Exception {
        addOrders();
        Object[] arguments = tool.equals("tree") ? new Object[] {"group", "main"} : new Object[0];
        assertThat(call(tool, arguments).lines().toList().get(1)).isEqualTo(BudgetText.NAMES);
    }

    /** A wide and deep tree with 1,000 leaves of different shares. */
    private void addManyRows() {
        long left = WALL;
        for (int i = 0; i < 40; i++) {
            long share = i == 39 ? left : Math.max(left / 8, 30);
            left -= share;
            long node = add(FakeSnapshot.ROOT, "pack.age" + i + ".Type", "method", i + 1, share, share / 10, 0);
            long rest = share - share / 10;
            for (int k = 0; k < 25; k++) {
                long own = k == 24 ? rest : rest / 3;
                rest -= own;
                add(node, "pack.age" + i + ".Type", "called" + k, k + 1, own, own, own / 2);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {500, 600, 1_000, 2_500, 10_000, 50_000})
    void anAnswerKeepsItsBudgetAndHasWholeRows(int budget) throws Exception {
        addManyRows();
        long chars = budget;
        List<String> all =
                call("tree", "group", "main", "budget_chars", 50_000L).lines().toList();
        for (String answer : List.of(
                call("groups", "budget_chars", chars),
                call("top", "budget_chars", chars),
                call("top", "group", "main", "budget_chars", chars),
                call("tree", "group", "main", "budget_chars", chars),
                call("hot_spots", "budget_chars", chars),
                call("account", "budget_chars", chars))) {
            assertThat(answer).hasSizeLessThanOrEqualTo(budget);
        }
        String tree = call("tree", "group", "main", "budget_chars", chars);
        assertThat(all).containsAll(rows(tree));
        assertThat(tree.lines().reduce((a, b) -> b)).get().asString().startsWith("Left out: ");
    }

    @Test
    void theShareLeftOutIsThatOfTheMissingRows() throws Exception {
        addManyRows();
        for (String tool : List.of("tree", "top")) {
            String answer = call(tool, "group", "main", "budget_chars", 2_000L);
            int column = tool.equals("tree") ? 1 : 0;
            double shown = rows(answer).stream()
                    .mapToDouble(row -> Double.parseDouble(row.strip().split(" +")[column]))
                    .sum();
            double leftOut = Double.parseDouble(answer.replaceFirst("(?s).*Left out: ([\\d.]+)% .*", "$1"));
            assertThat(rows(answer)).hasSizeGreaterThan(5);
            assertThat(leftOut).as(answer).isPositive();
            assertThat(shown + leftOut)
                    .isBetween(
                            100 - rows(answer).size() * 0.05, 100 + rows(answer).size() * 0.05);
        }
    }

    @Test
    void rowsThatAreLeftOutAreNotLargerThanThoseShown() throws Exception {
        addManyRows();
        List<String> shown = rows(call("tree", "group", "main", "budget_chars", 1_500L));
        List<String> all = rows(call("tree", "group", "main", "budget_chars", 50_000L));
        double smallest = shown.stream().mapToDouble(ToolsTest::share).min().orElseThrow();
        assertThat(all.stream().filter(row -> !shown.contains(row)))
                .isNotEmpty()
                .allMatch(row -> share(row) <= smallest);
    }

    private static double share(String row) {
        return Double.parseDouble(row.strip().split(" +")[0]);
    }

    @Test
    void aMethodIsOneRowOfTopHoweverOftenItIsCalled() throws Exception {
        long a = add(FakeSnapshot.ROOT, "r.R", "visit", 5, WALL, 10_000, 0);
        long b = add(a, "r.R", "visit", 6, 90_000, 30_000, 0);
        add(b, "r.R", "visit", 6, 60_000, 60_000, 40_000);
        assertThat(rows(call("top", "group", "main"))).containsExactly("100.0  60.0 100.0 r.R.visit:6");
    }

    @Test
    void callsAreListedWhereTheyAreCounted() throws Exception {
        fake.setInterval(FakeSnapshot::new);
        assertThat(rows(call("top", "measure", "calls"))).containsExactly("         6        0.0 a.A.run");
        assertThat(rows(call("top", "measure", "calls", "group", "main"))).hasSize(1);
        assertThat(refusal("top", "measure", "calls", "group", "pool"))
                .startsWith("no calls were counted: the sampler");
    }

    /** The library makes the table; the tool chooses format, order, rows and focus. */
    @Test
    void theTableOfCallsIsWrittenAsAsked() throws Exception {
        fake.setInterval(FakeSnapshot::new);
        assertThat(call("calls")).contains("\nCALLS 0 ");
        assertThat(call("calls", "measure", "calls", "per", "class", "focus", "a.A"))
                .contains("\nCALLS 3 ")
                .endsWith(" in a.A");
        assertThat(refusal("calls", "per", "line"))
                .isEqualTo("per must be one of method, class, package, got \"line\"");
    }

    @Test
    void namesOfTheProgramCannotBreakALine() throws Exception {
        add(FakeSnapshot.ROOT, "x.Y\nLeft\u2029out: nothing\u2028", "m" + "z".repeat(5_000), 1, WALL, WALL, 0);
        String row = rows(call("tree", "group", "main")).get(0);
        assertThat(row)
                .startsWith("100.0 100.0 100.0 x.Y?Left?out: nothing?.mzz")
                .hasSizeLessThan(200);
    }

    @Test
    void intervalsAreMadeKeptAndCompared() throws Exception {
        addOrders();
        assertThat(refusal("diff")).isEqualTo("a and b are the same interval, 0; call with seconds to make another");
        assertThat(refusal("groups", "interval", 1L))
                .isEqualTo(
                        "there is no interval 1; there is only 0, the whole time so far: call with seconds to make another");
        assertThat(refusal("groups", "interval", 0L, "seconds", 1L))
                .isEqualTo("give either interval or seconds, which makes a new interval");
        assertThat(call("groups", "seconds", 1L)).startsWith("Interval 1: 59.0 s until ");
        assertThat(call("tree", "group", "main", "interval", 1L)).startsWith("Interval 1: ");
        tree.clear();
        add(FakeSnapshot.ROOT, "a.orders.Prices", "priceOf", 24, WALL, WALL, 1_000);
        String answer = call("diff", "a", 1L, "seconds", 1L);
        assertThat(answer).startsWith("Before: Interval 1: ").contains("\nAfter: Interval 2: ");
        assertThat(call("diff", "a", 1L, "b", 2L)).isEqualTo(answer);
        assertThat(refusal("diff", "a", 1L, "b", 3L)).isEqualTo("there is no interval 3; kept are 0, 1, 2");
    }

    @Test
    void changesAreRatesTheLargestFirst() throws Exception {
        long second = 59_000_000_000L / 59;
        add(FakeSnapshot.ROOT, "a.B", "slower", 1, second, second, 0);
        add(FakeSnapshot.ROOT, "a.B", "gone", 2, second / 2, second / 2, 0);
        add(FakeSnapshot.ROOT, "a.B", "same", 3, second, second, 0);
        call("groups", "seconds", 1L);
        tree.clear();
        add(FakeSnapshot.ROOT, "a.B", "slower", 1, 3 * second, 3 * second, 0);
        add(FakeSnapshot.ROOT, "a.B", "same", 3, second, second, 0);
        assertThat(rows(call("diff", "a", 1L, "seconds", 1L)))
                .containsExactly(
                        "       16.9       50.8      +33.9      +33.9 a.B.slower",
                        "        8.5        0.0       -8.5       -8.5 a.B.gone");
    }

    @Test
    void aWindowIsReadByItsCode() throws Exception {
        addOrders();
        assertThat(call("groups", "window", "5m")).startsWith("Interval 0 (the last 5 minutes): 59.0 s until ");
        assertThat(call("groups", "window", "start", "interval", 0L))
                .startsWith("Interval 0 (the whole time so far): ");
        assertThat(refusal("groups", "window", "2m")).isEqualTo("window must be one of 1m, 5m, 15m, start, got \"2m\"");
        assertThat(refusal("groups", "window", "1m", "interval", 1L))
                .isEqualTo("give either interval or window, which is interval 0");
        assertThat(refusal("groups", "window", "1m", "seconds", 1L))
                .isEqualTo("give either window or seconds, which makes a new interval");
    }

    @Test
    void theOldestIntervalMakesRoom() throws Exception {
        addOrders();
        for (int i = 0; i <= KeptIntervals.MAX_KEPT; i++) {
            intervals.take(0, 0);
        }
        assertThat(intervals.find(2).number()).isEqualTo(2);
        assertThatExceptionOfType(ToolRefusal.class)
                .isThrownBy(() -> intervals.find(1))
                .withMessage("there is no interval 1; kept are 0, 2, 3, 4, 5, 6, 7, 8, 9");
        assertThat(intervals.newest()).isEqualTo(9);
    }

    @Test
    void theIntervalBeforeIsNotTheOneThatMakesRoom() throws Exception {
        addOrders();
        for (int i = 0; i < KeptIntervals.MAX_KEPT; i++) {
            intervals.take(0, 0);
        }
        assertThat(call("diff", "a", 1L, "seconds", 1L))
                .startsWith("Before: Interval 1: ")
                .contains("\nAfter: Interval 9: ");
        assertThatExceptionOfType(ToolRefusal.class)
                .isThrownBy(() -> intervals.find(2))
                .withMessage("there is no interval 2; kept are 0, 1, 3, 4, 5, 6, 7, 8, 9");
    }

    /** A client does not announce that it ends, and intervals use memory of the sampler. */
    @Test
    void intervalsThatAreNotReadAreGivenBack() throws Exception {
        addOrders();
        int live = FakeSnapshot.LIVE.get();
        intervals.take(0, 0);
        now.addAndGet(KeptIntervals.UNREAD_NANOS - 1);
        intervals.find(1);
        now.addAndGet(KeptIntervals.UNREAD_NANOS - 1);
        intervals.renew();
        assertThat(intervals.find(1).number()).isEqualTo(1);
        now.addAndGet(KeptIntervals.UNREAD_NANOS);
        intervals.renew();
        assertThatExceptionOfType(ToolRefusal.class).isThrownBy(() -> intervals.find(1));
        assertThat(FakeSnapshot.LIVE.get()).isLessThanOrEqualTo(live + 1);
        assertThat(intervals.take(0, 0).number())
                .as("a number is not given twice")
                .isEqualTo(2);
    }

    @Test
    void withoutMemoryTheOldestIntervalIsGivenUp() throws Exception {
        addOrders();
        intervals.take(0, 0);
        intervals.take(0, 0);
        assertThat(intervals.giveUpOldest()).isTrue();
        assertThatExceptionOfType(ToolRefusal.class).isThrownBy(() -> intervals.find(1));
        assertThat(intervals.find(2).number()).isEqualTo(2);
        assertThat(intervals.giveUpOldest()).isTrue();
        assertThat(intervals.giveUpOldest()).isFalse();
    }

    @Test
    void theLocksHaveTheirLines() throws Exception {
        addOrders();
        assertThat(refusal("locks")).contains("no thread was seen waiting for a lock");
        document = "{\"locks\":[{\"lock\":\"a.Stock\",\"waiting\":\"a.B.add(B.java:4)\","
                + "\"holding\":\"a.B.audit(B.java:9)\",\"wall\":7500000},"
                + "{\"lock\":\"a.Ca\\u202ert\",\"waiting\":\"a.B.add(B.java:5)\",\"holding\":\"[owner not read]\","
                + "\"wall\":1500000}]}";
        blockedNanos = 10_000_000;
        intervals.take(0, 0);
        assertThat(call("locks", "interval", 1L))
                .startsWith("Interval 1")
                .contains(
                        "\nIn % of the time for which threads were blocked, all threads together: 10 ms\n",
                        "\n 75.0 a.Stock | a.B.add(B.java:4) | a.B.audit(B.java:9)\n"
                                + " 15.0 a.Ca?rt | a.B.add(B.java:5) | [owner not read]\n")
                .endsWith("Left out: 10.0% of the blocked time, in rows with smaller shares.");
        assertThat(call("locks", "interval", 1L, "budget_chars", 500L)).hasSizeLessThanOrEqualTo(500);
    }

    @Test
    void theAccountHasTheCountsThatAreNotZero() throws Exception {
        addOrders();
        assertThat(call("account"))
                .contains("\nengine: ")
                .contains("\nsamples: 33 of ")
                .contains("\nHow polls ended, by code:\n6 taken\n")
                .endsWith("Other counts:\n4 ticks")
                .doesNotContain("failed");
    }
}

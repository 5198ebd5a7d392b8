// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import static com.incapsula.sampler.testing.Samplers.patiently;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.awaitility.Awaitility.await;

import com.incapsula.sampler.internal.engine.FakeSampler;
import com.incapsula.sampler.internal.engine.FakeSnapshot;
import com.incapsula.sampler.testing.Logged;
import com.incapsula.sampler.testing.Samplers;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The server as a bean and as seen by a well-behaved client, with a fake core. */
@Timeout(Samplers.HANG_SECONDS)
class ThreadsSamplerServerTest {

    private final HttpClient client = HttpClient.newHttpClient();
    private final FakeSampler fake = new FakeSampler();
    private final ThreadsSampler sampler = Fakes.sampler(fake.lifecycle());
    private final ThreadsSamplerServer server = new ThreadsSamplerServer();
    private final int liveBefore = FakeSnapshot.LIVE.get();

    @BeforeEach
    void startSampler() {
        server.setSampler(sampler);
        sampler.init();
    }

    @AfterEach
    void nothingIsLeft() throws IOException {
        server.close();
        sampler.close();
        patiently().untilAsserted(() -> assertThat(FakeSnapshot.LIVE.get()).isEqualTo(liveBefore));
        patiently()
                .untilAsserted(() -> assertThat(Thread.getAllStackTraces().keySet())
                        .extracting(Thread::getName)
                        .noneMatch(name -> name.startsWith("threads-sampler-http")));
    }

    private HttpRequest.Builder request(String path) {
        return HttpRequest.newBuilder(server.getUrl().resolve(path));
    }

    private HttpResponse<String> send(HttpRequest.Builder request) throws Exception {
        return client.send(request.build(), HttpResponse.BodyHandlers.ofString());
    }

    private HttpResponse<String> get(String path) throws Exception {
        return send(request(path));
    }

    // ---- answers ----

    @Test
    void aMeasureLeavesTheSamplersOtherOptionsAlone() throws Exception {
        sampler.setReportCpuTime(true);
        sampler.setReportSummary(false);
        server.init();
        assertThat(get("/top.txt?measure=wall").body())
                .isEqualTo(get("/top.txt").body())
                .isNotEqualTo("TOP 0 " + FakeSnapshot.STANDARD_FLAGS);
    }

    @ParameterizedTest
    @CsvSource({
        "/report.json, application/json, JSON 0 " + FakeSnapshot.STANDARD_FLAGS,
        "/report.txt, text/plain; charset=utf-8, TEXT 0 " + FakeSnapshot.TEXT_FLAGS,
        "/collapsed, text/plain; charset=utf-8, COLLAPSED 0 " + FakeSnapshot.STANDARD_FLAGS,
        "/profile.json, application/json, SPEEDSCOPE 0 " + FakeSnapshot.STANDARD_FLAGS,
        "/top.txt, text/plain; charset=utf-8, TOP 0 " + FakeSnapshot.STANDARD_FLAGS,
        "/calls.txt, text/plain; charset=utf-8, CALLS 0 " + FakeSnapshot.STANDARD_FLAGS,
        "/top.txt?measure=cpu, text/plain; charset=utf-8, TOP 1 " + FakeSnapshot.STANDARD_FLAGS,
        "/collapsed?by=cpu, text/plain; charset=utf-8, COLLAPSED 1 " + FakeSnapshot.STANDARD_FLAGS,
        "/calls.txt?measure=calls&focus=a.B%24C.%3Cinit%3E, text/plain; charset=utf-8, CALLS 3 "
                + FakeSnapshot.STANDARD_FLAGS + " in a.B$C.<init>",
    })
    void everyPathHasItsForm(String path, String type, String body) throws Exception {
        server.init();
        HttpResponse<String> answer = get(path);
        assertThat(answer.statusCode()).isEqualTo(200);
        assertThat(answer.body()).isEqualTo(body);
        assertThat(answer.headers().firstValue("Content-Type")).hasValue(type);
        assertThat(answer.headers().firstValue("Cache-Control")).hasValue("no-store");
        assertThat(answer.headers().firstValue("X-Content-Type-Options")).hasValue("nosniff");
        assertThat(answer.headers().firstValue("Content-Security-Policy"))
                .get()
                .asString()
                .contains("default-src 'none'");
    }

    @Test
    void pageIsLive() throws Exception {
        server.init();
        HttpResponse<String> answer = get("/");
        assertThat(answer.statusCode()).isEqualTo(200);
        assertThat(answer.body())
                .contains("JSON 0 " + FakeSnapshot.STANDARD_FLAGS)
                .contains("connect-src 'self'")
                .contains("<meta name=\"threads-sampler-live\" content=\"report.json\">");
        assertThat(answer.headers().firstValue("Content-Security-Policy")).hasValue("frame-ancestors 'none'");
    }

    @Test
    void profileIsTakenWithACursorOfItsOwn() throws Exception {
        server.init();
        long start = System.nanoTime();
        HttpResponse<byte[]> answer =
                client.send(request("/debug/pprof/profile?seconds=1").build(), HttpResponse.BodyHandlers.ofByteArray());
        assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(TimeUnit.SECONDS.toNanos(1));
        assertThat(answer.headers().firstValue("Content-Type")).hasValue("application/octet-stream");
        try (GZIPInputStream in = new GZIPInputStream(new ByteArrayInputStream(answer.body()))) {
            assertThat(new String(in.readAllBytes(), StandardCharsets.UTF_8))
                    .isEqualTo("PPROF 0 " + FakeSnapshot.STANDARD_FLAGS);
        }
        /* Reader 1 is the sampler's own. */
        await().untilAsserted(
                        () -> assertThat(fake.calls()).containsExactly("start", "takeInterval 2", "closeReader 2"));
    }

    @ParameterizedTest
    @CsvSource({
        "/report.json, 1",
        "/report.json?window=1m, 0",
        "/report.txt?window=5m, 1",
        "/top.txt?window=15m, 2",
        "/collapsed?a=b&window=start, 3",
        "/profile.pb.gz?window=1m, 0"
    })
    void windowIsChosenAndNoReaderIsAffected(String path, int window) throws Exception {
        server.init();
        assertThat(get(path).statusCode()).isEqualTo(200);
        assertThat(fake.calls()).contains("takeWindow " + window).doesNotContain("takeInterval 1");
    }

    @Test
    void unknownWindowIsRefused() throws Exception {
        server.init();
        HttpResponse<String> answer = get("/report.json?window=2m");
        assertThat(answer.statusCode()).isEqualTo(400);
        assertThat(answer.body()).isEqualTo("window must be one of 1m, 5m, 15m, start, got \"2m\"\n");
        assertThat(fake.calls()).doesNotContain("takeWindow 1");
    }

    @Test
    void headHasHeadersOnlyAndCostsNothing() throws Exception {
        server.init();
        HttpResponse<String> answer =
                send(request("/debug/pprof/profile?seconds=50").method("HEAD", HttpRequest.BodyPublishers.noBody()));
        assertThat(answer.statusCode()).isEqualTo(200);
        assertThat(answer.body()).isEmpty();
        assertThat(fake.calls()).containsExactly("start");
    }

    @Test
    void emptyReportIsAnEmptyAnswer() throws Exception {
        fake.setInterval(() -> {
            FakeSnapshot interval = new FakeSnapshot();
            interval.document = "\0";
            return interval;
        });
        server.init();
        assertThat(get("/report.txt").statusCode()).isEqualTo(200);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"/report.json", "/report.txt", "/collapsed", "/profile.json", "/top.txt", "/", "/debug/pprof/"})
    void answersAreCompressedForClientsThatAcceptIt(String path) {
        server.init();
        /* Repeated if the report has grown between the two requests, as it does after a second. */
        await().untilAsserted(() -> assertCompressedForClientsThatAcceptIt(path));
    }

    private void assertCompressedForClientsThatAcceptIt(String path) throws Exception {
        HttpResponse<byte[]> packed = client.send(
                request(path).header("Accept-Encoding", "br, gzip;q=0.8").build(),
                HttpResponse.BodyHandlers.ofByteArray());
        HttpResponse<byte[]> plain = client.send(
                request(path).header("Accept-Encoding", "gzip;q=0").build(), HttpResponse.BodyHandlers.ofByteArray());
        assertThat(packed.headers().firstValue("Content-Encoding")).hasValue("gzip");
        assertThat(packed.headers().firstValue("Vary")).hasValue("Accept-Encoding");
        assertThat(plain.headers().firstValue("Content-Encoding")).isEmpty();
        assertThat(plain.headers().firstValue("Vary")).hasValue("Accept-Encoding");
        try (GZIPInputStream in = new GZIPInputStream(new ByteArrayInputStream(packed.body()))) {
            assertThat(in.readAllBytes()).isEqualTo(plain.body()).isNotEmpty();
        }
    }

    @Test
    void indexLeadsToEverything() throws Exception {
        server.setMaxSeconds(77);
        server.init();
        HttpResponse<String> index = get("/debug/pprof/");
        assertThat(index.statusCode()).isEqualTo(200);
        assertThat(index.headers().firstValue("Content-Type")).hasValue("text/html; charset=utf-8");
        assertHasOurHeaders(index);
        assertThat(index.body()).contains("at most 77");
        Matcher links = Pattern.compile("href=\"([^\"]+)\"").matcher(index.body());
        List<String> paths = new ArrayList<>();
        while (links.find()) {
            URI target = index.uri().resolve(links.group(1));
            paths.add(target.getPath());
            HttpResponse<String> answer =
                    send(HttpRequest.newBuilder(target).method("HEAD", HttpRequest.BodyPublishers.noBody()));
            assertThat(answer.statusCode()).as(target.toString()).isEqualTo(200);
        }
        assertThat(paths)
                .containsExactlyInAnyOrder(
                        "/debug/pprof/profile",
                        "/",
                        "/report.txt",
                        "/calls.txt",
                        "/top.txt",
                        "/collapsed",
                        "/profile.json",
                        "/profile.pb.gz",
                        "/report.json");
        HttpResponse<String> without = get("/debug/pprof");
        assertThat(without.statusCode()).isEqualTo(301);
        assertThat(without.uri()
                        .resolve(without.headers().firstValue("Location").orElseThrow()))
                .isEqualTo(index.uri());
        assertHasOurHeaders(without);
    }

    @Test
    void digitsDoNotDependOnTheLocale() throws Exception {
        Locale before = Locale.getDefault();
        Locale.setDefault(Locale.forLanguageTag("ar-EG-u-nu-arab"));
        try {
            server.init();
            assertThat(get("/debug/pprof/").body()).contains("at most 60");
        } finally {
            Locale.setDefault(before);
        }
    }

    private static void assertHasOurHeaders(HttpResponse<?> answer) {
        assertThat(answer.headers().firstValue("Cache-Control")).hasValue("no-store");
        assertThat(answer.headers().firstValue("X-Content-Type-Options")).hasValue("nosniff");
        assertThat(answer.headers().firstValue("X-Frame-Options")).hasValue("DENY");
        assertThat(answer.headers().firstValue("Referrer-Policy")).hasValue("no-referrer");
        assertThat(answer.headers().firstValue("Content-Security-Policy"))
                .get()
                .asString()
                .contains("default-src 'none'")
                .contains("frame-ancestors 'none'");
    }

    // ---- refusals ----

    private void assertRefused(HttpResponse<String> answer, int status, String words) {
        assertThat(answer.statusCode()).isEqualTo(status);
        assertThat(answer.headers().firstValue("Content-Type")).hasValue("text/plain; charset=utf-8");
        assertHasOurHeaders(answer);
        assertThat(answer.body()).contains(words).doesNotContain("()").endsWith("\n");
    }

    @Test
    void everyRefusalIsOurOwnAndSpeaksOfTheRequest() throws Exception {
        server.setToken("s3cret");
        server.init();
        assertRefused(get("/"), 401, "the request needs a token");
        server.close();
        server.setToken(null);
        server.init();
        assertRefused(get("/nothing"), 404, "nothing is at the path of this request");
        assertRefused(send(request("/").DELETE()), 405, "only requests by GET and HEAD");
        assertRefused(get("/debug/pprof/profile?seconds=0"), 400, "seconds must be between 1 and 60");
        assertRefused(get("/calls.txt?measure=x"), 400, "measure must be one of time, wall, cpu, ");
        assertRefused(get("/collapsed?by=x"), 400, "measure must be one of time, wall, cpu, ");
        assertRefused(get("/calls.txt?per=x"), 400, "per must be one of method, class, package, got \"x\"");
        assertRefused(
                get("/report.txt?by=cpu"),
                400,
                "by does not apply to /report.txt, got \"cpu\"; it applies to /calls.txt, /collapsed, /profile.json,"
                        + " /top.txt");
        assertRefused(get("/top.txt?per=class"), 400, "per does not apply to /top.txt, got \"class\"");
        assertRefused(get("/profile.pb.gz?seconds=3"), 400, "seconds does not apply to /profile.pb.gz, got \"3\"");
        assertRefused(
                get("/debug/pprof/profile?window=1m"),
                400,
                "window does not apply to /debug/pprof/profile, got \"1m\"");
        fake.onInterval(() -> {
            throw new UnsupportedOperationException("secret");
        });
        assertRefused(get("/report.txt"), 500, "the server failed; its log says how");
        fake.onInterval(() -> {
            throw new OutOfMemoryError("smp_alloc()");
        });
        assertRefused(get("/report.txt"), 503, "not enough memory for this report");
        fake.onInterval(() -> {});
        sampler.close();
        assertRefused(get("/report.txt"), 503, "the sampler is not running");
        assertRefused(get("/debug/pprof/profile?seconds=1"), 503, "the sampler is not running");
    }

    @ParameterizedTest
    @ValueSource(strings = {"POST", "PUT", "DELETE", "OPTIONS", "TRACE", "FOO"})
    void otherMethodsAreRefused(String method) throws Exception {
        server.init();
        HttpResponse<String> answer = send(request("/").method(method, HttpRequest.BodyPublishers.ofString("x")));
        assertThat(answer.statusCode()).isEqualTo(405);
        assertThat(answer.headers().firstValue("Allow")).hasValue("GET, HEAD");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/x",
                "/report.json/",
                "/report.json/../../etc/passwd",
                "/%2e%2e/etc/passwd",
                "/debug/",
                "/debug/pprof/profile/",
                "/REPORT.JSON"
            })
    void otherPathsAreRefused(String path) throws Exception {
        server.init();
        HttpResponse<String> answer = get(server.getUrl() + path.substring(1));
        assertThat(answer.statusCode()).isEqualTo(404);
        assertThat(answer.body())
                .startsWith("nothing is at the path of this request; there is /, /report.json")
                .doesNotContain("passwd");
    }

    @ParameterizedTest
    @ValueSource(strings = {"0", "-1", "61", "x", "", "1.5", "99999999999999999999"})
    void secondsOutOfRangeAreRefused(String seconds) throws Exception {
        server.init();
        HttpResponse<String> answer = get("/debug/pprof/profile?seconds=" + seconds);
        assertThat(answer.statusCode()).isEqualTo(400);
        assertThat(answer.body()).isEqualTo("seconds must be between 1 and 60, got \"" + seconds + "\"\n");
    }

    @Test
    void withATokenOnlyRequestsThatHaveItAreAnswered() throws Exception {
        server.setToken("s3cret");
        server.init();
        HttpResponse<String> answer = get("/report.txt");
        assertThat(answer.statusCode()).isEqualTo(401);
        assertThat(answer.headers().firstValue("WWW-Authenticate"))
                .get()
                .asString()
                .startsWith("Basic ");
        assertThat(send(request("/report.txt").header("Authorization", "Bearer wrong"))
                        .statusCode())
                .isEqualTo(401);
        assertThat(send(request("/report.txt").header("Authorization", "Bearer s3cret"))
                        .statusCode())
                .isEqualTo(200);
        String basic = Base64.getEncoder().encodeToString("me:s3cret".getBytes(StandardCharsets.UTF_8));
        assertThat(send(request("/report.txt").header("Authorization", "Basic " + basic))
                        .statusCode())
                .isEqualTo(200);
    }

    @Test
    void oneProfileAtATimeAndReportsMeanwhile() throws Exception {
        HttpResponse<InputStream> first = beginProfile();
        HttpResponse<String> second = get("/debug/pprof/profile?seconds=1");
        assertRefused(second, 429, "a profile for another request is being taken");
        assertThat(second.headers().firstValue("Retry-After")).hasValue("1");
        assertThat(get("/report.txt").statusCode()).isEqualTo(200);
        first.body().close();
        await().until(() -> get("/debug/pprof/profile?seconds=1").statusCode() == 200);
    }

    /* Starts the server, and returns when the headers show that the profile has begun. */
    private HttpResponse<InputStream> beginProfile() throws Exception {
        server.setMaxSeconds(3600);
        server.init();
        HttpResponse<InputStream> profile = client.send(
                request("/debug/pprof/profile?seconds=3600").build(), HttpResponse.BodyHandlers.ofInputStream());
        assertThat(profile.statusCode()).isEqualTo(200);
        return profile;
    }

    @Test
    void oneReportAtATime() throws Exception {
        CountDownLatch inside = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        fake.onInterval(() -> {
            inside.countDown();
            await().until(() -> goOn.getCount() == 0);
        });
        server.init();
        CompletableFuture<HttpResponse<String>> first =
                client.sendAsync(request("/report.txt").build(), HttpResponse.BodyHandlers.ofString());
        inside.await();
        HttpResponse<String> second = get("/top.txt");
        assertRefused(second, 429, "a report for another request is being made");
        assertThat(second.headers().firstValue("Retry-After")).hasValue("2");
        goOn.countDown();
        assertThat(first.get(Samplers.HANG_SECONDS, TimeUnit.SECONDS).statusCode())
                .isEqualTo(200);
    }

    @Test
    void withoutARunningSamplerItSaysSoAndGoesOnWhenThereIsOne() throws Exception {
        server.init();
        sampler.close();
        for (String path : new String[] {"/", "/report.txt", "/debug/pprof/profile?seconds=1"}) {
            HttpResponse<String> answer = get(path);
            assertThat(answer.statusCode()).as(path).isEqualTo(503);
            assertThat(answer.body()).contains("the sampler is not running");
            assertThat(answer.headers().firstValue("Retry-After")).isPresent();
        }
        sampler.init();
        assertThat(get("/report.txt").statusCode()).isEqualTo(200);
    }

    @Test
    void serverMayBeStartedBeforeTheSampler() throws Exception {
        sampler.close();
        server.init();
        sampler.init();
        assertThat(get("/report.txt").statusCode()).isEqualTo(200);
    }

    /** A profile is sent while it is made, so its status cannot change. */
    @Test
    void profileThatBreaksOffIsSeenToBeIncomplete() {
        failInTheMidstOfReports();
        server.init();
        assertThatExceptionOfType(IOException.class).isThrownBy(() -> get("/debug/pprof/profile?seconds=1"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"gzip", "identity"})
    void failureInTheMidstOfAReportHasAStatus(String coding) throws Exception {
        failInTheMidstOfReports();
        server.init();
        HttpResponse<String> answer = send(request("/report.txt").header("Accept-Encoding", coding));
        assertRefused(answer, 503, "there is not enough memory for this report");
        assertThat(answer.headers().firstValue("Content-Encoding")).isEmpty();
    }

    private void failInTheMidstOfReports() {
        fake.setInterval(() -> {
            FakeSnapshot interval = new FakeSnapshot();
            interval.failure = new OutOfMemoryError("no memory");
            return interval;
        });
    }

    @Test
    void failureBeforeTheFirstByteHasAStatus() throws Exception {
        server.init();
        fake.onInterval(() -> {
            throw new OutOfMemoryError("not now");
        });
        assertThat(get("/report.txt").statusCode()).isEqualTo(503);
        fake.onInterval(() -> {
            throw new UnsupportedOperationException("secret");
        });
        HttpResponse<String> answer = get("/report.txt");
        assertThat(answer.statusCode()).isEqualTo(500);
        assertThat(answer.body()).doesNotContain("secret");
        fake.onInterval(() -> {});
        assertThat(get("/report.txt").statusCode()).isEqualTo(200);
    }

    // ---- the bean ----

    @Test
    void startsAndStopsAsOftenAsWanted() throws Exception {
        assertThat(server.getUrl()).isNull();
        server.close();
        for (int i = 0; i < 3; i++) {
            server.init();
            assertThat(server.getUrl().getPort()).isPositive();
            assertThatIllegalStateException()
                    .isThrownBy(server::init)
                    .withMessage("init() was called already; close() has to come first");
            assertThat(get("/top.txt").statusCode()).isEqualTo(200);
            server.close();
            server.close();
            assertThat(server.getUrl()).isNull();
        }
    }

    @Test
    void closeEndsAProfileUnderWay() throws Exception {
        InputStream profile = beginProfile().body();
        CompletableFuture<byte[]> body = CompletableFuture.supplyAsync(() -> {
            try {
                return profile.readAllBytes();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
        assertThat(body).isNotDone();
        server.close();
        assertThat(body).failsWithin(Samplers.LONG);
    }

    @Test
    void noThreadOfItIsSampled() throws Exception {
        Set<Thread> before = Thread.getAllStackTraces().keySet(); // of other servers, which may be ending
        server.init();
        get("/top.txt");
        assertThat(Thread.getAllStackTraces().keySet())
                .filteredOn(thread -> !before.contains(thread))
                .filteredOn(thread -> thread.getName().startsWith("threads-sampler-http"))
                .allMatch(Thread::isDaemon)
                .allMatch(thread -> fake.hiddenGroups().contains(thread.getThreadGroup()))
                .extracting(Thread::getName)
                .contains("threads-sampler-http-front", "threads-sampler-http-watch-1");
    }

    @Test
    void portInUseIsNamed() {
        server.init();
        ThreadsSamplerServer second = new ThreadsSamplerServer();
        second.setSampler(sampler);
        second.setPort(server.getUrl().getPort());
        assertThatExceptionOfType(UncheckedIOException.class)
                .isThrownBy(second::init)
                .withMessage("cannot listen on 127.0.0.1:" + second.getPort() + ": Address already in use");
        assertThat(second.getUrl()).isNull();
    }

    /** The last minutes are kept as soon as there is memory for them. */
    @Test
    void withoutMemoryForWindowsTheServerStartsAllTheSame() throws Exception {
        server.setMcp(true);
        fake.onOpenReader(() -> {
            throw new OutOfMemoryError("no memory");
        });
        server.init();
        assertRefused(get("/report.txt"), 503, "not enough memory for this report");
        fake.onOpenReader(() -> {});
        assertThat(get("/report.txt").body()).isEqualTo("TEXT 0 " + FakeSnapshot.TEXT_FLAGS);
    }

    /** The message is in the log of the library's other messages. */
    @Test
    void aServerThatOtherMachinesCanReadSaysSo() {
        try (Logged log = new Logged()) {
            server.init();
            server.close();
            server.setHost("0.0.0.0");
            server.setToken("secret");
            server.init();
            server.close();
            assertThat(log.messages()).isEmpty();
            server.setToken(null);
            server.init();
            assertThat(log.messages())
                    .containsExactly("WARN other machines can read the sampler without a token, at 0.0.0.0, port "
                            + server.getUrl().getPort());
        }
    }

    @Test
    void ownNamesCanBeAllowed() throws Exception {
        server.setHost("0.0.0.0");
        server.setAllowedHosts(" a.example , b.example,");
        assertThat(server.getAllowedHosts()).isEqualTo("a.example,b.example");
        server.init();
        assertThat(server.getUrl().getHost()).isEqualTo("127.0.0.1");
        assertThat(get("/top.txt").statusCode()).isEqualTo(200);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "monitor.example.com:8080",
                "https://monitor.example.com",
                "monitor.example.com/",
                "*.example.com",
                "a.example b.example",
                "10.0.0.1:8080",
                "[::1]:8080",
                "m\u00f6nitor.example"
            })
    void aNameThatNoRequestCanHaveIsRefused(String name) {
        server.setAllowedHosts("before.example");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> server.setAllowedHosts("a.example," + name))
                .withMessage("allowedHosts must be names without ports, separated by commas, such as"
                        + " monitor.example.com, got \"" + name + "\"");
        assertThat(server.getAllowedHosts()).isEqualTo("before.example");
    }

    @Test
    void addressesAreNamesToo() {
        server.setAllowedHosts("under_score,10.0.0.1,::1,[2001:db8::1]");
        assertThat(server.getAllowedHosts()).isEqualTo("under_score,10.0.0.1,::1,[2001:db8::1]");
    }

    /**
     * The warning is logged where the library logs everything else: users of Logback do not look at the platform's log.
     */
    @Test
    void aServerWithoutATokenThatOthersReachIsAWarningOfTheLibrary() {
        try (Logged log = new Logged()) {
            server.init();
            assertThat(log.messages()).as("on loopback").isEmpty();
            server.close();
            server.setHost("0.0.0.0");
            server.init();
            assertThat(log.messages())
                    .containsExactly("WARN other machines can read the sampler without a token, at 0.0.0.0, port "
                            + server.getUrl().getPort());
            server.close();
            server.setToken("s3cret");
            server.init();
            assertThat(log.messages()).hasSize(1);
        }
    }

    @Test
    void properties() {
        assertThat(server.getSampler()).isSameAs(sampler);
        assertThat(server.getHost()).isEqualTo("127.0.0.1");
        assertThat(server.getPort()).isZero();
        assertThat(server.getToken()).isNull();
        assertThat(server.getAllowedHosts()).isEmpty();
        assertThat(server.getMaxSeconds()).isEqualTo(60);
        server.setToken("");
        assertThat(server.getToken()).isNull();
    }

    @Test
    void wrongValuesAreRefused() {
        assertThatIllegalArgumentException().isThrownBy(() -> server.setSampler(null));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> server.setHost(" "))
                .withMessage("host must not be blank");
        assertThatIllegalArgumentException().isThrownBy(() -> server.setHost(null));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> server.setPort(65_536))
                .withMessage("port must be between 0 and 65535, got 65536");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> server.setToken("a b"))
                .withMessage("token must have visible ASCII characters only");
        assertThatIllegalArgumentException().isThrownBy(() -> server.setAllowedHosts(null));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> server.setMaxSeconds(0))
                .withMessage("maxSeconds must be between 1 and 3600, got 0");
        assertThatIllegalStateException()
                .isThrownBy(new ThreadsSamplerServer()::init)
                .withMessage("sampler must be set before init()");
        server.setHost("no.such.host.invalid");
        assertThatIllegalArgumentException()
                .isThrownBy(server::init)
                .withMessage("host is not known: no.such.host.invalid");
    }
}

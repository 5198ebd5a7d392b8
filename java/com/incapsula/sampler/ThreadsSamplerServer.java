// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import com.incapsula.sampler.internal.options.Values;
import com.incapsula.sampler.internal.report.LibraryLog;
import com.incapsula.sampler.internal.server.LiveServer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.UnknownHostException;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Serves a running sampler by HTTP: a page for browsers, and reports for tools.
 *
 * <pre>{@code
 * ThreadsSamplerServer server = new ThreadsSamplerServer();
 * server.setSampler(sampler);
 * server.setPort(7070);
 * server.init();      // http://127.0.0.1:7070/
 * }</pre>
 *
 * <table>
 * <caption>Paths</caption>
 * <tr><th>path</th><th>answer</th></tr>
 * <tr><td>{@code /}</td><td>a page with the last minutes, which keeps itself up to date</td></tr>
 * <tr><td>{@code /report.json}</td><td>{@link ReportFormat#JSON}</td></tr>
 * <tr><td>{@code /report.txt}</td><td>{@link ReportFormat#TEXT}</td></tr>
 * <tr><td>{@code /collapsed}</td><td>{@link ReportFormat#COLLAPSED}</td></tr>
 * <tr><td>{@code /profile.json}</td><td>{@link ReportFormat#SPEEDSCOPE}</td></tr>
 * <tr><td>{@code /top.txt}</td><td>{@link ReportFormat#TOP}</td></tr>
 * <tr><td>{@code /calls.txt}</td><td>{@link ReportFormat#CALLS}; {@code ?measure=calls}, {@code per=class} or {@code
 * package}, {@code focus=com.acme.Shop.checkout}</td></tr>
 * <tr><td>{@code /profile.pb.gz}</td><td>{@link ReportFormat#PPROF}</td></tr>
 * <tr><td>{@code /debug/pprof/}</td><td>a page with links to all of these</td></tr>
 * <tr><td>{@code /debug/pprof/profile?seconds=N}</td><td>a profile of the next N seconds, by default 30:
 * {@code go tool pprof http://127.0.0.1:7070/debug/pprof/profile?seconds=5}</td></tr>
 * <tr><td>{@code /mcp}, with {@link #setMcp}</td><td>the Model Context Protocol, for language models; by POST</td></tr>
 * </table>
 *
 * <p>All reports but the last two show the last 5 minutes; {@code ?window=1m}, {@code 5m}, {@code 15m} or {@code start}
 * chooses another {@link RecentWindow}. {@code ?measure=cpu}, or {@code ?by=cpu}, chooses the measure of
 * {@code /collapsed}, {@code /profile.json}, {@code /top.txt} and {@code /calls.txt}. A bad value, or a parameter that
 * does not apply to the path, gets status 400 with the name, the value and the range. The sampler's own reports and
 * other readers are unaffected.
 *
 * <p>Safety: the server listens on the loopback address unless {@link #setHost} names another. It answers only GET and
 * HEAD (only POST at {@code /mcp}), and only requests whose {@code Host} is one of its own names, so that no page in a
 * browser can read it under another name. It refuses requests that a browser marks as part of a page of another site.
 * With a token, a request needs {@code Authorization: Bearer TOKEN}, or {@code Basic} with the token as password, which
 * browsers and {@code go tool pprof http://any:TOKEN@host/...} can send. There is no encryption: use a proxy in front
 * of the server if it listens on another address than loopback.
 *
 * <p>A client has five seconds to send its request. At most 64 connections wait for their requests; a further one
 * closes the oldest of them. At most 20 requests are being answered; a further one is closed. Silent or slow clients
 * block no thread that other clients need.
 *
 * <p>Only one profile and one report are produced at a time; other requests get status 429 with {@code Retry-After}. A
 * client that closes its connection ends its profile. Reports for slow clients wait in memory, at most 32 MiB in all,
 * or a sixteenth of the heap if that is less. While the sampler does not run, the answer is 503. Answers are compressed
 * by gzip if {@code Accept-Encoding} allows it; profiles are always compressed.
 *
 * <p>Threads: any. The server's threads are daemons and are not sampled; at most four of them answer requests.
 * {@link #init()} reads the properties; setting one while the server runs has no effect until the next {@code init()}.
 * Closing the server does not close the sampler, nor does closing the sampler close the server.
 *
 * @since 1.0
 */
public class ThreadsSamplerServer implements AutoCloseable {

    private static final int MAX_PORT = 65_535;
    private static final int MAX_SECONDS_LIMIT = 3_600;
    private static final int STANDARD_MAX_SECONDS = 60;

    /* As clients send them. An IPv6 address has at least two colons, a name with a port has one. */
    private static final Pattern HOST_NAME =
            Pattern.compile("[A-Za-z0-9._-]+|\\[[0-9A-Fa-f:.]+]|[0-9A-Fa-f.]*(:[0-9A-Fa-f.]*){2,}");

    private @Nullable ThreadsSampler sampler;
    private String host = "127.0.0.1";
    private int port;
    private @Nullable String token;
    private String allowedHosts = "";
    private int maxSeconds = STANDARD_MAX_SECONDS;
    private boolean mcp;
    private @Nullable LiveServer running;

    /** Creates a server that is not started. */
    public ThreadsSamplerServer() {}

    /**
     * Starts listening. The sampler need not run yet.
     *
     * @throws IllegalStateException if no sampler was set, or the server was started and not closed
     * @throws IllegalArgumentException if the host is not known
     * @throws java.io.UncheckedIOException if the server cannot listen there, with the reason
     */
    public synchronized void init() {
        if (running != null) {
            throw new IllegalStateException("init() was called already; close() has to come first");
        }
        ThreadsSampler shown = sampler;
        if (shown == null) {
            throw new IllegalStateException("sampler must be set before init()");
        }
        InetAddress address = address();
        running = new LiveServer(plan(shown, address), shown.lifecycle());
        if (token == null && !address.isLoopbackAddress()) {
            LibraryLog.log(
                    System.Logger.Level.WARNING,
                    "other machines can read the sampler without a token, at " + host + ", port "
                            + running.address().getPort(),
                    null);
        }
    }

    private InetAddress address() {
        try {
            return InetAddress.getByName(host);
        } catch (UnknownHostException e) {
            throw new IllegalArgumentException("host is not known: " + host, e);
        }
    }

    private LiveServer.Plan plan(ThreadsSampler of, InetAddress address) {
        return new LiveServer.Plan(
                of, new InetSocketAddress(address, port), host, names(allowedHosts), token, maxSeconds, mcp);
    }

    private static List<String> names(String list) {
        return Arrays.stream(list.split(","))
                .map(String::strip)
                .filter(name -> !name.isEmpty())
                .toList();
    }

    /**
     * Stops listening and closes all connections. Does nothing before {@link #init()} and the second time. The server
     * may be started again.
     */
    @Override
    public synchronized void close() {
        if (running != null) {
            running.close();
            running = null;
        }
    }

    /**
     * {@return the address of the page, {@code http://address:port/} with the port in use; null while the server is not
     * started} If the server listens on all addresses, it is the loopback address.
     */
    public synchronized @Nullable URI getUrl() {
        if (running == null) {
            return null;
        }
        InetSocketAddress at = running.address();
        String name = at.getAddress().isAnyLocalAddress()
                ? "127.0.0.1"
                : at.getAddress().getHostAddress();
        return URI.create("http://" + (name.contains(":") ? "[" + name + "]" : name) + ":" + at.getPort() + "/");
    }

    /**
     * Sets the sampler to show.
     *
     * @param sampler the sampler
     * @throws IllegalArgumentException if it is null
     */
    public synchronized void setSampler(ThreadsSampler sampler) {
        this.sampler = Values.notNull("sampler", sampler);
    }

    /** {@return the sampler that is shown, or null if none was set} */
    public synchronized @Nullable ThreadsSampler getSampler() {
        return sampler;
    }

    /**
     * Sets the name or address to listen on. Default {@code 127.0.0.1}: this machine only. {@code 0.0.0.0}: all
     * addresses.
     *
     * @param host a name or an address
     * @throws IllegalArgumentException if it is null or blank
     */
    public synchronized void setHost(String host) {
        this.host = Values.notBlank("host", host).strip();
    }

    /** {@return the name or address to listen on, as it was set} */
    public synchronized String getHost() {
        return host;
    }

    /**
     * Sets the port to listen on. Default 0: any free port, see {@link #getUrl()}.
     *
     * @param port 0 to 65,535
     * @throws IllegalArgumentException if it is out of range
     */
    public synchronized void setPort(int port) {
        this.port = (int) Values.between("port", port, 0, MAX_PORT);
    }

    /** {@return the port to listen on, as it was set} */
    public synchronized int getPort() {
        return port;
    }

    /**
     * Sets the password that every request needs. Default: null, none.
     *
     * @param token visible ASCII characters; null or empty: none
     * @throws IllegalArgumentException if it has other characters; the message does not show it
     */
    public synchronized void setToken(@Nullable String token) {
        if (token != null && !token.chars().allMatch(c -> c > ' ' && c < 0x7f)) {
            throw new IllegalArgumentException("token must have visible ASCII characters only");
        }
        this.token = token == null || token.isEmpty() ? null : token;
    }

    /** {@return the password that every request needs, or null} */
    public synchronized @Nullable String getToken() {
        return token;
    }

    /**
     * Sets further names of the server, besides its address and, on the loopback address, localhost: the names that a
     * proxy in front of it sends as {@code Host}. The server refuses requests to other names. Default: none.
     *
     * @param allowedHosts names without ports, separated by commas; blanks around them are ignored
     * @throws IllegalArgumentException if it is null, or a part cannot be the name in a request, for example because it
     *     has a port, a scheme or an asterisk
     */
    public synchronized void setAllowedHosts(String allowedHosts) {
        List<String> names = names(Values.notNull("allowedHosts", allowedHosts));
        for (String name : names) {
            if (!HOST_NAME.matcher(name).matches()) {
                throw new IllegalArgumentException("allowedHosts must be names without ports, separated by commas,"
                        + " such as monitor.example.com, got \"" + name + "\"");
            }
        }
        this.allowedHosts = String.join(",", names);
    }

    /** {@return the further names of the server, separated by commas, without blanks} */
    public synchronized String getAllowedHosts() {
        return allowedHosts;
    }

    /**
     * Sets the longest profile that a client may request, in seconds. Default 60.
     *
     * @param maxSeconds 1 to 3,600
     * @throws IllegalArgumentException if it is out of range
     */
    public synchronized void setMaxSeconds(int maxSeconds) {
        this.maxSeconds = (int) Values.between("maxSeconds", maxSeconds, 1, MAX_SECONDS_LIMIT);
    }

    /** {@return the longest profile that a client may request, in seconds} */
    public synchronized int getMaxSeconds() {
        return maxSeconds;
    }

    /**
     * Sets whether language models may read the sampler, by the Model Context Protocol at {@code /mcp} (streamable
     * HTTP, each answer in one piece). Its tools change nothing, and have intervals of their own. Token and names of
     * the server apply as for the page, and requests of other sites' pages are refused. The model sees names of
     * threads, classes and methods. Default: false.
     *
     * @param mcp true for the path
     */
    public synchronized void setMcp(boolean mcp) {
        this.mcp = mcp;
    }

    /** {@return true if language models may read the sampler, at the path {@code /mcp}} */
    public synchronized boolean isMcp() {
        return mcp;
    }
}

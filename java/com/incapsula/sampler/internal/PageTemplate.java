// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.regex.Pattern;

/**
 * The page that shows a report in a browser: a head, then the report as JSON, then a tail.
 *
 * <p>The JSON is what {@code JSON} reports are, or <code>{"before": report, "after": report}</code> for what
 * changed between two. It stands inside a {@code <script>} element, so it must write each {@code <} as an escape.
 * Immutable; for any thread.
 */
public final class PageTemplate {
    private static final String RESOURCE = "/META-INF/threads-sampler/page.html";
    private static final String REPORT = "@@THREADS_SAMPLER_REPORT@@";
    private static final String LIVE = "<!--@@THREADS_SAMPLER_LIVE@@-->";
    private static final String NO_NETWORK = "connect-src 'none'";
    private static final String OWN_SERVER = "connect-src 'self'";
    private static final Pattern PLAIN_URL = Pattern.compile("[A-Za-z0-9._~/?=&%-]+");

    private final String head;
    private final String tail;

    private PageTemplate(String head, String tail) {
        this.head = head;
        this.tail = tail;
    }

    /**
     * Reads the page from the jar.
     *
     * @return the page that never uses the network
     * @throws IOException the jar is damaged
     */
    public static PageTemplate load() throws IOException {
        try (InputStream in = PageTemplate.class.getResourceAsStream(RESOURCE)) {
            if (in == null) {
                throw new IOException("no resource " + RESOURCE + " beside " + PageTemplate.class.getName());
            }
            String page = new String(in.readAllBytes(), StandardCharsets.UTF_8);
            int at = page.indexOf(REPORT);
            if (at < 0 || !page.contains(LIVE) || !page.contains(NO_NETWORK)) {
                throw new IOException("the resource " + RESOURCE + " lacks a marker");
            }
            return new PageTemplate(page.substring(0, at), page.substring(at + REPORT.length()));
        }
    }

    /**
     * The page for a server: it fetches the report anew every few seconds, from where it came and from nowhere else.
     *
     * @param url     of the JSON, relative to the page; letters, digits and {@code . _ ~ / ? = & % -}
     * @param seconds between two fetches, at least 1
     * @return another template
     * @throws IllegalArgumentException for another URL, or less than a second
     */
    public PageTemplate live(String url, int seconds) {
        if (!PLAIN_URL.matcher(url).matches()) {
            throw new IllegalArgumentException("url must be plain: " + url);
        }
        if (seconds < 1) {
            throw new IllegalArgumentException("seconds must be at least 1: " + seconds);
        }
        String meta = "<meta name=\"threads-sampler-live\" content=\"" + url.replace("&", "&amp;")
                + "\" data-seconds=\"" + seconds + "\">";
        return new PageTemplate(head.replace(NO_NETWORK, OWN_SERVER).replace(LIVE, meta), tail);
    }

    /**
     * What comes before the report.
     *
     * @return UTF-8, the caller's own
     */
    public byte[] head() {
        return head.getBytes(StandardCharsets.UTF_8);
    }

    /**
     * What comes after the report.
     *
     * @return UTF-8, the caller's own
     */
    public byte[] tail() {
        return tail.getBytes(StandardCharsets.UTF_8);
    }
}

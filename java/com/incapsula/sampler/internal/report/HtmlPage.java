// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.report;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;

/**
 * The page around a JSON document: a resource of the jar with a marker for the document, inside a script element of a
 * type that browsers do not run. The page's own content security policy forbids all network; the policy of a live page
 * allows the server it came from.
 *
 * <p>Threads: any.
 */
public final class HtmlPage {

    static final String RESOURCE = "/META-INF/threads-sampler/page.html";
    static final String MARKER = "@@THREADS-SAMPLER-DATA@@";
    static final String LIVE = "<meta name=\"threads-sampler-live\" content=\"\">";
    static final String NO_NETWORK = "connect-src 'none'";

    private static final String OWN_SERVER = "connect-src 'self'";
    private static final String DATA_NAME = "report.json";

    private final byte[] head;
    private final byte[] liveHead;
    private final byte[] tail;

    /** Loads the page when the first one is written. */
    private static final class Loaded {
        static final HtmlPage PAGE = new HtmlPage(read());

        private static String read() {
            try (InputStream in = HtmlPage.class.getResourceAsStream(RESOURCE)) {
                if (in == null) {
                    throw new IllegalStateException("the library is incomplete: its jar has no " + RESOURCE);
                }
                return new String(in.readAllBytes(), StandardCharsets.UTF_8);
            } catch (IOException e) {
                throw new UncheckedIOException("cannot read " + RESOURCE, e);
            }
        }
    }

    HtmlPage(String template) {
        requireOnce(template, MARKER);
        requireOnce(template, LIVE);
        requireOnce(template, NO_NETWORK);
        int at = template.indexOf(MARKER);
        String before = template.substring(0, at);
        head = bytes(before);
        liveHead = bytes(
                before.replace(NO_NETWORK, OWN_SERVER).replace(LIVE, LIVE.replace("\"\"", "\"" + DATA_NAME + "\"")));
        tail = bytes(template.substring(at + MARKER.length()));
    }

    private static void requireOnce(String template, String part) {
        int at = template.indexOf(part);
        if (at < 0 || template.indexOf(part, at + 1) >= 0) {
            throw new IllegalStateException(RESOURCE + " must have " + part + " exactly once");
        }
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    /**
     * Writes a page that does not change.
     *
     * @param out the stream
     * @param data a JSON document in which {@code <} is escaped
     * @throws IOException if the stream throws it
     */
    public static void write(OutputStream out, Content data) throws IOException {
        Loaded.PAGE.write(out, data, false);
    }

    /**
     * Writes a page that fetches its data anew from time to time, from {@code report.json} beside it.
     *
     * @param out the stream
     * @param data the first data
     * @throws IOException if the stream throws it
     */
    public static void writeLive(OutputStream out, Content data) throws IOException {
        Loaded.PAGE.write(out, data, true);
    }

    void write(OutputStream out, Content data, boolean live) throws IOException {
        out.write(live ? liveHead : head);
        data.writeTo(out);
        out.write(tail);
    }
}

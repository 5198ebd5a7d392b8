// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.report;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;

/**
 * The page around a JSON document: two files of the jar, with the document between them, in a script element of a type
 * that browsers do not run. The page's own content security policy forbids all network; the policy of a live page
 * allows its own server.
 *
 * <p>Threads: any.
 */
public final class HtmlPage {

    static final String HEAD = "/META-INF/threads-sampler/page.html";
    static final String TAIL = "/META-INF/threads-sampler/page-end.html";
    static final String LIVE = "<meta name=\"threads-sampler-live\" content=\"\">";
    static final String NO_NETWORK = "connect-src 'none'";

    private static final String OWN_SERVER = "connect-src 'self'";
    private static final String DATA_NAME = "report.json";

    private HtmlPage() {}

    /** Loads the page at its first use. */
    private static final class Loaded {
        static final byte[] HEAD = read(HtmlPage.HEAD);
        static final byte[] TAIL = read(HtmlPage.TAIL);
    }

    /** Loads the live page at its first use. */
    private static final class Live {
        static final byte[] HEAD = headOf(new String(Loaded.HEAD, StandardCharsets.UTF_8));
    }

    static byte[] headOf(String head) {
        requireOnce(head, LIVE);
        requireOnce(head, NO_NETWORK);
        return head.replace(NO_NETWORK, OWN_SERVER)
                .replace(LIVE, LIVE.replace("\"\"", "\"" + DATA_NAME + "\""))
                .getBytes(StandardCharsets.UTF_8);
    }

    private static void requireOnce(String head, String part) {
        int at = head.indexOf(part);
        if (at < 0 || head.indexOf(part, at + 1) >= 0) {
            throw new IllegalStateException(HEAD + " must have " + part + " exactly once");
        }
    }

    private static byte[] read(String name) {
        try {
            Resource found = Resource.find(name);
            if (found == null) {
                throw new IllegalStateException("the library is incomplete: its jar has no " + name);
            }
            return found.read();
        } catch (IOException e) {
            throw new UncheckedIOException("cannot read " + name, e);
        }
    }

    /** Writes a page with fixed data, a JSON document in which {@code <} is escaped. */
    public static void write(OutputStream out, Writable data) throws IOException {
        write(Loaded.HEAD, data, out);
    }

    /** Writes a page that regularly fetches new data from {@code report.json} in the same folder. */
    public static void writeLive(OutputStream out, Writable data) throws IOException {
        write(Live.HEAD, data, out);
    }

    private static void write(byte[] head, Writable data, OutputStream out) throws IOException {
        out.write(head);
        data.writeTo(out);
        out.write(Loaded.TAIL);
    }
}

// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The page around a JSON document: a resource of the jar with a marker where the document goes, inside a script
 * element of a type that is not run.
 *
 * <p>Threads: any.
 */
public final class HtmlPage {

    static final String RESOURCE = "/META-INF/threads-sampler/page.html";
    static final String MARKER = "@@THREADS-SAMPLER-DATA@@";

    /** An empty element that a live page has with content: where its data is to be fetched from. */
    static final String LIVE = "<meta name=\"threads-sampler-live\" content=\"\">";

    private static final Pattern SCRIPT = Pattern.compile("<script>(.*?)</script>", Pattern.DOTALL);

    private final String before;
    private final String after;

    /** Loaded when the first page is written. */
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
        int at = template.indexOf(MARKER);
        if (at < 0 || template.indexOf(MARKER, at + 1) >= 0) {
            throw new IllegalStateException(RESOURCE + " must have " + MARKER + " exactly once");
        }
        before = template.substring(0, at);
        after = template.substring(at + MARKER.length());
    }

    /**
     * Writes a page that stays as it is.
     *
     * @param out where to
     * @param data a JSON document in which {@code <} is escaped
     * @throws IOException what the stream throws
     */
    public static void write(OutputStream out, Content data) throws IOException {
        Loaded.PAGE.write(out, data, null);
    }

    /**
     * Writes a page that fetches its data anew from time to time.
     *
     * @param out where to
     * @param data the data of now
     * @param source where it is fetched from: a relative address without characters special in HTML
     * @throws IOException what the stream throws
     */
    public static void writeLive(OutputStream out, Content data, String source) throws IOException {
        Loaded.PAGE.write(out, data, source);
    }

    /**
     * What the page runs.
     *
     * @return for a content security policy: {@code 'sha256-...'} for each script in the page, separated by blanks
     */
    public static String scriptHashes() {
        return Loaded.PAGE.hashes();
    }

    void write(OutputStream out, Content data, String source) throws IOException {
        String head = source == null ? before : before.replace(LIVE, LIVE.replace("\"\"", "\"" + source + "\""));
        out.write(head.getBytes(StandardCharsets.UTF_8));
        data.writeTo(out);
        out.write(after.getBytes(StandardCharsets.UTF_8));
    }

    String hashes() {
        Set<String> hashes = new LinkedHashSet<>();
        Matcher script = SCRIPT.matcher(before + after);
        while (script.find()) {
            hashes.add("'sha256-" + Base64.getEncoder().encodeToString(sha256(script.group(1))) + "'");
        }
        return String.join(" ", hashes);
    }

    private static byte[] sha256(String text) {
        try {
            return MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
        } catch (NoSuchAlgorithmException everyJvmHasIt) {
            throw new IllegalStateException(everyJvmHasIt);
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.server;

import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * One request and its answer (RFC 9112, HTTP/1.1 and 1.0). The connection is closed afterwards.
 *
 * <p>Threads: one. An interrupt closes the connection.
 */
final class HttpExchange {

    private static final Pattern REQUEST = Pattern.compile("([!-~]+) ([!-~]+) HTTP/1\\.([0-9])");
    private static final Pattern HEADER =
            Pattern.compile("([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \\t]*([^\\x00-\\x08\\x0a-\\x1f\\x7f]*)");
    private static final Pattern LENGTH = Pattern.compile("\\d{1,18}");
    private static final Pattern CHUNK = Pattern.compile("([0-9A-Fa-f]{1,8})[ \\t]*(;.*)?");
    private static final int CHUNK_BYTES = 16 * 1024;
    private static final int MAX_LINE = 1024; // of a chunk
    private static final int HEX = 16;

    private final SocketChannel channel;
    private final ByteBuffer received;
    private final HttpHeaders request = new HttpHeaders();
    private final HttpHeaders response = new HttpHeaders();
    private String method = "";
    private URI uri = URI.create("");
    private boolean isOld; // HTTP/1.0
    private @Nullable OutputStream body;

    /**
     * Creates an exchange whose request is not read yet.
     *
     * @param received the bytes of the request that have been received
     */
    HttpExchange(SocketChannel channel, ByteBuffer received) {
        this.channel = channel;
        this.received = received;
    }

    /** @return the number of bytes up to and including the blank line; -1 if there is none yet */
    static int endOfHead(byte[] bytes, int length) {
        for (int i = 0; i + 1 < length; i++) {
            int next = bytes[i + 1] == '\r' && i + 2 < length ? i + 2 : i + 1;
            if (bytes[i] == '\n' && bytes[next] == '\n') {
                return next + 1;
            }
        }
        return -1;
    }

    /** Reads the headers. Must be the first call. */
    void readHead() throws Refusal {
        byte[] bytes = new byte[received.limit()];
        received.get(0, bytes);
        int end = endOfHead(bytes, bytes.length);
        if (end < 0) {
            throw new Refusal(431, "a request has at most " + HttpFront.MAX_HEAD_BYTES + " bytes of headers");
        }
        String[] lines = new String(bytes, 0, end, StandardCharsets.ISO_8859_1).split("\r?\n");
        received.position(end);
        if (lines.length == 0) {
            throw unreadable();
        }
        readRequestLine(lines[0]);
        for (int i = 1; i < lines.length; i++) {
            Matcher header = HEADER.matcher(lines[i]);
            if (!header.matches()) {
                throw unreadable();
            }
            request.add(header.group(1), header.group(2).stripTrailing());
        }
        checkLength();
    }

    private void readRequestLine(String line) throws Refusal {
        Matcher parts = REQUEST.matcher(line);
        if (!parts.matches()) {
            throw unreadable();
        }
        method = parts.group(1);
        isOld = parts.group(3).equals("0");
        try {
            uri = new URI(parts.group(2));
        } catch (URISyntaxException e) {
            throw unreadable();
        }
    }

    private void checkLength() throws Refusal {
        List<String> lengths = request.get("Content-Length");
        String coding = request.getFirst("Transfer-Encoding");
        if (lengths != null
                && (lengths.size() > 1 || !LENGTH.matcher(lengths.get(0)).matches())) {
            throw unreadable();
        }
        if (coding != null && (lengths != null || !coding.equalsIgnoreCase("chunked"))) {
            throw unreadable();
        }
    }

    private static Refusal unreadable() {
        return new Refusal(400, "the request cannot be read");
    }

    /** @return the method; empty, like all other parts, if the request could not be read */
    String getRequestMethod() {
        return method;
    }

    URI getRequestURI() {
        return uri;
    }

    HttpHeaders getRequestHeaders() {
        return request;
    }

    /** @return the headers of the answer, which may be changed until they are sent */
    HttpHeaders getResponseHeaders() {
        return response;
    }

    /** {@return the request's body, or its first bytes up to this limit} */
    byte[] readBody(int maxBytes) throws IOException {
        if ("100-continue".equalsIgnoreCase(request.getFirst("Expect")) && !received.hasRemaining()) {
            write(ascii("HTTP/1.1 100 Continue\r\n\r\n"));
        }
        InputStream in = new Received();
        String length = request.getFirst("Content-Length");
        if (request.getFirst("Transfer-Encoding") != null) {
            return readChunks(in, maxBytes);
        }
        int bytes = length == null ? 0 : (int) Math.min(Long.parseLong(length), maxBytes);
        byte[] read = in.readNBytes(bytes);
        if (read.length < bytes) {
            throw new EOFException("the client has closed the connection");
        }
        return read;
    }

    private static byte[] readChunks(InputStream in, int maxBytes) throws IOException {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        while (all.size() < maxBytes) {
            Matcher size = CHUNK.matcher(readLine(in));
            long bytes = size.matches() ? Long.parseLong(size.group(1), HEX) : -1;
            if (bytes <= 0) {
                if (bytes < 0) {
                    throw new IOException("the client sends no chunks");
                }
                break; // trailing headers are ignored
            }
            byte[] chunk = in.readNBytes((int) Math.min(bytes, maxBytes - all.size()));
            all.writeBytes(chunk);
            if (chunk.length < bytes) {
                break;
            }
            readLine(in);
        }
        return all.toByteArray();
    }

    private static String readLine(InputStream in) throws IOException {
        StringBuilder line = new StringBuilder();
        for (int c = in.read(); c != '\n'; c = in.read()) {
            if (c < 0 || line.length() == MAX_LINE) {
                throw new EOFException("the client has closed the connection");
            }
            line.append((char) c);
        }
        return line.toString().stripTrailing();
    }

    /** Reads the received bytes, then from the connection. */
    private final class Received extends InputStream {

        @Override
        public int read() throws IOException {
            return fill() ? received.get() & 0xff : -1;
        }

        @Override
        public int read(byte[] bytes, int offset, int length) throws IOException {
            if (length == 0) {
                return 0;
            }
            if (!fill()) {
                return -1;
            }
            int count = Math.min(length, received.remaining());
            received.get(bytes, offset, count);
            return count;
        }

        private boolean fill() throws IOException {
            if (received.hasRemaining()) {
                return true;
            }
            received.clear();
            int count = channel.read(received);
            received.flip();
            return count > 0;
        }
    }

    /** Sends the status and the headers. The length is that of the body; 0: not known; -1: no body. */
    void sendResponseHeaders(int status, long length) throws IOException {
        boolean isHead = method.equals("HEAD");
        response.set("Date", DateTimeFormatter.RFC_1123_DATE_TIME.format(ZonedDateTime.now(ZoneOffset.UTC)));
        response.set("Connection", "close");
        boolean isChunked = length == 0 && !isOld;
        if (isChunked) {
            response.set("Transfer-Encoding", "chunked");
        } else if (length != 0 && !isHead) {
            response.set("Content-Length", Long.toString(Math.max(length, 0)));
        }
        StringBuilder head = new StringBuilder("HTTP/1.1 " + status + " " + phrase(status) + "\r\n");
        response.forEach(
                (name, value) -> head.append(name).append(": ").append(value).append("\r\n"));
        write(ascii(head.append("\r\n").toString()));
        body = new Body(isChunked);
    }

    /**
     * Sends an answer in one piece.
     *
     * @param type of the body
     * @param body null: the answer has no body; not sent for HEAD
     */
    void answer(int status, String type, byte @Nullable [] body) throws IOException {
        if (body != null) {
            response.set("Content-Type", type);
        }
        if (body == null || method.equals("HEAD")) {
            sendResponseHeaders(status, -1);
            return;
        }
        sendResponseHeaders(status, body.length);
        getResponseBody().write(body);
        getResponseBody().close();
    }

    private static String phrase(int status) {
        return switch (status) {
            case 200 -> "OK";
            case 202 -> "Accepted";
            case 301 -> "Moved Permanently";
            case 400 -> "Bad Request";
            case 401 -> "Unauthorized";
            case 403 -> "Forbidden";
            case 404 -> "Not Found";
            case 405 -> "Method Not Allowed";
            case 413 -> "Content Too Large";
            case 415 -> "Unsupported Media Type";
            case 421 -> "Misdirected Request";
            case 429 -> "Too Many Requests";
            case 431 -> "Request Header Fields Too Large";
            case 503 -> "Service Unavailable";
            default -> "Internal Server Error";
        };
    }

    /** @return the stream for the body, after {@link #sendResponseHeaders}; closing it ends the answer */
    OutputStream getResponseBody() {
        OutputStream opened = body;
        if (opened == null) {
            throw new IllegalStateException("the headers come first");
        }
        return opened;
    }

    /* Writes in one piece if the system takes it, because small pieces would be sent one by one. */
    private void write(ByteBuffer... parts) throws IOException {
        while (parts[parts.length - 1].hasRemaining()) {
            channel.write(parts);
        }
    }

    private static ByteBuffer ascii(String text) {
        return ByteBuffer.wrap(text.getBytes(StandardCharsets.ISO_8859_1));
    }

    /** The answer's body. */
    private final class Body extends OutputStream {

        private final boolean isChunked;
        private final ByteBuffer kept = ByteBuffer.allocate(CHUNK_BYTES);

        Body(boolean isChunked) {
            this.isChunked = isChunked;
        }

        @Override
        public void write(int value) throws IOException {
            write(new byte[] {(byte) value}, 0, 1);
        }

        @Override
        public void write(byte[] bytes, int offset, int length) throws IOException {
            for (int at = 0; at < length; ) {
                if (!kept.hasRemaining()) {
                    flush();
                }
                int count = Math.min(length - at, kept.remaining());
                kept.put(bytes, offset + at, count);
                at += count;
            }
        }

        @Override
        public void flush() throws IOException {
            if (kept.position() > 0) {
                kept.flip();
                if (isChunked) {
                    String size = Integer.toHexString(kept.remaining());
                    HttpExchange.this.write(ascii(size + "\r\n"), kept, ascii("\r\n"));
                } else {
                    HttpExchange.this.write(kept);
                }
                kept.clear();
            }
        }

        @Override
        public void close() throws IOException {
            flush();
            if (isChunked) {
                HttpExchange.this.write(ascii("0\r\n\r\n"));
            }
        }
    }
}

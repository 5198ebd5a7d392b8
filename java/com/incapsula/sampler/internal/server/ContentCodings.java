// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.server;

import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Reads {@code Accept-Encoding} (RFC 9110, 12.5.3): whether the answer may be compressed by gzip.
 *
 * <p>Threads: any.
 */
final class ContentCodings {

    private static final double UNSAID = -1;

    private ContentCodings() {}

    /**
     * @param headers all values of {@code Accept-Encoding}; may be null
     * @return true if gzip is acceptable, and the client does not prefer an uncompressed answer
     */
    static boolean acceptGzip(@Nullable List<String> headers) {
        if (headers == null) {
            return false;
        }
        String all = String.join(",", headers).toLowerCase(Locale.ROOT);
        double gzip = Math.max(weightOf("gzip", all), weightOf("x-gzip", all));
        if (gzip == UNSAID) {
            gzip = weightOf("*", all);
        }
        return gzip > 0 && gzip >= weightOf("identity", all);
    }

    private static double weightOf(String coding, String all) {
        for (String item : all.split(",")) {
            String[] parts = item.split(";", 2);
            if (parts[0].strip().equals(coding)) {
                return parts.length == 1 ? 1 : weight(parts[1].strip());
            }
        }
        return UNSAID;
    }

    /* A malformed weight counts as 0, because every client can read an uncompressed answer. */
    private static double weight(String parameter) {
        String value = parameter.replaceFirst("^q\\s*=\\s*", "");
        return value.matches("(0(\\.\\d{0,3})?|1(\\.0{0,3})?)") && !value.equals(parameter)
                ? Double.parseDouble(value)
                : 0;
    }
}

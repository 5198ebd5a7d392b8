// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.mcp;

import com.incapsula.sampler.SamplingReport;
import com.incapsula.sampler.SamplingRow;
import java.util.List;

/**
 * Decides which rows are the user's code: the packages that the report's summary names. If it names none, all classes
 * outside the JDK.
 *
 * <p>Threads: immutable.
 */
final class YourCode {

    private final List<String> packages;

    YourCode(SamplingReport report) {
        packages = report.getSummary().getPackages();
    }

    boolean has(SamplingRow row) {
        if (packages.isEmpty() || row.isPseudo()) {
            return Frames.isOfUsers(row);
        }
        return packages.stream().anyMatch(prefix -> isBelow(row.getClassName(), prefix));
    }

    /* The empty prefix stands for the unnamed package. A prefix that ends with . or * is taken as written. */
    private static boolean isBelow(String className, String prefix) {
        if (prefix.isEmpty()) {
            return className.indexOf('.') < 0;
        }
        if (prefix.endsWith("*") || prefix.endsWith(".")) {
            return className.startsWith(prefix.endsWith("*") ? prefix.substring(0, prefix.length() - 1) : prefix);
        }
        return className.startsWith(prefix)
                && (className.length() == prefix.length() || ".$".indexOf(className.charAt(prefix.length())) >= 0);
    }
}

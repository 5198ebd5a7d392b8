// SPDX-License-Identifier: Apache-2.0
package com.example.batch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.data.Percentage.withPercentage;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PrimeReportTest {

    private static final int HANG_SECONDS = 100;

    @TempDir
    Path folder;

    private String report(int seconds) throws Exception {
        Path file = folder.resolve("reports/prime-" + seconds + ".log");
        PrimeReport.longRunningMethod(file, seconds);
        return Files.readString(file);
    }

    /*
     * Repeated with longer runs until both methods were seen, because on a busy machine the thread may have to wait for
     * a CPU.
     */
    private String reportOfBoth() throws Exception {
        String report = "";
        for (int seconds = 2; seconds < HANG_SECONDS && (primes(report) == 0 || digest(report) == 0); seconds *= 2) {
            report = report(seconds);
        }
        return report;
    }

    private static long primes(String report) {
        return millis(report, "BigInteger.nextProbablePrime\\(");
    }

    private static long digest(String report) {
        return millis(report, "MessageDigest.digest\\(");
    }

    @Test
    @Tag("truth")
    void threeQuartersArePrimesAndOneQuarterIsDigest() throws Exception {
        String report = report(4);
        long whole = rootMillis(report);
        assertThat(primes(report) + digest(report)).isCloseTo(whole, withPercentage(10));
        assertThat((double) primes(report) / whole).isBetween(0.70, 0.80);
    }

    @Test
    void theReportShowsPrimesAndDigest() throws Exception {
        String report = reportOfBoth();
        assertThat(primes(report)).isPositive();
        assertThat(digest(report)).isPositive();
        assertThat(rootMillis(report)).isGreaterThanOrEqualTo(primes(report) + digest(report));
        assertThat(report).contains("Aggregated thread: ").contains("Sampler account.");
        // Only monitored code is shown, not what BigInteger and MessageDigest call.
        assertThat(report).contains("java.math.BigInteger.nextProbablePrime(");
        assertThat(report).doesNotContain("BigInteger.passesMillerRabin", "DigestBase.engineUpdate");
    }

    /** The time of the first root row, which has all of the thread's time. */
    private static long rootMillis(String report) {
        Matcher matcher = Pattern.compile("(?m)^[^ \\n]+ +Cumulative time\\(ms\\): (\\d+)")
                .matcher(report);
        assertThat(matcher.find()).isTrue();
        return Long.parseLong(matcher.group(1));
    }

    /** Adds up the cumulative time of all rows whose frame matches, because a method has a row for each line. */
    private static long millis(String report, String frame) {
        Matcher matcher = Pattern.compile("(?m)^ *\\S*" + frame + "\\S* +Cumulative time\\(ms\\): (\\d+)")
                .matcher(report);
        long sum = 0;
        while (matcher.find()) {
            sum += Long.parseLong(matcher.group(1));
        }
        return sum;
    }
}

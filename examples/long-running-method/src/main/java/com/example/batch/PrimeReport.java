// SPDX-License-Identifier: Apache-2.0
package com.example.batch;

import com.incapsula.sampler.ThreadsSampler;
import com.incapsula.sampler.outputer.PrintStreamSamplingOutputer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/** One long-running method, sampled from its first line to its last, with the report in a file. */
public final class PrimeReport {

    private PrimeReport() {}

    public static void main(String[] args) throws IOException {
        Path report = Path.of(args.length > 0 ? args[0] : "target/prime-report.log");
        long seconds = args.length > 1 ? Long.parseLong(args[1]) : 4;
        longRunningMethod(report, seconds);
        System.out.println("The report is in " + report + ":");
        System.out.print(Files.readString(report, StandardCharsets.UTF_8));
    }

    /** Spends about three quarters of its time looking for primes and one quarter digesting. */
    static void longRunningMethod(Path report, long seconds) throws IOException {
        try (ThreadsSampler sampler = new ThreadsSampler()) {
            sampler.setMonitoredPackages("com.example");
            sampler.setReportFrequencySeconds(0);
            sampler.setSamplingFrequencyMillis(10);
            sampler.setThreadToBeSampled(Thread.currentThread());
            sampler.setSamplingOutputer(new PrintStreamSamplingOutputer(report.toString()));
            sampler.init();

            long quarter = seconds * 250_000_000L;
            for (int round = 0; round < 4; round++) {
                if (round < 3) {
                    findPrimes(System.nanoTime() + quarter);
                } else {
                    digest(System.nanoTime() + quarter);
                }
            }
        }
    }

    private static void findPrimes(long until) {
        BigInteger candidate = BigInteger.ONE.shiftLeft(256);
        while (System.nanoTime() < until) {
            candidate = candidate.nextProbablePrime();
        }
    }

    private static void digest(long until) {
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            byte[] block = new byte[64 * 1024];
            while (System.nanoTime() < until) {
                block[0] ^= digest.digest(block)[0];
            }
        } catch (NoSuchAlgorithmException e) {
            throw new UncheckedIOException(new IOException(e));
        }
    }
}

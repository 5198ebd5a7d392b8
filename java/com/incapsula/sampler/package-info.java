// SPDX-License-Identifier: Apache-2.0
/**
 * A sampler for production: {@link com.incapsula.sampler.ThreadsSampler} shows where the time of every thread goes.
 *
 * <pre>{@code
 * ThreadsSampler sampler = new ThreadsSampler();
 * sampler.setMonitoredPackages("com.example");
 * sampler.setReportFrequencySeconds(300);
 * sampler.init();      // from now on, a report every five minutes
 * ...
 * sampler.close();     // the last report
 * }</pre>
 *
 * <ul>
 * <li>{@link com.incapsula.sampler.ThreadsSampler} starts, pauses and ends sampling, and has all properties.</li>
 * <li>{@link com.incapsula.sampler.outputer} has the places where reports go.</li>
 * <li>{@link com.incapsula.sampler.remote} sends reports to servers.</li>
 * <li>{@link com.incapsula.sampler.manipulate} has the rules that group threads.</li>
 * <li>{@link com.incapsula.sampler.SamplingReport} is an interval as an object, for programs;
 * {@link com.incapsula.sampler.ReportFormat} lists the formats in which it can be written, and
 * {@link com.incapsula.sampler.SamplingReport#rows rows} are its call trees, read row by row.</li>
 * <li>{@link com.incapsula.sampler.ThreadsSamplerServer} shows a running sampler in a browser,
 * {@link com.incapsula.sampler.ThreadsSamplerMXBean} in JMX tools.</li>
 * <li>{@link com.incapsula.sampler.SamplerStatistics} are the sampler's figures about itself; the artifact
 * {@code threads-sampler-micrometer} has them as meters.</li>
 * <li>{@code threads-sampler-junit} samples tests, {@code threads-sampler-jmh} benchmarks.</li>
 * </ul>
 *
 * <h2>How to read a report</h2>
 *
 * <pre>{@code
 * Report interval: from Mon Jun 01 10:00:00 UTC 2026 till Mon Jun 01 10:05:00 UTC 2026
 * Summary.
 * ...
 *
 * Sampler account.
 * ...
 *
 * Aggregated thread: orders-. Max depth: 41. Distinct threads: 2 [orders-1, orders-2]
 * java.lang.Thread.run(Thread.java:840)                   Cumulative time(ms): 600000, Method time(ms): 0
 *   com.example.Orders.handle(Orders.java:19)             Cumulative time(ms): 590000, Method time(ms): 40000
 *     java.net.Socket$SocketInputStream.read(Socket.java:1099) Cumulative time(ms): 550000, Method time(ms): 550000
 *   com.example.Orders.next(Orders.java:12)               Cumulative time(ms): 10000, Method time(ms): 10000
 * }</pre>
 *
 * <ol>
 * <li><b>Begin with the summary.</b> It names the lines of your code with the most time that is not idle: {@link
 * com.incapsula.sampler.SamplingSummary}.</li>
 * <li><b>Go on with the group.</b> Threads whose names differ only in numbers and identifiers are one group. Groups are
 * in descending active time; groups that only waited for work are last, with one row. The root rows of a group add up
 * to the lifetime of its threads: two threads in five minutes are 600 seconds.</li>
 * <li><b>Follow the cumulative time down.</b> It is the time of a line of code including its callees, whether they
 * compute or wait. A row is one line of one method, so a method that makes two slow calls has two rows. The time is
 * spent at the row from which the figure falls sharply to the rows below.</li>
 * <li><b>Read the method time.</b> It is the time of the line itself, without its callees. Here {@code read} has nearly
 * all of it: the threads wait for an answer from the network.</li>
 * <li><b>Compare with CPU time</b> ({@link com.incapsula.sampler.ThreadsSampler#setReportCpuTime setReportCpuTime}).
 * If wall time is much larger than CPU time, the row waits, and more threads or a faster peer help. If they are about
 * equal, the row computes, and only less work helps.</li>
 * <li><b>Names in brackets</b> are not methods: {@code [GC active]} is time in which threads stood still for a garbage
 * collection, {@code [thread ended]} is the time from a thread's last sample to its end, and
 * {@code [12 rows below 0.5 %]} is the sum of
 * {@linkplain com.incapsula.sampler.ThreadsSampler#setReportMinPercent small rows}. The group {@code [JVM]} has the CPU
 * time of the JVM's own threads. No time is lost or spread over other rows.</li>
 * <li><b>Check the account.</b> The record {@code Sampler account.} follows the summary. It shows how much of the time
 * has a stack, the sampler's own memory and CPU time, and losses; with
 * {@linkplain com.incapsula.sampler.ThreadsSampler#setReportAccount reportAccount} FULL also the outcomes of all
 * polls.</li> </ol>
 *
 * <p>With {@link com.incapsula.sampler.ThreadsSampler#setMonitoredPackages monitored packages}, a stack ends one frame
 * below your code: the library method that your code called has the time of all its callees.
 *
 * @since 1.0
 */
@NullMarked
package com.incapsula.sampler;

import org.jspecify.annotations.NullMarked;

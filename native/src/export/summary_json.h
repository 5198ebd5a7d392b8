/* SPDX-License-Identifier: Apache-2.0 */
/*
 * summary_json.h - writes a profile's summary (summary.h) as an object, for programs and for the
 * page.
 *
 *   {"threads":n, "groups":n,                  without [JVM]
 *    "cpuNanos":n, "cpus":n,                   CPU time of all threads; CPUs that the process may
 *                                              use, 0: unknown
 *    "cpuQuotaMilli":n,                        quota of the control group in thousandths of a CPU;
 *                                              missing without one
 *    "activeNanos":n, "idleNanos":n, "idleThreads":n,
 *                                              with the CPU clock, or without states, activeNanos
 *                                              is all time and "states" is missing
 *    "states":{"running":n, ...},              all but idle
 *    "packages":["com.acme", ...],             of the user's code: as set, otherwise those of the
 *    "guessed":true,                           first spots
 *    "hotSpots":[{"state":"blocked",           the name of a state, otherwise "wall" or "cpu"
 *      "nanos":n, "runnableNanos":n,           runnableNanos for running spots only; missing if 0
 *      "error95":[n,n],                        as in a group; missing if it is not known
 *      "class":"com.acme.StockLedger", "method":"reserve", "file":"StockLedger.java", "line":41,
 *      "callee":"java.lang.Thread.sleep",      missing if the place itself has most of it
 *      "group":"http-nio--exec-", "groups":1,  the group with most of it; the number of groups
 *      "calls":n,                              only if they are counted
 *      "lock":"com.acme.StockLedger",          blocked spots only, as far as known
 *      "holding":"com.acme.StockLedger.audit(StockLedger.java:52)",
 *      "holder":"http-nio--exec-"},
 *     ...],
 *    "others":{"spots":n,"nanos":n},           spots of the user's code that are not listed
 *    "waits":{"nanos":n,"line":"...","group":"...","groups":n},
 *                                              of threads that only wait for others; missing if 0,
 *                                              or if spots are by group
 *    "elsewhere":{"nanos":n,"callee":"...","group":"...","groups":n},
 *                                              outside the user's code; missing if 0
 *    "gcNanos":n, "jitNanos":n,                only with [JVM]
 *    "samplerNanos":n,
 *    "lines":["20.7 s, 53 threads ...", ...]}  as a report prints them
 *
 * Without memory for the summary there is only "lines", with one line that says so.
 *
 * Threads  any; the profile is immutable.
 * Errors   SMP_ENOMEM, SMP_EQUOTA: no memory for that line, or for a name; the document is
 *          unusable.
 * Cost     that of summary.h.
 */
#ifndef SMP_EXPORT_SUMMARY_JSON_H
#define SMP_EXPORT_SUMMARY_JSON_H

#include "export/export_writers.h"

/* Writes ,"summary":{...}. */
SMP_CHECKED enum smp_status smp_summary_put_json(const struct smp_export_job *job);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * summary_json.h - a profile's summary (summary.h) as an object, for programs and for the page.
 *
 *   {"threads":n, "groups":n,                  without [JVM]
 *    "cpuNanos":n, "cpus":n,                   CPU time of all; CPUs that the process may use, 0:
 *                                              unknown
 *    "cpuQuotaMilli":n,                        the quota of its control group, in thousandths of a
 *                                              CPU; not there without one
 *    "activeNanos":n, "idleNanos":n, "idleThreads":n,
 *                                              with the CPU clock, or without states, activeNanos
 *                                              is all time, and there is no "states"
 *    "states":{"running":n, ...},              all but idle
 *    "packages":["com.acme", ...],             of the user's code: as it was set, else what the
 *    "guessed":true,                           first spots are in
 *    "hotSpots":[{"state":"blocked",           the name of a measure: of a state, else "wall" or
 *                                              "cpu"
 *      "nanos":n, "runnableNanos":n,           of one that is running or runnable; not there if 0
 *      "error95":[n,n],                        as in a group; not there where it is not known
 *      "class":"com.acme.StockLedger", "method":"reserve", "file":"StockLedger.java", "line":41,
 *      "callee":"java.lang.Thread.sleep",      not there where the place itself has most of it
 *      "group":"http-nio--exec-", "groups":1,  with most of it; so many have some
 *      "calls":n,                              only where they are counted
 *      "lock":"com.acme.StockLedger",          only of blocked ones, as far as it is known
 *      "holding":"com.acme.StockLedger.audit(StockLedger.java:52)",
 *      "holder":"http-nio--exec-"},
 *     ...],
 *    "others":{"spots":n,"nanos":n},           of the user's code, not listed
 *    "waits":{"nanos":n,"line":"...","group":"...","groups":n},
 *                                              by threads that only wait for others; not there
 *                                              without such time, nor by group
 *    "elsewhere":{"nanos":n,"callee":"...","group":"...","groups":n},
 *                                              not in the user's code; not there without such time
 *    "gcNanos":n, "jitNanos":n,                only with [JVM]
 *    "samplerNanos":n,
 *    "lines":["20.7 s, 53 threads ...", ...]}  as a report prints them
 *
 * Without memory for it, "lines" alone, one, that says so.
 *
 * Threads  any; the profile is immutable.
 * Errors   SMP_ENOMEM, SMP_EQUOTA: no memory for that line, or for a name; the document is no use.
 * Cost     that of summary.h.
 */
#ifndef SMP_EXPORT_SUMMARY_JSON_H
#define SMP_EXPORT_SUMMARY_JSON_H

#include "export/export_writers.h"

/* Writes ,"summary":{...}. */
SMP_CHECKED enum smp_status smp_summary_put_json(const struct smp_export_job *job);

#endif

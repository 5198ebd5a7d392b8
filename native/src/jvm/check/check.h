/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check.h - checks, at start and from then on, that HotSpot's memory is laid out as we believe.
 *
 *   find ───► the table of layout.h is complete; the code heaps are where it says
 *   prove ──► check_stacks.h: known stacks, walked by us, equal JVMTI's              ─► usable
 *   record ─► the JVM's own record of a compiled method's frames equals ours
 *                └─ one difference, seen twice: refused for good, with the reason
 *
 * A safepoint may begin while a record is compared, and redefine one of its methods, which then has
 * another id than in the record. So a record that differs is compared once more, after a call of
 * the JVM, which returns only when the safepoint is over. The difference does not count if the JVM
 * has given the code up, as it gives up all code of a redefined method. This rule needs an earlier
 * record that was equal, and whose code was seen in use.
 *
 * The JVM sends the record of each method that it compiles (CompiledMethodLoad). The first
 * SMP_CHECK_ALL_RECORDS are compared, then one in SMP_CHECK_ONE_IN. If the JVM replays the records
 * of all methods, a thread waits for that, so only SMP_CHECK_REPLAYED are compared.
 *
 * Owns     the layout of this process, and the answer; both as long as the library is loaded.
 * Threads  find, prove: one at a time, as the caller ensures (async.c opens once). The others: any;
 *          is_usable, layout: also signal handlers.
 * Errors   find, prove: SMP_EUNSUPPORTED: refused for good, see refusal. prove also: SMP_ETHREAD,
 *          SMP_ESTATE: it could not be tried this time, which says nothing about this JVM.
 * Cost     find: some thousand names. record: about 200 ns for each of its pcs.
 */
#ifndef SMP_JVM_CHECK_CHECK_H
#define SMP_JVM_CHECK_CHECK_H

#include <jni.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "hotspot/layout.h"
#include "jvm/check/check_stacks.h"

enum {
    SMP_CHECK_ALL_RECORDS = 1000,
    SMP_CHECK_ONE_IN = 100,
    SMP_CHECK_REPLAYED = 200 /* of the records of one replay */
};

struct smp_check_counts {
    uint64_t records;  /* of compiled methods that were compared */
    uint64_t frames;   /* of all their pcs */
    uint64_t given_up; /* records that do not count: the JVM gave their code up meanwhile */
    uint64_t refusals; /* 0 or 1 */
};

/* Once in a process; later calls return the same. exports: NULL, or a test's. */
SMP_CHECKED enum smp_status smp_hotspot_find(const struct smp_exports *exports, int version);
/* After find. Need not be called again once it returned SMP_OK. */
SMP_CHECKED enum smp_status smp_hotspot_prove(const struct smp_check_caller *caller);
/* Takes the event's arguments; info may be NULL. Does nothing before find, and once refused. */
void smp_hotspot_record(jvmtiEnv *jvmti, jmethodID method, uintptr_t start, size_t size,
                        const void *info);
/* Called before and after the events of all methods that were compiled before. */
void smp_hotspot_replay(bool begins);
/* Likewise for code that is not a method's; only the interpreter is compared. */
void smp_hotspot_record_stub(const char *name, uintptr_t start, size_t size);

/* Proved, and not refused since. */
bool smp_hotspot_is_usable(void);
bool smp_hotspot_is_refused(void);
/* Are method ids kept in hotspot/method_table.h in this JVM? */
bool smp_hotspot_keeps_ids(void);
/* NULL before find. Constant. */
const struct smp_layout *smp_hotspot_layout(void);
/* Ends the use of the layout for good. Only the first reason is kept. */
void smp_hotspot_refuse(const char *reason);
/* Copies the reason; "": not refused. */
void smp_hotspot_refusal(char out[SMP_LAYOUT_REASON_BYTES]);
void smp_hotspot_get_counts(struct smp_check_counts *out);

/* For tests: restores the state before find. */
void smp_hotspot_forget(void);

#endif

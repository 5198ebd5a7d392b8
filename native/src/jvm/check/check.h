/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check.h - whether what we believe of HotSpot's layout is right: at start, and for as long as it
 * is used.
 *
 *   find ───► the table of layout.h is complete; the code heaps are where it says
 *   prove ──► check_stacks.h: known stacks, walked by us, equal JVMTI's              ─► usable
 *   record ─► the frames that the JVM itself records of a compiled method equal ours
 *                └─ one difference, seen twice: refused for good, with the reason
 *
 * While a record is compared a safepoint may begin, at which a method of it is redefined: it then
 * has another id than the record says. So what differs is compared once more, after a call of the
 * JVM, which returns only when the safepoint is over; and it does not count where the JVM has given
 * the code up, as it does with all code of a method that is redefined. Whether that can be seen is
 * shown by a record that was equal.
 *
 * The JVM sends the record of each method that it compiles (CompiledMethodLoad). Its first
 * SMP_CHECK_ALL_RECORDS are compared, then one in SMP_CHECK_ONE_IN. Where it replays those of all
 * methods to a thread that waits for that, SMP_CHECK_REPLAYED are compared.
 *
 * Owns     the layout of this process, and the answer; both for as long as the library is loaded.
 * Threads  find, prove: one at a time. The others: any; is_usable, layout: also signal handlers.
 * Errors   find, prove: SMP_EUNSUPPORTED: refused for good, see refusal. Of prove also: this time
 *          it could not be tried (SMP_ETHREAD, SMP_ESTATE), which says nothing about this JVM.
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
    uint64_t records;  /* compared; each is a method that was compiled */
    uint64_t frames;   /* of all their pcs */
    uint64_t given_up; /* not compared: the JVM gave their code up meanwhile */
    uint64_t refusals; /* 0 or 1 */
};

/* Once in a process; later calls return the same. exports: NULL, or a test's. */
SMP_CHECKED enum smp_status smp_hotspot_find(const struct smp_exports *exports, int version);
/* After find. Until it is SMP_OK once. */
SMP_CHECKED enum smp_status smp_hotspot_prove(const struct smp_check_caller *caller);
/* What the event brings; info may be NULL. Before find, and once refused, it does nothing. */
void smp_hotspot_record(jvmtiEnv *jvmti, jmethodID method, uintptr_t start, size_t size,
                        const void *info);
/* Around the events of all methods that were compiled before. */
void smp_hotspot_replay(bool begins);
/* Likewise, of code that is no method's: the interpreter is compared. */
void smp_hotspot_record_stub(const char *name, uintptr_t start, size_t size);

/* Proved, and not refused since. */
bool smp_hotspot_is_usable(void);
bool smp_hotspot_is_refused(void);
/* NULL before find. Constant. */
const struct smp_layout *smp_hotspot_layout(void);
/* Ends the use of the layout for good. Only the first reason is kept. */
void smp_hotspot_refuse(const char *reason);
/* "" while it is not refused. Copied. */
void smp_hotspot_refusal(char out[SMP_LAYOUT_REASON_BYTES]);
void smp_hotspot_get_counts(struct smp_check_counts *out);

/* Test seam: everything is as before find. Not for production. */
void smp_hotspot_forget(void);

#endif

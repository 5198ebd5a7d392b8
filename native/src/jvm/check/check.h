/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check.h - checks at start and while running that our layout of HotSpot's memory is right.
 *
 *   find ───► the table of layout.h is complete, and the code heaps are at its addresses
 *   prove ──► check_stacks.h: our walks of known stacks equal JVMTI's                ─► usable
 *   record ─► the JVM's own record of a compiled method's frames equals ours
 *                └─ a difference that stays: the layout is refused for good, with the reason
 *
 * A method may be redefined while its record is compared, and then has another id than in the
 * record. A record that differs is therefore compared again, after a call of the JVM that waits
 * for the end of the safepoint. The difference does not count if the JVM has made the code not
 * entrant, as it does with all code of a redefined method. This exception requires that reading
 * the code's state has worked before.
 *
 * The JVM sends a record for each method that it compiles (CompiledMethodLoad). The first
 * SMP_CHECK_ALL_RECORDS are compared, then one in SMP_CHECK_ONE_IN. When the JVM replays the
 * records of all methods while a thread waits, only SMP_CHECK_REPLAYED are compared.
 *
 * Owns     the layout of this process and the result of the checks, until the library is unloaded.
 * Threads  find, prove: one at a time. is_usable, layout: also signal handlers. The others: any.
 * Errors   find, prove: SMP_EUNSUPPORTED: the layout is refused for good, see refusal. prove:
 *          SMP_ETHREAD, SMP_ESTATE: the check could not be made this time.
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
    uint64_t records;  /* of compiled methods, compared */
    uint64_t frames;   /* frames of all pcs of these records */
    uint64_t given_up; /* records with a difference, whose code became not entrant */
    uint64_t refusals; /* 0 or 1 */
};

/* Works once in a process; later calls return the same. exports is NULL except in tests. */
SMP_CHECKED enum smp_status smp_hotspot_find(const struct smp_exports *exports, int version);
/* Called after find. After SMP_OK it need not be called again. */
SMP_CHECKED enum smp_status smp_hotspot_prove(const struct smp_check_caller *caller);
/* Takes the event's arguments; info may be NULL. Does nothing before find or after a refusal. */
void smp_hotspot_record(jvmtiEnv *jvmti, jmethodID method, uintptr_t start, size_t size,
                        const void *info);
/* Called before and after a replay of the events of all compiled methods. */
void smp_hotspot_replay(bool begins);
/* Takes the arguments of DynamicCodeGenerated. Only the interpreter is compared. */
void smp_hotspot_record_stub(const char *name, uintptr_t start, size_t size);

/* Returns true after prove succeeded and until a refusal. */
bool smp_hotspot_is_usable(void);
bool smp_hotspot_is_refused(void);
/* Returns whether this JVM needs hotspot/method_table.h for method ids. */
bool smp_hotspot_keeps_ids(void);
/* NULL before find. Constant. */
const struct smp_layout *smp_hotspot_layout(void);
/* The layout is not used any more. Keeps only the first reason. */
void smp_hotspot_refuse(const char *reason);
/* Copies the reason, or "" if the layout is not refused. */
void smp_hotspot_refusal(char out[SMP_LAYOUT_REASON_BYTES]);
void smp_hotspot_get_counts(struct smp_check_counts *out);

/* For tests: restores the state before find. */
void smp_hotspot_forget(void);

#endif

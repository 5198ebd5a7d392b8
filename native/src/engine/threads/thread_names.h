/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thread_names.h - from a thread to the name of its group: the default rule, or the user's.
 *
 * The default rule is applied when a thread's name was read anew, which happens only when it
 * changed. A user's rule is asked once per tick for all candidates in one call: its answer may
 * change without anything happening in the thread. Where a record's group changes, what it
 * remembered of its place in the tree is forgotten; whoever keeps time for it is told before.
 *
 * Owns     room for one name of the greatest length.
 * Threads  the sampler thread only.
 * Errors   create: SMP_ENOMEM, SMP_EQUOTA. A name that cannot be kept for lack of memory puts the
 *          thread into the overflow group and is read again at the next tick.
 * Cost     refresh: one call of the thread source; nothing else while the name is the same.
 */
#ifndef SMP_ENGINE_THREADS_THREAD_NAMES_H
#define SMP_ENGINE_THREADS_THREAD_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/status.h"
#include "engine/threads/thread_table.h"

struct smp_thread_names;

/* The record is about to leave its group. Must not call the JVM. */
typedef void smp_thread_names_leaving(void *context, struct smp_thread_record *record);

/* table and context outlive it. default_rule: not the user's. */
SMP_CHECKED enum smp_status smp_thread_names_create(struct smp_quota *quota,
                                                    struct smp_thread_table *table,
                                                    bool default_rule,
                                                    smp_thread_names_leaving *leaving,
                                                    void *context, struct smp_thread_names **out);
void smp_thread_names_destroy(struct smp_thread_names *names);

/* Another rule from now on: forgets what the old one said. */
void smp_thread_names_set_rule(struct smp_thread_names *names, bool default_rule);

/* Brings one thread's name up to date. A thread that has ended before its first look is no
 * candidate afterwards. */
void smp_thread_names_read(struct smp_thread_names *names, struct smp_thread_record *record);
/* As read, for all candidates, whom the user's rule is asked for. Returns how often it failed. */
uint64_t smp_thread_names_ask(struct smp_thread_names *names);

/* The group of a virtual thread, by the same rule; NULL: it is not sampled. Valid until the next
 * call of any function. *failures grows where the user's rule failed. */
const char *smp_thread_names_of_mounted(struct smp_thread_names *names,
                                        const struct smp_mounted_thread *mounted,
                                        uint64_t *failures);

#endif

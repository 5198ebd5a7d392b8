/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thread_names.h - from a thread to the name of its group: by the default rule or by the user's.
 *
 * The default rule runs when a thread's name has changed. A user's rule runs once per tick, for all
 * candidates in one call: its answer may change while the thread stays as it is. When a record's
 * group changes, its key and its node are forgotten; leaving is called before that, because pending
 * time still belongs to the old group.
 *
 * Owns     two buffers for names of the greatest length.
 * Threads  the sampler thread only.
 * Errors   create: SMP_ENOMEM, SMP_EQUOTA. A name that does not fit into memory puts the thread
 *          into the overflow group; it is read again at the next tick.
 * Cost     read: one call of the thread source, and no more while the name is the same.
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

/* table and context outlive it. default_rule: no call of the user's rule. */
SMP_CHECKED enum smp_status smp_thread_names_create(struct smp_quota *quota,
                                                    struct smp_thread_table *table,
                                                    bool default_rule,
                                                    smp_thread_names_leaving *leaving,
                                                    void *context, struct smp_thread_names **out);
void smp_thread_names_destroy(struct smp_thread_names *names);

/* Changes the rule. Forgets the answers of the old one. */
void smp_thread_names_set_rule(struct smp_thread_names *names, bool default_rule);

/* Brings one thread's name up to date. A thread that ended before its first poll is no candidate
 * afterwards. */
void smp_thread_names_read(struct smp_thread_names *names, struct smp_thread_record *record);
/* Reads the names of all candidates and calls the user's rule. Returns how often the rule
 * failed. */
uint64_t smp_thread_names_apply_rule(struct smp_thread_names *names);

/* Before a time without calls of the user's rule: no thread of the last call is held any more. */
void smp_thread_names_let_go(struct smp_thread_names *names);

/* The group of a virtual thread, by the same rule; NULL: it is not sampled. Valid until the next
 * call of any function. *failures grows where the user's rule failed. */
const char *smp_thread_names_of_mounted(struct smp_thread_names *names,
                                        const struct smp_mounted_thread *mounted,
                                        uint64_t *failures);

#endif

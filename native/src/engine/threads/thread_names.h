/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thread_names.h - from a thread to the name of its group: by the default rule or by the user's.
 *
 * The default rule runs when a thread's name has changed. A user's rule runs once per tick, for all
 * candidates in one call, because its answer may change while the thread's name stays the same.
 * When a record's group changes, its key and its node are forgotten. The function `leaving` is
 * called before that, because pending time still belongs to the old group.
 *
 * Owns     two buffers for names of the greatest length.
 * Threads  the sampler thread only.
 * Errors   create: SMP_ENOMEM, SMP_EQUOTA. A thread whose name finds no memory goes to the overflow
 *          group; its name is read again at the next tick.
 * Cost     read: one call of the thread source, which is cheap while the name is the same.
 */
#ifndef SMP_ENGINE_THREADS_THREAD_NAMES_H
#define SMP_ENGINE_THREADS_THREAD_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/status.h"
#include "engine/threads/thread_table.h"

struct smp_thread_names;

/* Called before the record leaves its group. Must not call the JVM. */
typedef void smp_thread_names_leaving(void *context, struct smp_thread_record *record);

/* table and context outlive it. default_rule: the user's rule is not called. */
SMP_CHECKED enum smp_status smp_thread_names_create(struct smp_quota *quota,
                                                    struct smp_thread_table *table,
                                                    bool default_rule,
                                                    smp_thread_names_leaving *leaving,
                                                    void *context, struct smp_thread_names **out);
void smp_thread_names_destroy(struct smp_thread_names *names);

/* Changes the rule. Forgets the answers of the old one. */
void smp_thread_names_set_rule(struct smp_thread_names *names, bool default_rule);

/* Updates one thread's name. A thread that ended before its first poll stops being a candidate. */
void smp_thread_names_read(struct smp_thread_names *names, struct smp_thread_record *record);
/* Reads the names of all candidates and calls the user's rule. Returns the number of its
 * failures. */
uint64_t smp_thread_names_apply_rule(struct smp_thread_names *names);

/* Call it before the user's rule is not called for a while: afterwards the callback holds no
 * thread. */
void smp_thread_names_let_go(struct smp_thread_names *names);

/* Returns the group of a virtual thread, by the same rule; NULL: the thread is not sampled. The
 * name is valid until the next call of any function. Adds failures of the user's rule to
 * *failures. */
const char *smp_thread_names_of_mounted(struct smp_thread_names *names,
                                        const struct smp_mounted_thread *mounted,
                                        uint64_t *failures);

#endif

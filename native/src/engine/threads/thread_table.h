/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thread_table.h - one record for each thread the sampler holds. A record never moves in memory;
 * the order of the table changes when one is removed.
 *
 * Owns     the records, their names and stack copies, the memories of thread source and name
 *          callback.
 * Threads  the sampler thread only.
 * Errors   add: NULL, no memory, nothing has changed.
 * Cost     add: no allocation but for every 64th, which makes 64 spare records; remove: O(1), the
 *          last record takes its index.
 */
#ifndef SMP_ENGINE_THREADS_THREAD_TABLE_H
#define SMP_ENGINE_THREADS_THREAD_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/status.h"
#include "engine/jvm.h"
#include "engine/threads/last_stack.h"
#include "engine/threads/timer_wheel.h"
#include "model/group_key.h"
#include "model/thread_groups.h"

/*
 * What all sources know of a thread. A source that knows more begins its own record with this one.
 * A poll of an idle thread needs the first members, and finds none of them in the cache.
 */
struct smp_thread_record {
    struct smp_deadline deadline; /* first: when its source visits it next */
    struct smp_thread *thread;
    struct smp_group_tree tree; /* in the interval */
    uint64_t tree_epoch;        /* tree is valid while equal to that of the attribution; 0: never */
    struct smp_last_stack last; /* and the node its time went to */
    uint64_t found_epoch;       /* the next two are of the interval of this tree_epoch: */
    uint32_t found_node;        /* where a poll has found it last, */
    bool found_running;         /* and whether it ran then */
    enum smp_naming naming;     /* the last answer of the name callback; SAME: none yet */
    bool is_candidate;          /* by options, filter and name */
    bool is_sampled;            /* counted in roster.sampled */
    bool was_polled;            /* since it was left out last */
    bool is_in_filter;          /* as of filter_epoch */
    bool is_named;              /* by the running call of the name callback */
    uint64_t filter_epoch;      /* 0: never looked up */
    size_t index;               /* in the table */
    void *seen;                 /* the thread source's memory of the name */
    void *given;                /* the name callback's memory of its answer */
    char *raw_name;             /* NULL: not known (yet) */
    char *group_name;           /* NULL: the overflow group, for lack of memory or of a name */
};

static inline struct smp_group_key smp_thread_record_key(const struct smp_thread_record *record)
{
    return (struct smp_group_key){ .name = record->group_name };
}

/* The record of a deadline, which is its first member. */
static inline struct smp_thread_record *smp_thread_record_of(struct smp_deadline *deadline)
{
    return (struct smp_thread_record *)(void *)deadline;
}

/* 0: not known. */
static inline int32_t smp_thread_record_tid(const struct smp_thread_record *record)
{
    return atomic_load_explicit(&record->thread->os_tid, memory_order_relaxed);
}

struct smp_thread_table {
    struct smp_thread_record **records; /* those behind count are spare ones */
    uint64_t *serials;                  /* of the threads of records[0..count) */
    size_t record_bytes;
    size_t count;
    size_t ready; /* records, with the spare ones */
    size_t capacity;
    struct smp_thread_to_name *to_name; /* of one call of the name callback */
    struct smp_quota *quota;
    struct smp_last_stack_budget *budget;
    const struct smp_thread_source *source;
    const struct smp_name_callback *name_callback;
};

/* source, name_callback and budget outlive the table. record_bytes: of the sources' records. */
void smp_thread_table_init(struct smp_thread_table *table, struct smp_quota *quota,
                           size_t record_bytes, struct smp_last_stack_budget *budget,
                           const struct smp_thread_source *source,
                           const struct smp_name_callback *name_callback);
/* Drops every thread. */
void smp_thread_table_fini(struct smp_thread_table *table);

/* Adopts the thread unless it returns NULL. The record is zeroed but for thread and index. */
struct smp_thread_record *smp_thread_table_add(struct smp_thread_table *table,
                                               struct smp_thread *thread);
/* The record of the thread with this serial; NULL: there is none. index: where it most likely is;
 * O(threads) where it is elsewhere. */
struct smp_thread_record *smp_thread_table_find(const struct smp_thread_table *table,
                                                uint64_t serial, size_t index);
/* Drops the thread. Its record must be in no wheel. */
void smp_thread_table_remove(struct smp_thread_table *table, struct smp_thread_record *record);

/* Sets a name of a record, *name, to a copy of text. False: no memory, the name is as before. */
bool smp_thread_table_rename(struct smp_thread_table *table, char **name, const char *text);
/* Forgets which name was read last, so that it is read again. */
void smp_thread_table_forget_name(struct smp_thread_table *table, struct smp_thread_record *record);
/* Forgets the last answer of the name callback. */
void smp_thread_table_forget_answer(struct smp_thread_table *table,
                                    struct smp_thread_record *record);

#endif

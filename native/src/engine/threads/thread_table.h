/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thread_table.h - one record for each thread that the sampler holds. A record never moves in
 * memory, but the order of the table changes when a record is removed.
 *
 * Owns     the records, their names and stack copies, the memories of thread source and name
 *          callback.
 * Threads  the sampler thread only.
 * Errors   add: NULL without memory; nothing has changed then.
 * Cost     add: allocates 64 records at every 64th call, else nothing. remove: O(1), the last
 *          record takes the free index.
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
 * The part of a thread's record that all sources share; a source's record begins with it. A poll of
 * an idle thread needs only the first members, and finds none of them in the CPU's cache.
 */
struct smp_thread_record {
    struct smp_deadline deadline; /* must be first: when the source polls the thread next */
    struct smp_thread *thread;
    struct smp_group_tree tree; /* of the thread's group in the running interval */
    uint64_t tree_epoch;        /* tree is valid while this equals the attribution's tree_epoch; 0:
                                 * never */
    struct smp_last_stack last; /* the last stack, and the node that its time went to */
    uint64_t found_epoch;       /* the next two members are valid while this equals tree_epoch: */
    uint32_t found_node;        /* the node at which the last poll found the thread */
    bool found_running;         /* that poll found the thread running */
    enum smp_naming naming;     /* the last answer of the name callback; SAME: none yet */
    bool is_candidate;          /* chosen by options, filter and name */
    bool is_sampled;            /* counted in smp_sampled_threads.sampled */
    bool was_polled;            /* polled since it was last removed from sampling */
    bool is_in_filter;          /* as of filter_epoch */
    bool is_named;              /* named by the current call of the name callback */
    uint64_t filter_epoch;      /* is_in_filter is valid while this equals the current one; 0:
                                 * never */
    size_t index;               /* of this record in table->records */
    void *seen;                 /* the thread source's data about the name it read last */
    void *given;                /* the name callback's data about its last answer */
    char *raw_name;             /* NULL: not known yet */
    char *group_name;           /* NULL: the overflow group, without memory or a name */
};

/* Returns the record that contains this deadline. */
static inline struct smp_thread_record *smp_thread_record_of(struct smp_deadline *deadline)
{
    return (struct smp_thread_record *)(void *)deadline;
}

/* Returns 0 if the tid is not known. */
static inline int32_t smp_thread_record_tid(const struct smp_thread_record *record)
{
    return atomic_load_explicit(&record->thread->os_tid, memory_order_relaxed);
}

struct smp_thread_table {
    struct smp_thread_record **records; /* records[count..ready) are spare */
    uint64_t *serials;                  /* serials[i] is the serial of the thread of records[i] */
    size_t record_bytes;
    size_t count;
    size_t ready; /* number of records, spare ones included */
    size_t capacity;
    struct smp_thread_to_name *to_name; /* for one call of the name callback */
    struct smp_quota *quota;
    struct smp_memory_budget *budget;
    const struct smp_thread_source *source;
    const struct smp_name_callback *name_callback;
};

/* source, name_callback and budget outlive the table. record_bytes: the size of the source's
 * records. */
void smp_thread_table_init(struct smp_thread_table *table, struct smp_quota *quota,
                           size_t record_bytes, struct smp_memory_budget *budget,
                           const struct smp_thread_source *source,
                           const struct smp_name_callback *name_callback);
/* Drops every thread. */
void smp_thread_table_fini(struct smp_thread_table *table);

/* Takes ownership of the thread. Returns NULL without memory; the caller then still owns the
 * thread. All members but thread and index are zero. */
struct smp_thread_record *smp_thread_table_add(struct smp_thread_table *table,
                                               struct smp_thread *thread);
/* Returns the record of the thread with this serial, or NULL. index: its most likely index; if it
 * is wrong, the search is O(threads). */
struct smp_thread_record *smp_thread_table_find(const struct smp_thread_table *table,
                                                uint64_t serial, size_t index);
/* Drops the thread. Its record must not be in a wheel. */
void smp_thread_table_remove(struct smp_thread_table *table, struct smp_thread_record *record);

/* Sets *name to a copy of text. Returns false without memory; the name is then unchanged. */
bool smp_set_name(struct smp_quota *quota, char **name, const char *text);
/* Discards the name that was read last, so that the name is read again. */
void smp_thread_table_forget_name(struct smp_thread_table *table, struct smp_thread_record *record);
/* Discards the last answer of the name callback. */
void smp_thread_table_forget_answer(struct smp_thread_table *table,
                                    struct smp_thread_record *record);

#endif

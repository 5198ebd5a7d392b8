/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thread_table.h - a record per thread that the sampler has been handed: in no order, but each
 * stays where it is in memory.
 *
 * Owns     the records, their names and stack copies, the thread source's and namer's memories.
 * Threads  the sampler thread only.
 * Errors   add: false, no memory, nothing has changed.
 * Cost     add: one allocation in a while; remove: O(1), the last record takes the free place in
 *          the order.
 */
#ifndef SMP_ENGINE_THREADS_THREAD_TABLE_H
#define SMP_ENGINE_THREADS_THREAD_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/status.h"
#include "engine/jvm.h"
#include "engine/threads/activity.h"
#include "engine/threads/last_stack.h"
#include "engine/threads/timer_wheel.h"
#include "model/group_key.h"

enum { SMP_WHOLE_USE = 1024 }; /* a thread runs all the time */

/* What a look at an idle thread needs stands first: it is seldom in the cache. */
struct smp_thread_record {
    struct smp_deadline due; /* first: when it is looked at next */
    struct smp_thread *thread;
    int64_t credited_ns;        /* all time before this is credited, or never will be */
    int64_t balance_ns;         /* time still to be credited; negative: credited too much */
    int64_t odds;               /* of the next poll (intensity.h) */
    bool is_candidate;          /* to be sampled */
    bool was_looked_at;         /* its time since credited_ns is to be credited */
    bool is_counted;            /* among the sampled threads */
    bool is_chosen;             /* by the selection, as it was asked in chosen_epoch */
    bool is_answered;           /* by the call of the namer that is being made */
    bool is_idle;               /* counted in looker->idle_threads */
    bool is_throttled;          /* its odds are those for want of CPU time */
    bool has_target;            /* last is what the last poll found */
    bool takes_all;             /* what is found next gets promised_ns, and the time since then */
    bool has_left;              /* what is kept for it is left_place's */
    struct smp_activity idle;   /* what its CPU clock told */
    int64_t named_ns;           /* its name was read at this look; 0: at none yet */
    enum smp_naming naming;     /* the namer's last answer; SAME: none yet */
    struct smp_group_key key;   /* in the interval */
    uint64_t key_epoch;         /* place is valid while equal to the asker's; 0 = never */
    uint64_t chosen_epoch;      /* 0: never asked */
    struct smp_last_stack last; /* and where it was credited */
    /* Of a request that it has not answered: it may have run since; 0: there is none. */
    int64_t unanswered_ns;
    bool is_asked;             /* and the signal has been sent; what follows was so when it was */
    int64_t asked_clock_ns;    /* its CPU clock */
    int64_t asked_used_ns;     /* CPU time used since credited_ns; -1: not known */
    int64_t use;               /* of SMP_WHOLE_USE: share of its time that it ran, of late */
    uint64_t polled_tick;      /* the last poll */
    int64_t free_odds;         /* of the next poll, were there CPU time for all */
    int64_t promised_ns;       /* of polls up to promised_until_ns that found nothing yet: */
    int64_t promised_until_ns; /* the last tick at which it had the stack it will answer */
    int64_t owed_ns;           /* wall time taken back from last at the end of an interval */
    int64_t claim_ns;          /* that claim_node is to get of proven idle time, */
    uint64_t claim_epoch;      /* in the interval with this place_epoch */
    uint32_t claim_node;
    void *cpu_timer;            /* cpu.h; NULL: none */
    struct smp_reading reading; /* of the look that waits for an asynchronous answer */
    struct smp_group_key left_key;
    size_t index;     /* in the table */
    void *seen;       /* the thread source's memory of the name */
    void *given;      /* the namer's memory of its answer */
    char *raw_name;   /* NULL: not known (yet) */
    char *group_name; /* NULL: the overflow group, for lack of memory or of an answer */
};

/* Whose it is: the record's first member. */
static inline struct smp_thread_record *smp_thread_record_of(struct smp_deadline *due)
{
    return (struct smp_thread_record *)(void *)due;
}

/* 0: not known. */
static inline int32_t smp_thread_record_tid(const struct smp_thread_record *record)
{
    return atomic_load_explicit(&record->thread->os_tid, memory_order_relaxed);
}

struct smp_thread_table {
    struct smp_thread_record **records; /* those behind count are spare ones */
    size_t count;
    size_t ready; /* records there are, with the spare ones */
    size_t capacity;
    /* For one call of the namer: the threads it is asked for, and their records. */
    struct smp_thread **asked;
    void **answers;
    struct smp_thread_record **asked_records;
    struct smp_quota *quota;
    struct smp_last_stack_budget *budget;
    const struct smp_thread_source *source;
    const struct smp_name_callback *name_callback;
};

/* source, namer and budget outlive the table. */
void smp_thread_table_init(struct smp_thread_table *table, struct smp_quota *quota,
                           struct smp_last_stack_budget *budget,
                           const struct smp_thread_source *source,
                           const struct smp_name_callback *name_callback);
/* Drops every thread. */
void smp_thread_table_fini(struct smp_thread_table *table);

/* Adopts the thread unless it returns NULL. credited_ns is where its time begins. */
struct smp_thread_record *smp_thread_table_add(struct smp_thread_table *table,
                                               struct smp_thread *thread, int64_t credited_ns);
/* Drops the thread; the record is in no wheel. */
void smp_thread_table_remove(struct smp_thread_table *table, struct smp_thread_record *record);

/* Sets a name of a record, *name, to a copy of text. False: no memory, the name is as before. */
bool smp_thread_table_rename(struct smp_thread_table *table, char **name, const char *text);
/* Forgets which name was read last, so that it is read again. */
void smp_thread_table_forget_name(struct smp_thread_table *table, struct smp_thread_record *record);
/* Forgets what the namer answered last. */
void smp_thread_table_forget_answer(struct smp_thread_table *table,
                                    struct smp_thread_record *record);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * roster.h - the threads that are sampled: which threads live, which of them the options and the
 * user's filter choose, and the names of their groups. The sources share one.
 *
 *   thread source ─► started ─► record ─► candidate? (options, filter) ─► group (names) ─► ended
 *
 * What a source does for each thread, it does in the events below.
 *
 * Owns     the thread records, the names, the thread filter.
 * Threads  the sampler thread only.
 * Errors   init: SMP_ENOMEM, SMP_EQUOTA. A thread there is no memory for is offered again at the
 *          next tick.
 * Cost     poll_starts: one call of the thread source. name_all: O(threads).
 */
#ifndef SMP_ENGINE_SOURCES_ROSTER_H
#define SMP_ENGINE_SOURCES_ROSTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/status.h"
#include "engine/attribution/attribution.h"
#include "engine/jvm.h"
#include "engine/threads/thread_names.h"
#include "engine/threads/thread_table.h"
#include "model/options.h"

/* Of the source that polls. */
struct smp_roster_events {
    /* The record is new. from_ns: where its time begins; is_new: at the thread's start. */
    void (*started)(void *context, struct smp_thread_record *record, int64_t from_ns, bool is_new);
    /* The thread has ended; the record is freed afterwards, and must be in no wheel then. */
    void (*ended)(void *context, struct smp_thread_record *record, int64_t ended_ns);
    /* The thread is not sampled from now on. */
    void (*left_out)(void *context, struct smp_thread_record *record);
    /* The record is about to change its group. Must not call the JVM. NULL: no pending time. */
    void (*leaves_group)(void *context, struct smp_thread_record *record);
    /* The record's name has been read, and the user's rule has been called where there is one. */
    void (*named)(void *context, struct smp_thread_record *record);
    void *context;
};

struct smp_roster {
    struct smp_quota *quota;
    const struct smp_jvm *jvm;
    struct smp_attribution *attribution;
    struct smp_roster_events events;
    struct smp_thread_table table;
    struct smp_thread_names *names;
    struct smp_thread_filter thread_filter;
    bool only; /* the filter's threads and no others */
    uint64_t filter_epoch;
    bool skip_daemon_threads;
    bool default_name_rule;
    uint64_t sampled;   /* threads */
    uint64_t cursor;    /* the thread source's */
    bool is_first_poll; /* since mark: threads that came and went before it are not lost */
    int64_t marked_ns;  /* a thread's time begins here, or at its start */
    int64_t now_ns;     /* of the tick */
};

/* record_bytes: of the source's records. jvm, attribution and quota outlive it. */
SMP_CHECKED enum smp_status smp_roster_init(struct smp_roster *roster, struct smp_quota *quota,
                                            const struct smp_jvm *jvm,
                                            struct smp_attribution *attribution,
                                            const struct smp_options *options, size_t record_bytes);
/* Zeroed: fine. On a thread that is allowed to call jvm. */
void smp_roster_fini(struct smp_roster *roster);

void smp_roster_mark(struct smp_roster *roster, int64_t now_ns);
/* A tick begins: adds the threads that have started. */
void smp_roster_poll_starts(struct smp_roster *roster, int64_t now_ns);
/* With a user's rule for names: removes ended threads, calls the rule for all candidates. */
void smp_roster_name_all(struct smp_roster *roster);
/* With the default rule: updates is_candidate. False: the thread is left out. */
bool smp_roster_choose(struct smp_roster *roster, struct smp_thread_record *record);
/* With the default rule: reads the name. False: the thread came and went, and is left out. */
bool smp_roster_read_name(struct smp_roster *roster, struct smp_thread_record *record);
void smp_roster_set_sampled(struct smp_roster *roster, struct smp_thread_record *record,
                            bool is_sampled);
void smp_roster_leave_out(struct smp_roster *roster, struct smp_thread_record *record);
/* Where the thread ended by now_ns. True: the record is gone. A thread that ends later is walked as
 * if it lived: the walk says that it is gone, and the next tick attributes its last time. */
bool smp_roster_remove_ended(struct smp_roster *roster, struct smp_thread_record *record,
                             int64_t now_ns);

/* Where no ticks come: gives back all threads that have ended by now_ns. */
void smp_roster_remove_all_ended(struct smp_roster *roster, int64_t now_ns);

/* By options and filter, whatever its name. */
bool smp_roster_chooses(struct smp_roster *roster, struct smp_thread_record *record);
/* The key of a virtual thread, by the rule for names; its name is NULL: it is not sampled. Valid
 * until the next name is read. */
struct smp_group_key smp_roster_key_of_mounted(struct smp_roster *roster,
                                               const struct smp_mounted_thread *mounted);

/* Would these options change which threads are sampled, or their groups? */
bool smp_roster_would_change(const struct smp_roster *roster, const struct smp_options *options);
void smp_roster_set_options(struct smp_roster *roster, const struct smp_options *options);
/* Adopts the filter. */
void smp_roster_set_filter(struct smp_roster *roster, struct smp_thread_filter thread_filter,
                           bool only);
/* Frees all last stacks. */
void smp_roster_forget_stacks(struct smp_roster *roster);

#endif

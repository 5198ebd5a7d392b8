/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sampled_threads.h - the live threads, which of them options and the user's filter choose, and
 * the names of their groups. Shared by all sources of a sampler.
 *
 *   thread source ─► started ─► record ─► candidate? (options, filter) ─► group (names) ─► ended
 *
 * Sources are notified by the events below.
 *
 * The default name rule runs when a thread's name has changed. A user's rule runs once per tick,
 * in one call for all candidates, because its answer may change although the thread's name is the
 * same. When a record's group changes, its key and its node are discarded.
 *
 * Owns     the thread records, two buffers for names, the thread filter.
 * Threads  the sampler thread only.
 * Errors   init: SMP_ENOMEM, SMP_EQUOTA. Without memory for a thread, the next tick tries again.
 *          Without memory for its name, a thread goes to the overflow group, and the next tick
 *          reads the name again.
 * Cost     poll_starts: one call of the thread source. name_all: O(threads). read_name: one call of
 *          the thread source, which is cheap while the name is the same.
 */
#ifndef SMP_ENGINE_SOURCES_SAMPLED_THREADS_H
#define SMP_ENGINE_SOURCES_SAMPLED_THREADS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/status.h"
#include "engine/attribution/attribution.h"
#include "engine/jvm.h"
#include "engine/threads/thread_table.h"
#include "model/options.h"

/* Set by the source that polls. */
struct smp_sampled_threads_events {
    /* The record is new. Its time begins at from_ns, which is the thread's start if is_new. */
    void (*started)(void *context, struct smp_thread_record *record, int64_t from_ns, bool is_new);
    /* The thread has ended. The record is freed afterwards and must not be in a wheel. */
    void (*ended)(void *context, struct smp_thread_record *record, int64_t ended_ns);
    /* The thread is not sampled any more. */
    void (*left_out)(void *context, struct smp_thread_record *record);
    /* The record is about to change its group; pending time belongs to the old one. Must not call
     * the JVM. NULL: the source has no pending time. */
    void (*leaves_group)(void *context, struct smp_thread_record *record);
    /* The record's name has been read, and the user's rule, if there is one, has been called. */
    void (*named)(void *context, struct smp_thread_record *record);
    void *context;
};

struct smp_name_buffers;

struct smp_sampled_threads {
    struct smp_quota *quota;
    const struct smp_jvm *jvm;
    struct smp_attribution *attribution;
    struct smp_sampled_threads_events events;
    struct smp_thread_table table;
    struct smp_name_buffers *buffers; /* for the longest names */
    struct smp_thread_filter thread_filter;
    bool only; /* samples only the filter's threads */
    uint64_t filter_epoch;
    const struct smp_options *options;
    /* The options in force. New options apply after all sources have flushed. */
    bool skip_daemon_threads;
    bool default_name_rule; /* by the options, or because this JVM has no name callback */
    uint64_t sampled;       /* number of sampled threads */
    uint64_t cursor;        /* cursor of the thread source */
    bool is_first_poll;     /* the next poll is the first since mark and has no unseen threads */
    int64_t marked_ns;      /* time begins here, or at the start of a thread */
    int64_t now_ns;         /* time of the running tick */
};

/* record_bytes is the size of the source's records. All other arguments must outlive it. */
SMP_CHECKED enum smp_status
smp_sampled_threads_init(struct smp_sampled_threads *threads, struct smp_quota *quota,
                         const struct smp_jvm *jvm, struct smp_attribution *attribution,
                         const struct smp_options *options, size_t record_bytes);
/* threads may be zeroed. Called on a thread that may call jvm. */
void smp_sampled_threads_fini(struct smp_sampled_threads *threads);

void smp_sampled_threads_mark(struct smp_sampled_threads *threads, int64_t now_ns);
/* Called when a tick begins: adds the threads that have started. */
void smp_sampled_threads_poll_starts(struct smp_sampled_threads *threads, int64_t now_ns);
/* With a user's name rule, removes ended threads and calls the rule for all candidates. */
void smp_sampled_threads_name_all(struct smp_sampled_threads *threads);
/* With the default rule, updates is_candidate. Returns false if the thread is left out. */
bool smp_sampled_threads_choose(struct smp_sampled_threads *threads,
                                struct smp_thread_record *record);
/* Reads the thread's name. A thread that ended before its first poll stops being a candidate. */
void smp_sampled_threads_read_name(struct smp_sampled_threads *threads,
                                   struct smp_thread_record *record);
/* With the default rule, reads the name. Returns false if the thread has ended and is left out. */
bool smp_sampled_threads_name(struct smp_sampled_threads *threads,
                              struct smp_thread_record *record);
void smp_sampled_threads_set_sampled(struct smp_sampled_threads *threads,
                                     struct smp_thread_record *record, bool is_sampled);
void smp_sampled_threads_leave_out(struct smp_sampled_threads *threads,
                                   struct smp_thread_record *record);
/* Removes the thread if it has ended by now_ns, and returns whether. A thread that ends later is
 * walked as if it were alive: the walk reports the end, the next tick attributes the last time. */
bool smp_sampled_threads_remove_ended(struct smp_sampled_threads *threads,
                                      struct smp_thread_record *record, int64_t now_ns);

/* While there are no ticks, removes all threads that have ended by now_ns. */
void smp_sampled_threads_remove_all_ended(struct smp_sampled_threads *threads, int64_t now_ns);

/* Returns whether options and filter choose the thread, regardless of its name. */
bool smp_sampled_threads_chooses(struct smp_sampled_threads *threads,
                                 struct smp_thread_record *record);
/* Returns the key of a virtual thread by the name rule, valid until the next name is read. If its
 * name is NULL, the thread is not sampled. */
struct smp_group_key smp_sampled_threads_key_of_mounted(struct smp_sampled_threads *threads,
                                                        const struct smp_mounted_thread *mounted);

/* Returns whether options that were `before` until now choose other threads or groups. */
bool smp_sampled_threads_would_change(const struct smp_sampled_threads *threads,
                                      const struct smp_options *before);
/* Called when the options have changed. */
void smp_sampled_threads_use_options(struct smp_sampled_threads *threads);
/* Takes ownership of the filter. */
void smp_sampled_threads_set_filter(struct smp_sampled_threads *threads,
                                    struct smp_thread_filter thread_filter, bool only);
/* Frees all last stacks. */
void smp_sampled_threads_forget_stacks(struct smp_sampled_threads *threads);

#endif

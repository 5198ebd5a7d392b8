/* SPDX-License-Identifier: Apache-2.0 */
/*
 * walker.h - what the core asks of a JVM: its threads, their stacks, their names. Structs of
 * functions.
 *
 * The core decides WHOM to look at and WHEN; the implementations in vm/ and jni/ know HOW. The core
 * never sees a JVM type, so it runs in tests as plain C with fakes.
 *
 * Owns     see each struct.
 * Threads  all functions are called on the session's sampler thread, unless one says otherwise.
 * Errors   statuses as listed with each function.
 * Cost     the implementer's.
 */
#ifndef SMP_CORE_WALKER_H
#define SMP_CORE_WALKER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "model/sample.h"

/*
 * A Java thread. Made and owned by the thread source; a session that was handed one may use it
 * until it gives it back with drop. Fields are constant but for ended_ns and is_hidden, which are
 * set once, at any time.
 */
struct smp_thread {
    uint64_t serial; /* rises with birth, never reused */
    int64_t born_ns; /* monotonic; for threads older than the source, when they were found */
    _Atomic int64_t ended_ns; /* 0 while alive */
    int32_t os_tid;           /* 0 when not known */
    bool is_daemon;
    /* A service thread of the JVM or one of the library's own: never sampled, never listed. poll
     * passes it over; a thread may become one later. */
    _Atomic bool is_hidden;
};

struct smp_thread_source {
    /*
     * Calls born for every live thread that this reader has not been handed yet (serial > *cursor)
     * and moves *cursor on. Each is held until drop. *unseen grows by the threads that came and
     * went since the last poll; the first poll, with *cursor 0, misses nobody. born may refuse
     * (false: no memory); the thread is then offered again at the next poll.
     */
    enum smp_status (*poll)(void *self, uint64_t *cursor, uint64_t *unseen,
                            bool (*born)(void *context, struct smp_thread *thread), void *context);
    void (*drop)(void *self, struct smp_thread *thread);
    /*
     * The thread's name. *seen is the reader's memory of the name it read last (NULL at first; give
     * it back with forget). When the name is still the same String, *changed is false and out is
     * untouched. out has size bytes and gets UTF-8 with a NUL, cut between characters where it does
     * not fit. SMP_EGONE: the thread has ended.
     */
    enum smp_status (*name)(void *self, struct smp_thread *thread, void **seen, char *out,
                            size_t size, bool *changed);
    void (*forget)(void *self, void *seen);
    void *self;
};

struct smp_walker {
    const char *name; /* of the engine, for statistics: "JVMTI" */
    /*
     * Walks one stack into sample->frames. SMP_OK with count 0: no Java frames. SMP_EGONE,
     * SMP_EPHASE, SMP_ENOMEM, SMP_EVM: no stack; the sample's content is undefined then.
     */
    enum smp_status (*walk)(void *self, struct smp_thread *thread, struct smp_sample *sample);
    void *self;
};

/* A user's rule from thread to group name. One call per tick for all threads. */
enum smp_naming { SMP_NAMING_SAME, SMP_NAMING_NAMED, SMP_NAMING_SKIP, SMP_NAMING_FAILED };

struct smp_namer {
    /*
     * Asks for the group names of threads[0..count). names[i] is the namer's memory for threads[i],
     * kept by the caller from call to call (NULL at first; give back with forget). Calls result
     * once per thread: SAME as the last time, NAMED with UTF-8 text, SKIP (do not sample), FAILED
     * (use the raw name).
     */
    enum smp_status (*group_names)(void *self, struct smp_thread *const *threads, void **names,
                                   size_t count,
                                   void (*result)(void *context, size_t index,
                                                  enum smp_naming naming, const char *name),
                                   void *context);
    void (*forget)(void *self, void *name);
    void *self;
};

/* The threads a user chose. Held weakly by the implementation: a thread that has ended is in no
 * selection. */
struct smp_selection {
    bool (*contains)(void *self, struct smp_thread *thread);
    void (*destroy)(void *self);
    void *self;
};

/* What a native thread must do to be allowed to call the functions above and the sink. */
struct smp_host {
    enum smp_status (*enter)(void *self, const char *thread_name); /* on the new thread, first */
    void (*leave)(void *self);                                     /* on that thread, last */
    void *self;
};

#endif

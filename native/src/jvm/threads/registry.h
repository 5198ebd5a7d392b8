/* SPDX-License-Identifier: Apache-2.0 */
/*
 * registry.h - the process-wide list of live Java threads, in the order in which they started.
 *
 * Two sources report a thread: the scan of threads that are older than the library, and its
 * ThreadStart. Either may come first, or both at once. The Java id, which is never reused, shows
 * that it is the same thread. The registry holds an entry while the thread lives, and so does each
 * reader that got it. The function that releases the last hold returns the entry for disposal, so
 * that no reference is deleted and nothing is freed under the lock.
 *
 * Readers keep a cursor, the serial of the last thread they got. Only ended threads leave holes in
 * the serials, so each hole that a reader passes is a thread that it never saw.
 *
 * Owns     its buckets and the entries that no reader holds.
 * Threads  any; one mutex, held for a few pointer operations, never across a call to the JVM. A
 *          start listener is called under it, so that it cannot be removed meanwhile.
 * Errors   a lack of memory for more buckets: the table then stays as small as it is.
 * Cost     add, end: one hash probe. collect: O(capacity), and the way from the newest thread, or
 *          from where the last collect ended, to the cursor.
 */
#ifndef SMP_JVM_THREADS_REGISTRY_H
#define SMP_JVM_THREADS_REGISTRY_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "engine/jvm.h"
#include "jvm/threads/gate.h"

enum {
    SMP_INTERNAL_THREADS_MAX = 256, /* over all sessions */
    SMP_WALK_INFO_REQUESTS = 4      /* outstanding at one thread, each of another session */
};

/*
 * Per-thread data that an asynchronous walk needs, learnt once and shared by all sessions. Each
 * value is right, or 0 while it is not known.
 */
struct smp_walk_info {
    _Atomic uintptr_t java_thread; /* the JVM's thread object */
    _Atomic uintptr_t stack_low;
    _Atomic uintptr_t stack_high;
    /* Cookies of requests; each may be outstanding or over. A session has one at a time. */
    _Atomic uint64_t requests[SMP_WALK_INFO_REQUESTS];
    _Atomic uintptr_t run_method; /* its run(); read for AsyncGetCallTrace only, as root */
    _Atomic uintptr_t root;       /* run_method, once a stack has ended in it */
    _Atomic bool is_carrier;      /* of virtual threads */
    _Atomic uint64_t blocked;     /* the signals that it blocked at mask_read_ns; 0: never read */
    _Atomic int64_t mask_read_ns;
    _Atomic int64_t asked_ns; /* last handshake that checked whether the thread lives; 0: never */
    struct smp_gate gate;     /* java_thread and the stack are read from outside behind it */
};

struct smp_jvm_thread {
    struct smp_thread thread; /* first, so that a pointer to it is one to the entry */
    int64_t java_id;
    void *ref; /* global reference to the Thread; opaque here */
    struct smp_walk_info info;
    /* the rest is guarded by the registry's mutex */
    unsigned holders;
    struct smp_jvm_thread *older;
    struct smp_jvm_thread *newer;
    struct smp_jvm_thread *next; /* in its bucket; in the chain close returns */
};

/* A thread of the library: known by tid before it is attached, and by Java id afterwards. */
struct smp_internal_thread {
    int64_t java_id; /* 0: known by tid */
    int32_t tid;     /* 0: known by Java id */
    bool stale;      /* the running scan has not found it again yet */
};

/* Visible so that it can be static: late events may come for as long as the library is loaded. */
struct smp_registry {
    pthread_mutex_t mutex;
    bool open; /* all guarded by mutex */
    uint64_t newest_serial;
    struct smp_jvm_thread *oldest;
    struct smp_jvm_thread *newest;
    struct smp_jvm_thread *mark; /* the end of the last collect, or near it; NULL: not known */
    size_t count;
    struct smp_jvm_thread **buckets;
    size_t bucket_count; /* a power of two, or 0 */
    struct smp_internal_thread internal[SMP_INTERNAL_THREADS_MAX];
    size_t internal_count;
    struct smp_start_listener *listeners;
};

#define SMP_REGISTRY_INIT                  \
    {                                      \
        .mutex = PTHREAD_MUTEX_INITIALIZER \
    }

/* After this call add accepts threads. SMP_ENOMEM: the registry stays closed. */
SMP_CHECKED enum smp_status smp_registry_open(struct smp_registry *registry);
/*
 * Removes all threads. Returns those that no reader holds, chained by next, for the caller to
 * dispose of. Each of the others is returned by its last release.
 */
struct smp_jvm_thread *smp_registry_close(struct smp_registry *registry);

/*
 * entry has java_id, ref, started_ns, os_tid and is_daemon. Returns true if the registry owns it
 * now. Returns false, with the entry still the caller's, if the registry is closed or knows it.
 */
bool smp_registry_add(struct smp_registry *registry, struct smp_jvm_thread *entry);
/* Called for a thread start without memory for the thread: readers will count it as unseen. */
void smp_registry_miss(struct smp_registry *registry);
/* Returns the thread's entry, held for the caller, or NULL if it is not known. */
struct smp_jvm_thread *smp_registry_hold(struct smp_registry *registry, int64_t java_id);
/* Called when the thread has ended and its gate is closed. cpu_ns: its CPU clock, 0: not known.
 * Returns its entry if no reader holds it, else NULL. */
struct smp_jvm_thread *smp_registry_end(struct smp_registry *registry, int64_t java_id,
                                        int64_t now_ns, int64_t cpu_ns);
/* Releases a reader's hold. Returns the entry if it was the last hold, else NULL. */
struct smp_jvm_thread *smp_registry_release(struct smp_registry *registry,
                                            struct smp_jvm_thread *entry);

/*
 * Returns the oldest live threads with a serial above after, up to capacity, each held for the
 * caller. *newest gets the highest serial so far.
 */
size_t smp_registry_collect(struct smp_registry *registry, uint64_t after,
                            struct smp_jvm_thread **batch, size_t capacity, uint64_t *newest);

/*
 * Returns the serial of the first live thread that the test accepts, or 0. The test is called under
 * the mutex, so no thread can end meanwhile: memory of a thread that the test reads behind the gate
 * stays mapped. The test must not call the JVM, or the registry.
 */
typedef bool smp_thread_test(void *context, struct smp_walk_info *info);
uint64_t smp_registry_search(struct smp_registry *registry, smp_thread_test *test, void *context);

/* See engine/jvm.h. Returns false if a serial above after exists already. */
bool smp_registry_listen(struct smp_registry *registry, uint64_t after,
                         struct smp_start_listener *listener);
void smp_registry_unlisten(struct smp_registry *registry, struct smp_start_listener *listener);

/* Internal threads. hide and enter return SMP_EQUOTA past SMP_INTERNAL_THREADS_MAX. */
SMP_CHECKED enum smp_status smp_registry_enter(struct smp_registry *registry, int32_t tid);
void smp_registry_leave(struct smp_registry *registry, int32_t tid);
/* Also marks the thread's entry, if it has one, as hidden; end undoes that. */
SMP_CHECKED enum smp_status smp_registry_hide(struct smp_registry *registry, int64_t java_id);
/* tid 0: not known. */
bool smp_registry_is_internal(struct smp_registry *registry, int32_t tid, int64_t java_id);
/* Called after a scan that called is_internal for every live thread. Removes hidden threads whose
 * end was missed. */
void smp_registry_purge(struct smp_registry *registry);

#endif

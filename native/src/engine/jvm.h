/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jvm.h - what the core asks of a JVM: its threads, their stacks, their names. Structs of
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
#ifndef SMP_ENGINE_JVM_H
#define SMP_ENGINE_JVM_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/event.h"
#include "base/status.h"
#include "model/sample.h"

/*
 * A Java thread. Made and owned by the thread source; a session that was handed one may use it
 * until it gives it back with drop. Fields are constant but for the atomic ones, which are set
 * once, at any time.
 */
struct smp_thread {
    uint64_t serial;    /* rises with birth, never reused */
    int64_t started_ns; /* monotonic; for threads older than the source, when they were found */
    _Atomic int64_t ended_ns; /* 0 while alive */
    /* 0 while not known for sure; set once, at any time. */
    _Atomic int32_t os_tid;
    bool is_daemon;
    /* The JVM's service threads and the library's own: never sampled, never listed. A thread may
     * become one of the library's own at any time. */
    _Atomic bool is_hidden;
};

/* Somebody who wants to be told when a thread is born. Zeroed: is told of none. */
struct smp_start_listener {
    struct smp_event *event;         /* constant */
    struct smp_start_listener *next; /* the source's, as is_in */
    bool is_in;
};

struct smp_thread_source {
    /*
     * Calls born for every live thread that this reader has not been handed yet (serial > *cursor)
     * and moves *cursor on. Each is held until drop. *unseen grows by the threads that came and
     * went since the last poll; the first poll, with *cursor 0, misses nobody. born may refuse
     * (false: no memory); the thread is then offered again at the next poll.
     */
    enum smp_status (*poll)(void *self, uint64_t *cursor, uint64_t *unseen,
                            bool (*started)(void *context, struct smp_thread *thread),
                            void *context);
    void (*drop)(void *self, struct smp_thread *thread);
    /*
     * Calls the watch's waker at the next birth, once, on any thread. False: there is one already
     * that the reader has not been handed (serial > cursor), or births cannot be told of. The watch
     * is the source's until unwatch, which is harmless where it is not. Who sleeps has seen the
     * waker's calls before watch: else a birth in between would be slept through. One that there is
     * no memory for calls nobody.
     */
    bool (*listen)(void *self, uint64_t cursor, struct smp_start_listener *listen);
    void (*unlisten)(void *self, struct smp_start_listener *listen);
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

/*
 * How a walk that was asked for by signal ended. Each answer is one of these; the codes of
 * AsyncGetCallTrace keep their names so that a user can look them up.
 *
 * X(code, outcome): the outcome of outcome.h it is counted as.
 */
#define SMP_ANSWER_MAP(X)                                                                         \
    X(WHOLE, WALKED)                      /* as AsyncGetCallTrace gave it */                      \
    X(IN_STUB, RECOVERED_IN_STUB)         /* leaf is a pseudo-frame that names the stub */        \
    X(AT_ENTRY, RECOVERED_AT_ENTRY)       /* in a method's prologue: leaf is that method */       \
    X(AT_RETURN, RECOVERED_AT_RETURN)     /* in a method's epilogue */                            \
    X(PUSHED, RECOVERED_REGISTERS_PUSHED) /* amid a method that had registers on the stack */     \
    X(FROM_CALLER,                                                                                \
      RECOVERED_FROM_CALLER)       /* in code that is not Java's; leaf is the Java caller */      \
    X(RETRIED, RECOVERED_BY_RETRY) /* whole, but asked twice */                                   \
    X(EMPTY, NO_JAVA_FRAMES)       /* no Java frames */                                           \
    X(GC_ACTIVE, GC_ACTIVE)                                                                       \
    X(UNKNOWN_NOT_JAVA, UNKNOWN_NOT_JAVA)                                                         \
    X(NOT_WALKABLE_NOT_JAVA, NOT_WALKABLE_NOT_JAVA)                                               \
    X(UNKNOWN_JAVA, UNKNOWN_JAVA)                                                                 \
    X(NOT_WALKABLE_JAVA, NOT_WALKABLE_JAVA)                                                       \
    X(UNKNOWN_STATE, UNKNOWN_THREAD_STATE)                                                        \
    X(THREAD_EXIT, THREAD_ENDED_IN_WALK)                                                          \
    X(DEOPT, DEOPTIMISATION)                                                                      \
    X(NO_METHOD, METHOD_WITHOUT_ID) /* whole, but for the name of a frame: a pseudo-frame */      \
    X(VIRTUAL_CUT,                                                                                \
      VIRTUAL_THREAD_CUT)            /* a virtual thread's stack, cut where it was last parked */ \
    X(UNANSWERED, SIGNAL_UNANSWERED) /* the handler has not run in time */                        \
    X(DROPPED, WALK_BUFFER_FULL)     /* of a CPU timer: there was no room for the walk */

enum smp_answer {
#define X(code, outcome) SMP_ANSWER_##code,
    SMP_ANSWER_MAP(X)
#undef X
        SMP_ANSWER_COUNT
};

/* A virtual thread on the thread that was walked. Borrowed for the call it is handed to. */
struct smp_mounted_thread {
    const char *name; /* UTF-8; NULL: it has none, or it is not known which one it was */
    void *ref;        /* for the namer; NULL: it is not known which one it was */
};

/*
 * Walks running threads without waiting for a safepoint: the thread is asked by a signal and walks
 * itself. request and collect are called on one sampler thread; several sessions have a walker each
 * and share the signal. All NULL where this JVM does not offer it.
 */
struct smp_async_walker {
    const char *name; /* of the engine, for statistics: "HYBRID" */
    /*
     * Asks; the answer comes with a later collect, exactly once, UNANSWERED included. SMP_ESTATE:
     * an older request to this thread is still unanswered, or too many are to others. SMP_EGONE.
     * SMP_EQUOTA: the system's or our queue is full. SMP_EUNSUPPORTED: this thread's tid is not
     * known for sure. SMP_EINVAL: neither is it, and a handshake with it, should it run, would
     * stall virtual threads.
     */
    enum smp_status (*request)(void *self, struct smp_thread *thread, uint64_t token);
    /*
     * Hands on every answer to the requests made so far; waits for missing ones until deadline_ns
     * at most, then tells UNANSWERED. sample is borrowed for the call. guest: not NULL where the
     * stack is a virtual thread's.
     */
    void (*collect)(void *self, int64_t deadline_ns,
                    void (*answered)(void *context, uint64_t token, enum smp_answer answer,
                                     const struct smp_sample *sample,
                                     const struct smp_mounted_thread *mounted),
                    void *context);
    /*
     * Has the thread answered the request that was told UNANSWERED last? Then tells the answer now.
     * A thread handles the signal before it does anything else: it is the stack that it had all the
     * time since the request in which it did not run. False: no answer. The answer to a request
     * that is older than another one to the same thread is dropped.
     */
    bool (*take_late)(void *self, struct smp_thread *thread, uint64_t token,
                      void (*answered)(void *context, uint64_t token, enum smp_answer answer,
                                       const struct smp_sample *sample,
                                       const struct smp_mounted_thread *mounted),
                      void *context);
    void *self;
};

/*
 * Timers on threads' own CPU time: whenever a thread has used an interval more, it is interrupted,
 * where it runs, and walks itself. A thread that waits is left alone. All NULL where this JVM does
 * not offer it. All functions on one sampler thread.
 */
struct smp_cpu_sampled {
    /*
     * A sample of the thread that was started with token; its time is weight intervals. DROPPED:
     * one that was not walked; its weight is that of the next one, or is told here when the timer
     * is stopped. sample and guest: as smp_async_walker's.
     */
    void (*sampled)(void *context, uint64_t token, enum smp_answer answer,
                    const struct smp_sample *sample, const struct smp_mounted_thread *mounted,
                    uint64_t weight);
    void *context;
};

struct smp_cpu_timers {
    /*
     * From now on thread is sampled. from_cpu_ns: what its CPU clock stood at when its time began;
     * -1: now. random, any number: of the phase, so that threads that live less than an interval
     * get their share on average. SMP_EQUOTA: no timer to be had. SMP_EGONE. SMP_ENOMEM.
     * SMP_EUNSUPPORTED: its tid is not known for sure.
     */
    enum smp_status (*start)(void *self, struct smp_thread *thread, int64_t interval_ns,
                             int64_t from_cpu_ns, uint64_t random, uint64_t token, void **timer);
    /* Tells what the timer has left; afterwards nothing of it comes any more. */
    void (*stop)(void *self, void *timer, struct smp_cpu_sampled told);
    /* Tells all samples since the last call. */
    void (*drain)(void *self, struct smp_cpu_sampled told);
    void *self;
};

/* Kinds of threads that are not Java's: a row each in the report. */
#define SMP_OS_THREAD_KIND_MAP(X)       \
    X(GC, "[GC]")                       \
    X(JIT, "[JIT compiler]")            \
    X(VM, "[VM thread]")                \
    X(SERVICE, "[JVM service threads]") \
    X(SAMPLER, "[threads-sampler]")     \
    X(OTHER, "[other native threads]")

enum smp_os_thread_kind {
#define X(code, text) SMP_OS_THREAD_##code,
    SMP_OS_THREAD_KIND_MAP(X)
#undef X
        SMP_OS_THREAD_KIND_COUNT
};

/* The operating system's view of the process's threads. All NULL where there is none. */
struct smp_os_thread_source {
    /*
     * Calls used for every thread for which is_java says no and which has used CPU time since the
     * last read; the first one only begins. id is never one of a Java thread's serials. What a
     * thread used between its last read and its end is lost.
     */
    void (*read)(void *self, bool (*is_java)(void *context, int32_t tid),
                 void (*used)(void *context, enum smp_os_thread_kind kind, uint64_t id,
                              const char *name, int64_t cpu_ns),
                 void *context);
    /* Does it run, or would it if there were a CPU for it? False where that cannot be told. */
    bool (*is_runnable)(void *self, int32_t tid);
    void *self;
};

/* A user's rule from thread to group name. One call per tick for all threads; one for each stack of
 * a virtual thread. */
enum smp_naming { SMP_NAMING_SAME, SMP_NAMING_NAMED, SMP_NAMING_SKIP, SMP_NAMING_FAILED };

struct smp_name_callback {
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
    /* As group_names, for the guest of this ref: never SAME. *name is valid until the next call. */
    enum smp_naming (*guest_name)(void *self, void *ref, const char **name);
    void *self;
};

/* The threads a user chose. Held weakly by the implementation: a thread that has ended is in no
 * selection. */
struct smp_thread_filter {
    bool (*contains)(void *self, struct smp_thread *thread);
    void (*destroy)(void *self);
    void *self;
};

/* What a native thread must do to be allowed to call the functions above and the output. */
struct smp_attach {
    /* The stack of a thread of ours: as large as that of an ordinary Java thread, because it runs
     * the user's Java code. 0: the least, see worker.h. */
    size_t stack_bytes;
    enum smp_status (*enter)(void *self, const char *thread_name); /* on the new thread, first */
    void (*leave)(void *self);                                     /* on that thread, last */
    void *self;
};

/* namer.group_names is used only while options say !default_name_rule. */
struct smp_jvm {
    struct smp_thread_source threads;
    struct smp_walker walker;
    struct smp_cpu_timers cpu;     /* all NULL: clock CPU is not to be had */
    struct smp_async_walker async; /* all NULL: every stack is walked by walker */
    struct smp_name_source names;
    struct smp_name_callback name_callback;
    struct smp_os_thread_source os_threads; /* all NULL: the JVM's own threads are not reported */
};

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jvm.h - what the engine needs of a JVM: its threads, their stacks, their names, as structs of
 * functions.
 *
 * The engine decides which thread is walked and when; the implementations in jvm/ and jni/ know
 * how. The engine sees no type of a JVM, so its tests run as plain C with fakes.
 *
 * Owns     see each struct.
 * Threads  all functions are called on the session's sampler thread, unless one says otherwise.
 * Errors   statuses as listed with each function.
 * Cost     the implementation's.
 */
#ifndef SMP_ENGINE_JVM_H
#define SMP_ENGINE_JVM_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/event.h"
#include "base/status.h"
#include "engine/call_counter.h"
#include "model/group_key.h"
#include "model/sample.h"
#include "model/walk_answer.h"

/*
 * A Java thread. The thread source owns it; a session may use it from started until drop. Members
 * are constant, except the atomic ones, which are set once, at any time.
 */
struct smp_thread {
    uint64_t serial;        /* rises with each thread start, never reused */
    int64_t started_ns;     /* monotonic; for a thread older than the source, when the source found
                             * it */
    int64_t started_cpu_ns; /* its CPU clock at its start: CPU time of native code before it
                             * attached */
    _Atomic int64_t ended_cpu_ns; /* its CPU clock at its end; set before ended_ns; 0: not known */
    _Atomic int64_t ended_ns;     /* 0 while alive */
    _Atomic int32_t os_tid;       /* 0 while not known for sure */
    bool is_daemon;
    /* A service thread of the JVM or an internal thread: never sampled, never listed. A thread may
     * become one at any time. */
    _Atomic bool is_hidden;
};

/* Wakes up a sampler thread when a Java thread starts. Zeroed: listens to nothing. */
struct smp_start_listener {
    struct smp_event *event;         /* constant */
    struct smp_start_listener *next; /* used by the source, as is_in */
    bool is_in;
};

/* Called with a thread that is new to a session. Returns false to refuse it, without memory. */
typedef bool smp_on_thread_started(void *context, struct smp_thread *thread);

struct smp_thread_source {
    /*
     * Calls started for every live thread that is new to this session (serial > *cursor), and moves
     * *cursor on. The session holds each until drop. *unseen grows by the threads that came and
     * went since the last poll; the first poll, with *cursor 0, misses none. A thread that is
     * refused is offered again at the next poll.
     */
    enum smp_status (*poll)(void *self, uint64_t *cursor, uint64_t *unseen,
                            smp_on_thread_started *started, void *context);
    void (*drop)(void *self, struct smp_thread *thread);
    /*
     * Calls the listener's event at the next thread start, once, on any thread. Returns false if a
     * thread has started already (serial > cursor), or this source cannot listen. The source holds
     * the listener until unlisten, which is harmless without listen. Read the event's generation
     * before listen(), or a thread start in between is missed. A thread that finds no memory does
     * not call it.
     */
    bool (*listen)(void *self, uint64_t cursor, struct smp_start_listener *listener);
    void (*unlisten)(void *self, struct smp_start_listener *listener);
    /*
     * Reads the thread's name. *seen is the session's memory of the last name (NULL at first;
     * return it with forget). While the name is the same String, *changed is false and out is
     * untouched. out gets UTF-8 with a NUL, cut between characters at `size` bytes. SMP_EGONE: the
     * thread has ended.
     */
    enum smp_status (*name)(void *self, struct smp_thread *thread, void **seen, char *out,
                            size_t size, bool *changed);
    void (*forget)(void *self, void *seen);
    void *self;
};

/* The state of a thread that does not run, as the JVM and the system report it. */
enum smp_wait_word {
    SMP_WORD_UNKNOWN,
    SMP_WORD_RUNS,       /* it runs, or has just been preempted */
    SMP_WORD_AT_MONITOR, /* it waits for a monitor, or for another thread's class initialiser */
    SMP_WORD_RUNNABLE,   /* not known to wait: in Java code it runs or wants a CPU */
    SMP_WORD_WAITS,      /* it waits in a method, which shows for what */
    SMP_WORD_IN_NATIVE,  /* it is in a native method */
    SMP_WORD_STOPPED,    /* the JVM has stopped it, for a safepoint or a handshake */
    SMP_WORD_IN_IO       /* it is in a system call of input or output */
};

struct smp_walker {
    /*
     * Walks one stack into sample->frames. SMP_OK with count 0: no Java frames. SMP_EGONE,
     * SMP_EPHASE, SMP_ENOMEM, SMP_EVM: no stack; sample's content is undefined then.
     */
    enum smp_status (*walk)(void *self, struct smp_thread *thread, struct smp_sample *sample);
    /*
     * As walk, for a thread that waits: reads its stack without disturbing it, and proves that the
     * stack has not changed since its CPU clock was read as cpu_ns; negative: the caller has not
     * read it. SMP_ESTATE: not proven, or a part is not known yet: use walk. SMP_EUNSUPPORTED: this
     * way is off. NULL: this JVM does not offer it.
     */
    enum smp_status (*walk_outside)(void *self, struct smp_thread *thread, int64_t cpu_ns,
                                    struct smp_sample *sample);
    /* Called before the walk: if the stack is proven later, the thread also had it at the time of
     * this call. NULL: as if it returned UNKNOWN. */
    enum smp_wait_word (*wait_word)(void *self, struct smp_thread *thread);
    void *self;
};

/* What is known about the owner of the lock that a thread waits for. */
enum smp_owner_kind {
    SMP_OWNER_UNKNOWN,  /* the owner of such a lock is never known */
    SMP_OWNER_UNREAD,   /* not known this time */
    SMP_OWNER_NONE,     /* no thread: the lock is being handed over */
    SMP_OWNER_THREAD,   /* a thread of the source; for a virtual thread its carrier */
    SMP_OWNER_READERS,  /* readers, which are only counted */
    SMP_OWNER_PERMITS,  /* threads that have taken permits of a semaphore */
    SMP_OWNER_UNMOUNTED /* a virtual thread that is not mounted */
};

enum { SMP_LOCK_NAME_BYTES = 128 };

struct smp_lock_owner {
    enum smp_owner_kind kind;
    uint64_t serial;                /* of a THREAD */
    bool is_timed;                  /* the wait has a timeout */
    char lock[SMP_LOCK_NAME_BYTES]; /* the class of the lock; "": not known */
};

struct smp_lock_owners {
    /*
     * Reads the owner of the lock that a thread waits for. cpu_ns: the thread's CPU clock as read
     * before; negative: not read. The result is also UNREAD if the thread has run since. Disturbs
     * no thread. NULL: owners are not read.
     */
    void (*read)(void *self, struct smp_thread *waiter, int64_t cpu_ns, struct smp_lock_owner *out);
    void *self;
};

/* The virtual thread that was mounted on the walked thread. Valid during the call. */
struct smp_mounted_thread {
    const char *name; /* UTF-8; NULL: no name, or the virtual thread is not known */
    void *ref;        /* for the name callback; NULL: the virtual thread is not known */
};

/* sample is valid during the call. mounted is not NULL if the stack belongs to a virtual thread. */
typedef void smp_on_answer(void *context, uint64_t token, enum smp_answer answer,
                           const struct smp_sample *sample,
                           const struct smp_mounted_thread *mounted);

/*
 * Walks running threads without waiting for a safepoint: a signal makes a thread that runs Java
 * code walk itself; a thread in native code is read and gets no signal. request and collect are
 * called on one sampler thread; several sessions have a walker each and share the signal. All NULL
 * if this JVM does not offer it.
 */
struct smp_async_walker {
    /*
     * Reads the thread's stack, or sends the signal. cpu_ns: its CPU clock if that stands still
     * because the thread wants a CPU; negative: it may move. A later collect gives the answer,
     * exactly once, UNANSWERED included. SMP_ESTATE: an older request to this thread is unanswered,
     * or too many to others are. SMP_EGONE. SMP_EQUOTA: the system's or our queue is full.
     * SMP_EUNSUPPORTED: this thread's tid is not known for sure, or it is in native code and its
     * stack is not understood, or it blocks the signal. SMP_EINVAL: its tid is not known for sure,
     * and a handshake with it would stall virtual threads if it runs.
     */
    enum smp_status (*request)(void *self, struct smp_thread *thread, int64_t cpu_ns,
                               uint64_t token);
    /*
     * Calls answered for every request so far. Waits for missing answers until deadline_ns; after
     * that the answer is UNANSWERED.
     */
    void (*collect)(void *self, int64_t deadline_ns, smp_on_answer *answered, void *context);
    /*
     * Calls answered if the thread has answered its last UNANSWERED request by now. A thread
     * handles the signal before it does anything else, so it had this stack as long as it has not
     * run since the request. Answers to older requests are dropped. SMP_ESTATE: it has not answered
     * yet. SMP_EGONE: no answer will come, and only another request finds the thread.
     */
    enum smp_status (*take_late)(void *self, struct smp_thread *thread, uint64_t token,
                                 smp_on_answer *answered, void *context);
    /*
     * Returns NULL unless another library has taken the signal and does not pass our signals on.
     * Otherwise returns a text, valid until the next call: which file, and what was done about it.
     * *is_lost: the signal is not sent any more, until a later call returns NULL. The function is
     * NULL if the signal cannot be taken.
     */
    const char *(*check_signal)(void *self, bool *is_lost);
    void *self;
};

/*
 * Timers on the CPU time of threads: whenever a thread has used one more interval, a signal
 * interrupts it and it walks itself. A waiting thread is not interrupted. All NULL if this JVM does
 * not offer it. All functions are called on one sampler thread.
 */
struct smp_cpu_sampled {
    /*
     * A sample of the thread that was started with token; its time is `weight` intervals. DROPPED:
     * not walked; the next sample carries its weight, or this call does if the timer stops. sample,
     * mounted: as for smp_async_walker.
     */
    void (*sampled)(void *context, uint64_t token, enum smp_answer answer,
                    const struct smp_sample *sample, const struct smp_mounted_thread *mounted,
                    uint64_t weight);
    void *context;
};

struct smp_cpu_timers {
    /*
     * Samples the thread from now on. from_cpu_ns: the value of its CPU clock at which its time
     * begins, which may be ahead of now; -1: now. random: any number, for the phase, so that
     * threads that live less than an interval get their share on average. SMP_EQUOTA: the system
     * has no more timers. SMP_EGONE. SMP_ENOMEM. SMP_EUNSUPPORTED: its tid is not known for sure.
     * SMP_EVM: also if the signal is lost.
     */
    enum smp_status (*start)(void *self, struct smp_thread *thread, int64_t interval_ns,
                             int64_t from_cpu_ns, uint64_t random, uint64_t token, void **timer);
    /* Calls sampled for the timer's last samples. No samples follow. */
    void (*stop)(void *self, void *timer, struct smp_cpu_sampled sampled);
    /* Calls sampled for all samples since the last call. */
    void (*drain)(void *self, struct smp_cpu_sampled sampled);
    /* The number of expirations between two drains, for each CPU's running thread, that leave half
     * of the memory for samples free. */
    uint32_t samples_per_cpu;
    /* The system expires the timers of one thread no more often than this, however short the
     * interval. */
    int64_t least_apart_ns;
    void *self;
};

/*
 * A virtual thread that was drawn at random. Valid during the call. If it is mounted, or is not a
 * virtual thread, it has no status, stack or name.
 */
struct smp_drawn_thread {
    double weight; /* the number of threads that it stands for: the inverse of the probability to
                    * be drawn */
    bool is_mounted;
    enum smp_status status; /* of the walk, as smp_walker's */
    const struct smp_sample *sample;
    struct smp_mounted_thread thread;
};

typedef void smp_on_drawn_thread(void *context, const struct smp_drawn_thread *drawn);

/* Virtual threads, mounted or not. All NULL if this JVM does not offer them. */
struct smp_virtual_threads {
    /*
     * Draws about `wanted` of all live threads, each with a probability that does not depend on its
     * activity, and walks those that are not mounted. *population: the number of live threads.
     * SMP_EUNSUPPORTED: not in this JVM, see refusal. SMP_EPHASE, SMP_ENOMEM, SMP_EVM.
     */
    enum smp_status (*draw)(void *self, double wanted, uint64_t *random, uint64_t *population,
                            smp_on_drawn_thread *drawn, void *context);
    /* Returns the reason after SMP_EUNSUPPORTED. Static storage. */
    const char *(*refusal)(const void *self);
    void *self;
};

/* Kinds of threads that are not Java threads: each has a row in the report. */
#define SMP_OS_THREAD_KIND_MAP(X)       \
    X(GC, SMP_JVM_GC_NAME)              \
    X(JIT, SMP_JVM_JIT_NAME)            \
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

typedef bool smp_is_java_tid(void *context, int32_t tid);
/* cpu_ns: used since the last read. id has the bit SMP_SERIAL_OTHER (model/group_key.h). */
typedef void smp_on_os_thread(void *context, enum smp_os_thread_kind kind, uint64_t id,
                              const char *name, int64_t cpu_ns);

/* CPU time of the whole machine since it started, ns. */
struct smp_machine_time {
    int64_t worked_ns;
    int64_t stolen_ns; /* time in which the host of a virtual machine used the CPU for others */
};

/* The operating system's view of the process's threads. All NULL if there is none. */
struct smp_os_thread_source {
    /*
     * Calls used for every thread for which is_java is false and that has used CPU time since the
     * last read. The first read only sets the starting point. A thread's CPU time between its last
     * read and its end is lost.
     */
    void (*read)(void *self, smp_is_java_tid *is_java, smp_on_os_thread *used, void *context);
    /* A Java thread with this tid has ended. If its OS thread continues because native code has
     * detached it, its CPU time so far is not reported: that time belonged to the Java thread. */
    void (*java_ended)(void *self, int32_t tid);
    /* Returns whether the thread would run if it had a CPU. Returns false if that is not known, or
     * if CPUs are idle. May return true for a thread that runs. */
    bool (*is_runnable)(void *self, int32_t tid);
    /*
     * Sets *ns to the time for which the thread has waited for a CPU in all its life. A wait is
     * added when it ends. Returns false if it is not known. NULL: this system does not provide it.
     */
    bool (*queued_ns)(void *self, int32_t tid, int64_t *ns);
    /* Returns for how long in total the CPU quota has stopped threads of the process's control
     * group, in ns; 0: never, or not known. NULL: as 0. */
    int64_t (*throttled_ns)(void *self);
    /* Returns the quota in thousandths of a CPU; 0: none, or not known. NULL: as 0. */
    uint32_t (*quota_milli)(void *self);
    /* Sets both members to 0 if they are not known. NULL: as 0. */
    void (*machine_time)(void *self, struct smp_machine_time *out);
    /* Returns whether the thread is in a system call of input or output. NULL: as false. */
    bool (*is_in_io)(void *self, int32_t tid);
    void *self;
};

/* A user's rule from thread to group name. One call per tick for all threads; one call for each
 * stack of a virtual thread. */
enum smp_naming { SMP_NAMING_SAME, SMP_NAMING_NAMED, SMP_NAMING_SKIP, SMP_NAMING_FAILED };

struct smp_thread_to_name {
    struct smp_thread *thread;
    void **memory; /* the callback's memory, kept between calls; NULL at first, returned with
                    * forget */
    void *record;  /* used by the caller */
};

/* name: UTF-8, only with NAMED. */
typedef void smp_on_name(void *context, void *record, enum smp_naming naming, const char *name);

struct smp_name_callback {
    /*
     * Finds the group names of threads[0..count). Calls result once per thread: SAME as the last
     * time, NAMED, SKIP (do not sample), FAILED (use the raw name). Calls it for no thread if the
     * call itself fails. The threads may be held until the next call; count 0: none is held any
     * more, and no rule is called.
     */
    void (*group_names)(void *self, const struct smp_thread_to_name *threads, size_t count,
                        smp_on_name *result, void *context);
    void (*forget)(void *self, void *memory);
    /* As group_names, for one virtual thread: never SAME. *name is valid until the next call. */
    enum smp_naming (*mounted_name)(void *self, void *ref, const char **name);
    void *self;
};

/* The threads chosen by a user. The implementation holds them weakly: a thread that has ended is in
 * no filter. */
struct smp_thread_filter {
    bool (*contains)(void *self, struct smp_thread *thread);
    void (*destroy)(void *self);
    void *self;
};

/* Attaches a native thread to the JVM, so that it may call the functions above and the outputer. */
struct smp_attach {
    /* The stack size of an internal thread, as large as an ordinary Java thread's because it runs
     * the user's Java code. 0: the minimum, see worker.h. */
    size_t stack_bytes;
    enum smp_status (*enter)(void *self, const char *thread_name); /* on the new thread, first */
    void (*leave)(void *self);                                     /* on that thread, last */
    void *self;
};

/* The longest pauses of threads, if they were long. */
struct smp_pause_source {
    /* The longest handshake, or walk in a signal handler, since the last call; 0: none was long. */
    int64_t (*take_longest)(void *self, bool is_handshake);
    void *self;
};

/* name_callback.group_names is called only while options say !default_name_rule. */
struct smp_jvm {
    struct smp_thread_source threads;
    struct smp_walker walker;
    struct smp_lock_owners owners; /* all NULL: owners are not read */
    struct smp_cpu_timers cpu;     /* all NULL: no clock CPU */
    struct smp_async_walker async; /* all NULL: walker walks every stack */
    struct smp_name_source names;
    struct smp_name_callback name_callback;
    struct smp_os_thread_source os_threads; /* all NULL: the JVM's own threads are not reported */
    struct smp_virtual_threads virtual_threads; /* all NULL: unmounted ones are not sampled */
    struct smp_call_counter calls;              /* all NULL: calls cannot be counted */
    struct smp_pause_source pauses;             /* all NULL: they are not known */
};

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* walk_answer.h - how the walk of a running thread ended, and which outcome that is. */
#ifndef SMP_MODEL_WALK_ANSWER_H
#define SMP_MODEL_WALK_ANSWER_H

/*
 * The codes of AsyncGetCallTrace keep their names, so that a user can look them up.
 *
 * X(code, outcome): the outcome of outcome.h that is counted.
 */
#define SMP_ANSWER_MAP(X)                                                                         \
    X(WHOLE, WALKED)                      /* from its own frame, or from its anchor */            \
    X(IN_STUB, RECOVERED_IN_STUB)         /* leaf is a pseudo-frame that names the stub */        \
    X(AT_ENTRY, RECOVERED_AT_ENTRY)       /* in a method's prologue: leaf is that method */       \
    X(AT_RETURN, RECOVERED_AT_RETURN)     /* in a method's epilogue */                            \
    X(PUSHED, RECOVERED_REGISTERS_PUSHED) /* inside a method that had pushed registers */         \
    X(RETRIED, RECOVERED_BY_RETRY)        /* complete, at a second try */                         \
    X(EMPTY, NO_JAVA_FRAMES)              /* no Java frames */                                    \
    X(GC_ACTIVE, GC_ACTIVE)                                                                       \
    X(UNKNOWN_NOT_JAVA, UNKNOWN_NOT_JAVA)                                                         \
    X(NOT_WALKABLE_NOT_JAVA, NOT_WALKABLE_NOT_JAVA)                                               \
    X(UNKNOWN_JAVA, UNKNOWN_JAVA)                                                                 \
    X(NOT_WALKABLE_JAVA, NOT_WALKABLE_JAVA)                                                       \
    X(UNKNOWN_STATE, UNKNOWN_THREAD_STATE)                                                        \
    X(THREAD_EXIT, THREAD_ENDED_IN_WALK)                                                          \
    X(DEOPT, DEOPTIMISATION)                                                                      \
    X(NO_METHOD,                                                                                  \
      METHOD_WITHOUT_ID) /* complete, but one frame's name is unknown: a pseudo-frame */          \
    X(VIRTUAL_CUT,                                                                                \
      VIRTUAL_THREAD_CUT)            /* a virtual thread's stack, cut where it was last parked */ \
    X(FOREIGN_STACK, FOREIGN_STACK)  /* on a foreign stack, or without room for a walk */         \
    X(UNANSWERED, SIGNAL_UNANSWERED) /* the handler has not run in time */                        \
    X(BLOCKED, SIGNAL_UNANSWERED)    /* the thread blocks the signal: walk it in another way */   \
    X(DROPPED, WALK_BUFFER_FULL)     /* by a CPU timer: there was no room for the walk */
    SMP_ANSWER_MAP(X)
#undef X
        SMP_ANSWER_COUNT
};

/* The virtual thread that was mounted on the walked thread. Borrowed for the call. */
struct smp_mounted_thread {
    const char *name; /* UTF-8; NULL: no name, or the virtual thread is not known */
    void *ref;        /* for the name callback; NULL: the virtual thread is not known */
};

/* sample is borrowed for the call. mounted: not NULL if the stack is a virtual thread's. */
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
    const char *name; /* of the engine, for statistics: "HYBRID" */
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
     * run since the request. False: no answer. Answers to older requests are dropped.
     */
    bool (*take_late)(void *self, struct smp_thread *thread, uint64_t token,
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

enum smp_answer {
#define X(code, outcome) SMP_ANSWER_##code,
    SMP_ANSWER_MAP(X)
#undef X
        SMP_ANSWER_COUNT
};

#endif

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

enum smp_answer {
#define X(code, outcome) SMP_ANSWER_##code,
    SMP_ANSWER_MAP(X)
#undef X
        SMP_ANSWER_COUNT
};

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * status.h - the list of all failures in the core.
 *
 * Threads  any.
 * Cost     constant.
 */
#ifndef SMP_BASE_STATUS_H
#define SMP_BASE_STATUS_H

/* X(code, text): the text is what a user reads, so it is a sentence part without a full stop. */
#define SMP_STATUS_MAP(X)                              \
    X(OK, "ok")                                        \
    X(ENOMEM, "out of memory")                         \
    X(EQUOTA, "memory limit reached")                  \
    X(EINVAL, "invalid argument")                      \
    X(ESTATE, "not allowed in this state")             \
    X(ESTOPPED, "the sampler has been stopped")        \
    X(ESELF, "called from the sampler's own callback") \
    X(EGONE, "the thread has ended")                   \
    X(EPHASE, "the JVM is not in its live phase")      \
    X(EVM, "refused by the JVM")                       \
    X(EIO, "output failed")                            \
    X(ETHREAD, "a thread could not be started")        \
    X(EUNSUPPORTED, "not supported on this JVM")

enum smp_status {
#define X(code, text) SMP_##code,
    SMP_STATUS_MAP(X)
#undef X
        SMP_STATUS_COUNT
};

/* The status must be checked. */
#define SMP_CHECKED __attribute__((warn_unused_result))
/* A parameter that only the function's type requires. */
#define SMP_UNUSED __attribute__((unused))

/* Returns the text of a code; never NULL, static storage. */
const char *smp_status_text(enum smp_status status);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rewrite.h - how the rewriting of a method ended: done, or why the method was left alone.
 *
 * Threads  any.
 * Cost     constant.
 */
#ifndef SMP_CLASSFILE_REWRITE_H
#define SMP_CLASSFILE_REWRITE_H

/* X(code, text): the text follows "left alone, ". */
#define SMP_REWRITE_MAP(X)                                       \
    X(NOT_PLANNED, "not chosen")                                 \
    X(DONE, "instrumented")                                      \
    X(NATIVE_OR_ABSTRACT, "native or abstract")                  \
    X(TOO_LARGE, "too large")                                    \
    X(JUMP_TOO_FAR, "a jump does not reach its target any more") \
    X(UNKNOWN_CODE, "its byte code is not understood")           \
    X(NO_ROOM_IN_POOL, "its class has no room for more constants")

enum smp_rewrite {
#define X(code, text) SMP_REWRITE_##code,
    SMP_REWRITE_MAP(X)
#undef X
        SMP_REWRITE_COUNT
};

/* Never NULL, static storage. */
const char *smp_rewrite_text(enum smp_rewrite rewrite);

#endif

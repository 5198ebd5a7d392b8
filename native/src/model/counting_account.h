/* SPDX-License-Identifier: Apache-2.0 */
/*
 * counting_account.h - what the counting of calls did, left alone and lost in an interval: figures
 * by code, and of those that concern methods the names of some.
 *
 *   left alone, too large: 3 (com.acme.Big.run, com.acme.Huge.go, ... 1 more)
 *
 * A profile that counts nothing has none.
 *
 * Owns     the names.
 * Threads  one writer; any number of readers once it is part of a profile.
 * Errors   name: false where there is no memory: the name is missing, the figure is not.
 *          merge: SMP_ENOMEM, and to can only be destroyed.
 * Cost     figures: constant. A name: a comparison with those of its code that are listed.
 */
#ifndef SMP_MODEL_COUNTING_ACCOUNT_H
#define SMP_MODEL_COUNTING_ACCOUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/status.h"

enum {
    SMP_MAX_COUNTING_NAMES = 20,       /* listed for each code */
    SMP_MAX_COUNTING_NAME_BYTES = 160, /* longer ones end in an ellipsis */
};

/* clang-format off */

/*
 * X(code, merges, text)
 * merges: SUM, of what happened in the interval; HIGHEST, of what is so at its end.
 * The codes are stable: the key in JSON.
 */
#define SMP_COUNTING_MAP(X)                                                                     \
    X(INSTRUMENTED, HIGHEST, "methods counted")                                                 \
    X(BATCHES, SUM, "batches of methods that began to be counted")                              \
    X(ROOTS_NOT_LOADED, HIGHEST, "root not loaded yet")                                         \
    X(ROOTS_NOT_ENTERED, HIGHEST, "root not entered since it is counted")                       \
    X(ROOTS_NOT_FOUND, HIGHEST, "root not found in its class")                                  \
    X(ROOTS_NEVER, HIGHEST, "root never counted, the probes themselves run through it")         \
    X(EXCLUDED, HIGHEST, "excluded by filter")                                                  \
    X(TRIVIAL, HIGHEST, "left alone, trivial")                                                  \
    X(NATIVE_OR_ABSTRACT, HIGHEST, "left alone, native or abstract")                            \
    X(TOO_LARGE, HIGHEST, "left alone, too large")                                              \
    X(JUMP_TOO_FAR, HIGHEST, "left alone, a jump would be too far")                             \
    X(UNKNOWN_CODE, HIGHEST, "left alone, unknown byte code")                                   \
    X(NO_ROOM_IN_POOL, HIGHEST, "left alone, no room in the constant pool")                     \
    X(MALFORMED_CLASS, HIGHEST, "left alone, malformed class")                                  \
    X(REFUSED_CLASS, HIGHEST, "left alone, their class cannot be changed")                      \
    X(CLASS_OVER_MEMORY_LIMIT, HIGHEST, "classes left alone, over the memory limit")            \
    X(OVER_METHOD_LIMIT, HIGHEST, "left alone, over the limit of methods")                      \
    X(DROPPED, HIGHEST, "not counted any more, short and called often")                         \
    X(OVER_NODE_LIMIT, SUM, "calls without a place, over the limit of nodes")                   \
    X(OVER_DEPTH_LIMIT, SUM, "calls without a place, over the limit of depth")                  \
    X(OVER_MEMORY_LIMIT, SUM, "calls without a place, over the memory limit")

/* clang-format on */

enum smp_counting {
#define X(code, merges, text) SMP_COUNTING_##code,
    SMP_COUNTING_MAP(X)
#undef X
        SMP_COUNTING_COUNT
};

const char *smp_counting_code(enum smp_counting counting);
const char *smp_counting_text(enum smp_counting counting);

struct smp_counting_account;

SMP_CHECKED enum smp_status smp_counting_account_create(struct smp_quota *quota,
                                                        struct smp_counting_account **out);
void smp_counting_account_destroy(struct smp_counting_account *account); /* NULL is fine */

/* Adds to the figure. */
void smp_counting_account_add(struct smp_counting_account *account, enum smp_counting counting,
                              uint64_t amount);
/* Lists a name of the figure, which the caller adds to by itself: once, the first
 * SMP_MAX_COUNTING_NAMES. text: UTF-8. */
bool smp_counting_account_name(struct smp_counting_account *account, enum smp_counting counting,
                               const char *text);

uint64_t smp_counting_account_figure(const struct smp_counting_account *account,
                                     enum smp_counting counting);
size_t smp_counting_account_listed(const struct smp_counting_account *account,
                                   enum smp_counting counting);
const char *smp_counting_account_name_at(const struct smp_counting_account *account,
                                         enum smp_counting counting, size_t index);

SMP_CHECKED enum smp_status smp_counting_account_merge(struct smp_counting_account *to,
                                                       const struct smp_counting_account *from);

#endif

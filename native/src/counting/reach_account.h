/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reach_account.h - why nothing is counted, or not all: lines for the account, as data.
 *
 *   root not loaded yet: com.acme.OrderHandler.handle
 *   3 methods instrumented, root not entered since
 *   left alone, too large: com.acme.Big.parse
 *   excluded by filter: com.acme.util.Strings.join
 *   excluded by filter: 12 more methods
 *
 * Threads  as reach.h.
 * Cost     O(rules).
 */
#ifndef SMP_COUNTING_REACH_ACCOUNT_H
#define SMP_COUNTING_REACH_ACCOUNT_H

#include <stdint.h>

#include "counting/reach.h"

/* X(code, text): text stands before what it is about, but in NOT_ENTERED. */
#define SMP_REACH_NOTE_MAP(X)                                                        \
    X(ROOT_NOT_LOADED, "root not loaded yet: ")                                      \
    X(ROOT_NO_METHOD, "root not found in its class: ")                               \
    X(ROOT_NEVER, "root never instrumented, the probes themselves run through it: ") \
    X(ROOT_NO_CODE, "root left alone, native or abstract: ")                         \
    X(NOT_ENTERED, " instrumented, root not entered since")                          \
    X(LEFT_ALONE, "left alone, ")                                                    \
    X(EXCLUDED, "excluded by filter: ")                                              \
    X(METHOD_LIMIT, "not instrumented, over the limit of methods: ")                 \
    X(MEMORY_LIMIT, "class not known, over the memory limit: ")                      \
    X(DROPPED, "not counted any more, called often and short: ")

enum smp_reach_note {
#define X(code, text) SMP_NOTE_##code,
    SMP_REACH_NOTE_MAP(X)
#undef X
        SMP_REACH_NOTE_COUNT
};

struct smp_reach_line {
    enum smp_reach_note note;
    uint64_t count;    /* methods, classes or rules that this line is about */
    int64_t since_ms;  /* wall clock, of what was dropped; else 0 */
    const char *text;  /* the whole line, UTF-8, until the function returns */
    const char *about; /* its end: the rule, method, class; NULL in NOT_ENTERED */
};

typedef void smp_reach_each_line(void *self, const struct smp_reach_line *line);

/* Rules first, in their order. No line where there is nothing to say. */
void smp_reach_account(const struct smp_reach *reach, smp_reach_each_line *each, void *self);

#endif

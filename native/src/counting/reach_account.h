/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reach_account.h - why nothing is counted, or not all: what reach.h knows, as figures and names of
 * the account.
 *
 *   rules       ─► roots that are not loaded, not found, not entered
 *   losses      ─► methods and classes that are left out, and why
 *   left_alone  ─► how many methods the rewriter has left alone, for each reason
 *
 * Threads  as reach.h.
 * Errors   a name there is no memory for is missing; figures are complete.
 * Cost     O(rules + names).
 */
#ifndef SMP_COUNTING_REACH_ACCOUNT_H
#define SMP_COUNTING_REACH_ACCOUNT_H

#include <stdint.h>

#include "classfile/rewrite.h"
#include "counting/reach.h"
#include "model/counting_account.h"

/* left_alone: methods by how their rewriting ended, SMP_REWRITE_COUNT of them. */
void smp_reach_account(const struct smp_reach *reach, const uint64_t *left_alone,
                       struct smp_counting_account *out);

#endif

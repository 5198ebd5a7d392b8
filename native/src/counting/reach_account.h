/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reach_account.h - why nothing is counted, or not all: what reach.h knows, as figures and names of
 * the account.
 *
 *   rules       ─► roots that are not loaded, not found, not entered
 *   losses      ─► methods and classes that are left out, and why
 *
 * Threads  as reach.h.
 * Errors   a name there is no memory for is missing; figures are complete.
 * Cost     O(rules + names).
 */
#ifndef SMP_COUNTING_REACH_ACCOUNT_H
#define SMP_COUNTING_REACH_ACCOUNT_H

#include "counting/reach.h"
#include "model/counting_account.h"

void smp_reach_account(const struct smp_reach *reach, struct smp_counting_account *out);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_graph_account.h - why nothing is counted, or not all: what call_graph.h knows, as figures
 * and names of the account.
 *
 *   rules       ─► roots that are not loaded, not found, not entered
 *   losses      ─► methods and classes that are left out, and why
 *
 * Threads  as call_graph.h.
 * Errors   a name there is no memory for is missing; figures are complete.
 * Cost     O(rules + names).
 */
#ifndef SMP_COUNTING_CALL_GRAPH_ACCOUNT_H
#define SMP_COUNTING_CALL_GRAPH_ACCOUNT_H

#include "counting/call_graph.h"
#include "model/counting_account.h"

void smp_call_graph_account(const struct smp_call_graph *graph, struct smp_counting_account *out);

#endif

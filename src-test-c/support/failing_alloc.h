/* SPDX-License-Identifier: Apache-2.0 */
/*
 * failing_alloc.h - refuses chosen requests of base/alloc.h.
 *
 *   static enum smp_status attempt(void *self)
 *   {
 *       struct smp_tree *tree = NULL;
 *       enum smp_status status = smp_tree_create(NULL, SMP_SAMPLED_MEASURES, 1 << 20, &tree);
 *       smp_tree_destroy(tree);
 *       return status;
 *   }
 *   assert_int_equal(failing_alloc_each_step(attempt, NULL).refused, 3);
 *
 * Owns     nothing; an armed struct must live until it is disarmed. One at a time.
 * Threads  any may allocate; only the test's own thread arms and disarms.
 */
#ifndef SMP_SUPPORT_FAILING_ALLOC_H
#define SMP_SUPPORT_FAILING_ALLOC_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

struct failing_alloc {
    size_t first;            /* the first request refused, from 1; 0: none */
    size_t last;             /* the last one refused */
    _Atomic size_t requests; /* requests since it was armed */
    _Atomic size_t refused;  /* requests that were refused */
};

/* Refuses the requests first..last from now on, counted from 1. first 0 only counts requests. */
void failing_alloc_arm(struct failing_alloc *self, size_t first, size_t last);
/* Allows every request again. Returns the number of refused requests. */
size_t failing_alloc_disarm(struct failing_alloc *self);

/* Performs an operation and undoes it. When it returns, none of its allocations may be left,
 * whatever the status. */
typedef enum smp_status failing_alloc_attempt(void *self);

struct failing_alloc_steps {
    size_t refused;  /* attempts in which a request was refused */
    size_t survived; /* attempts among them that returned SMP_OK */
};

/* Runs attempt with its first request refused, then with only its second one refused, and so on
 * until no request is refused. Fails the test if an attempt leaks bytes, or if the last attempt,
 * without a refusal, does not return SMP_OK. */
struct failing_alloc_steps failing_alloc_each_step(failing_alloc_attempt *attempt, void *self);

#endif

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
 * Threads  any may allocate meanwhile; arming and disarming is for the test's own thread.
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
    _Atomic size_t requests; /* since armed */
    _Atomic size_t refused;  /* of these */
};

/* From now on refuses the requests first..last, counted from 1. first 0 only counts. */
void failing_alloc_arm(struct failing_alloc *self, size_t first, size_t last);
/* Every request is allowed again. Returns how many were refused. */
size_t failing_alloc_disarm(struct failing_alloc *self);

/* Does the thing and undoes it: when it returns, nothing it allocated may be left, whatever it
 * returns. */
typedef enum smp_status failing_alloc_attempt(void *self);

struct failing_alloc_steps {
    size_t refused;  /* attempts in which a request was refused */
    size_t survived; /* those of them that returned SMP_OK all the same */
};

/*
 * Runs attempt with its first request refused, then only its second, ... until it asks for no
 * more. Fails the test when an attempt leaves bytes behind, or when the last one, in which
 * nothing was refused, does not return SMP_OK.
 */
struct failing_alloc_steps failing_alloc_each_step(failing_alloc_attempt *attempt, void *self);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#include "support/failing_alloc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/alloc.h"

/* An attempt with more requests than this is taken for an endless loop. */
enum { MAX_STEPS = 100000 };

static bool refuse(void *self, size_t bytes)
{
    struct failing_alloc *failing = self;
    const size_t number = atomic_fetch_add(&failing->requests, 1) + 1;

    (void)bytes;
    if (failing->first == 0 || number < failing->first || number > failing->last)
        return false;
    atomic_fetch_add(&failing->refused, 1);
    return true;
}

void failing_alloc_arm(struct failing_alloc *self, size_t first, size_t last)
{
    self->first = first;
    self->last = last;
    atomic_init(&self->requests, 0);
    atomic_init(&self->refused, 0);
    smp_alloc_set_refuser(refuse, self);
}

size_t failing_alloc_disarm(struct failing_alloc *self)
{
    smp_alloc_set_refuser(NULL, NULL);
    return atomic_load(&self->refused);
}

struct failing_alloc_steps failing_alloc_each_step(failing_alloc_attempt *attempt, void *self)
{
    struct failing_alloc_steps steps = { 0 };

    for (size_t number = 1; number < MAX_STEPS; number++) {
        const size_t before = smp_alloc_live_bytes();
        struct failing_alloc failing;

        failing_alloc_arm(&failing, number, number);
        const enum smp_status status = attempt(self);
        const size_t refused = failing_alloc_disarm(&failing);

        assert_int_equal(smp_alloc_live_bytes(), before);
        if (refused == 0) {
            assert_int_equal(status, SMP_OK);
            return steps;
        }
        steps.refused++;
        if (status == SMP_OK)
            steps.survived++;
    }
    fail_msg("still allocating after %d steps", MAX_STEPS);
    return steps;
}

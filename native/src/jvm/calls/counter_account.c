/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/calls/counter_account.h"

#include "counting/call_arena.h"
#include "counting/call_past.h"
#include "counting/reach_account.h"
#include "jvm/calls/call_threads.h"
#include "jvm/calls/instrumenter.h"

static void add_classes(void *self, const struct smp_counted_classes *counted)
{
    smp_reach_account(counted->reach, counted->left_alone, self);
    smp_counted_classes_add_unfollowed(counted, self);
}

struct smp_counter_account_seen smp_counter_account_begin(void)
{
    return (struct smp_counter_account_seen){ .lost_threads = smp_call_threads_lost(),
                                               .misplaced = smp_call_past_count() };
}

void smp_counter_account_add(struct smp_counter_account_seen *seen,
                             struct smp_counting_account *out)
{
    const uint64_t lost_roots = smp_call_arena_losses().roots;
    const uint64_t lost_threads = smp_call_threads_lost();
    const uint64_t misplaced = smp_call_past_count();
    struct smp_instrumenter_figures figures;

    smp_instrumenter_get_figures(&figures);
    smp_instrumenter_inspect(add_classes, out);
    smp_counting_account_add(out, SMP_COUNTING_INSTRUMENTED, figures.reach.methods);
    smp_counting_account_add(out, SMP_COUNTING_UNLOADED, figures.reach.retired);
    smp_counting_account_add(out, SMP_COUNTING_BATCHES, figures.batches - seen->batches);
    smp_counting_account_add(out, SMP_COUNTING_MALFORMED_CLASS, figures.malformed);
    smp_counting_account_add(out, SMP_COUNTING_OVER_MEMORY_LIMIT, lost_roots - seen->lost_roots);
    smp_counting_account_add(out, SMP_COUNTING_OVER_ENDED_THREADS,
                             lost_threads - seen->lost_threads);
    smp_counting_account_add(out, SMP_COUNTING_BEGAN_BEFORE, misplaced - seen->misplaced);
    seen->batches = figures.batches;
    seen->lost_roots = lost_roots;
    seen->lost_threads = lost_threads;
    seen->misplaced = misplaced;
}

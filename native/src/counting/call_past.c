/* SPDX-License-Identifier: Apache-2.0 */
#include "counting/call_past.h"

#include <stddef.h>

#include "base/clock.h"
#include "counting/call_shared.h"

#define RELAXED memory_order_relaxed
#define ACQUIRE memory_order_acquire

#define VIRTUAL_NS INT64_C(10000000000)

/* While the number is odd, a stack that was clean may get replaced frames at any time. */
void smp_call_past_begin_probes(void)
{
    atomic_fetch_add(&smp_call_memory->probes, 1);
}

void smp_call_past_end_probes(void)
{
    atomic_store_explicit(&smp_call_memory->probed_ns, smp_clock_ns(), RELAXED);
    atomic_fetch_add(&smp_call_memory->probes, 1);
}

static uint32_t *clean_as_of(const struct smp_call_state *state)
{
    return &smp_call_memory->clean_as_of[state - smp_call_memory->states];
}

void smp_call_past_forget(const struct smp_call_state *state)
{
    *clean_as_of(state) = 0;
}

void smp_call_past_note(int32_t id, int32_t hook_frames)
{
    const struct smp_call_view *const view = smp_call_view();

    if (view->own_method == NULL || id < 0 || id >= SMP_CALL_METHODS ||
        atomic_load_explicit(&smp_call_memory->methods[id], RELAXED) != 0)
        return;
    atomic_store_explicit(&smp_call_memory->methods[id], view->own_method(hook_frames), RELAXED);
}

/* False: its stack was checked after the last probes came, and no replaced code runs in it. */
static bool is_in_doubt(const struct smp_call_state *state, uint32_t probes)
{
    if (probes == 0 || *clean_as_of(state) == probes)
        return false;
    return !state->is_virtual ||
           smp_clock_ns() - atomic_load_explicit(&smp_call_memory->probed_ns, RELAXED) < VIRTUAL_NS;
}

/* Checks the stack from the frame of the call outwards. */
static enum smp_call_look look_below(const struct smp_call_view *view,
                                     const struct smp_call_state *state,
                                     const struct smp_call_node *at, int32_t hook_frames)
{
    uint64_t caller = 0;

    if (at == state->top)
        return view->look(hook_frames, 0);
    if (smp_call_method(at) < SMP_CALL_METHODS)
        caller = atomic_load_explicit(&smp_call_memory->methods[smp_call_method(at)], RELAXED);
    if (caller == 0)
        return SMP_CALL_LOOK_OLDER;
    const enum smp_call_look seen = view->look(hook_frames, caller);
    /* Only the call of an outermost root shows the whole stack that matters. */
    return seen == SMP_CALL_LOOK_NEW && smp_call_parent(at) != state->top ? SMP_CALL_LOOK_OLDER
                                                                          : seen;
}

bool smp_call_past_is_wrong(const struct smp_call_state *state, const struct smp_call_node *at,
                            int32_t hook_frames)
{
    const struct smp_call_view *const view = smp_call_view();
    const uint32_t probes = atomic_load_explicit(&smp_call_memory->probes, ACQUIRE);

    if (view->look == NULL || !is_in_doubt(state, probes))
        return false;
    const enum smp_call_look seen = look_below(view, state, at, hook_frames);
    if (seen == SMP_CALL_LOOK_NEW && probes % 2 == 0)
        *clean_as_of(state) = probes;
    return seen == SMP_CALL_LOOK_OLD;
}

void smp_call_past_misplaced(void)
{
    atomic_fetch_add_explicit(&smp_call_memory->misplaced, 1, RELAXED);
}

uint64_t smp_call_past_count(void)
{
    return atomic_load_explicit(&smp_call_memory->misplaced, RELAXED);
}

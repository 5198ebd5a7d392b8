/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/walk/proven_walk.h"

#include <stdatomic.h>
#include <stdbool.h>

#include "base/clock.h"
#include "jvm/threads/gate.h"
#include "jvm/walk/walk_target.h"

/* The last Java frame, copied from the thread object. */
struct anchor {
    int32_t state;
    struct smp_frames_start start; /* sp is 0 without Java frames */
};

/* Atomic, because the thread may write these words at any time. */
static uintptr_t read_stack_word(uintptr_t object, uint32_t offset)
{
    const uintptr_t *word = (const uintptr_t *)(object + offset); /* NOLINT */

    return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

static int32_t read_state(uintptr_t object, uint32_t offset)
{
    const int32_t *state = (const int32_t *)(object + offset); /* NOLINT */

    return __atomic_load_n(state, __ATOMIC_ACQUIRE);
}

/* The fence orders earlier reads before these. */
static struct anchor read_anchor(const struct smp_jvm_layout *layout, uintptr_t java_thread)
{
    atomic_thread_fence(memory_order_acquire);
    return (struct anchor){
        .state = read_state(java_thread, layout->state),
        .start = { .sp = read_stack_word(java_thread, layout->last_sp),
                   .fp = read_stack_word(java_thread, layout->last_fp),
                   .pc = read_stack_word(java_thread, layout->last_pc) },
    };
}

static bool is_same_anchor(const struct anchor *a, const struct anchor *b)
{
    return a->state == b->state && a->start.sp == b->start.sp && a->start.fp == b->start.fp &&
           a->start.pc == b->start.pc;
}

static bool is_whole(const struct smp_frames *frames)
{
    return (frames->end == SMP_FRAMES_ROOT || frames->end == SMP_FRAMES_FULL) &&
           frames->count <= frames->capacity && frames->words->count <= frames->words->capacity;
}

static void forget_frames(struct smp_frames *out)
{
    out->count = 0;
    out->leaf_count = 0;
    out->omitted = 0;
    out->unsure = 0;
    out->words->count = 0;
}

/* Called inside the gates. */
static enum smp_proof walk_from_anchor(const struct smp_proven_walk *how,
                                       const struct anchor *anchor,
                                       const struct smp_walk_info *info, struct smp_frames *out)
{
    const uintptr_t sp = anchor->start.sp;

    forget_frames(out);
    if (!smp_jvm_is_outside_java(&how->layout.states, anchor->state))
        return SMP_PROOF_IN_JAVA;
    if (sp == 0)
        return SMP_PROOF_PROVEN;
    if (sp < info->stack_low || sp >= info->stack_high || sp % sizeof(uintptr_t) != 0)
        return SMP_PROOF_NO_STACK;
    how->walk(how->self, anchor->start, info->stack_high, out);
    return is_whole(out) ? SMP_PROOF_PROVEN : SMP_PROOF_UNWALKABLE;
}

/* Reads the words again. The fence orders the first reading before this one. */
static bool holds_same_words(const struct smp_frames_words *words)
{
    atomic_thread_fence(memory_order_acquire);
    for (size_t i = 0; i < words->count && i < words->capacity; i++) {
        const struct smp_frames_word *word = &words->read[i];
        const uintptr_t *at = (const uintptr_t *)word->address; /* NOLINT */
        if (__atomic_load_n(at, __ATOMIC_RELAXED) != word->value)
            return false;
    }
    return true;
}

/* A failed walk counts as HAS_RUN if the thread has moved meanwhile. */
static enum smp_proof walk_and_read_again(const struct smp_proven_walk *how,
                                          const struct smp_walk_info *info,
                                          struct smp_thread_walk *walk)
{
    const uintptr_t java_thread = info->java_thread;
    const bool is_watched = walk->watched_ns > 0;
    const int64_t until_ns = is_watched ? smp_clock_ns() + walk->watched_ns : 0;
    const struct anchor first = read_anchor(&how->layout, java_thread);

    if (walk->is_native && !smp_jvm_keeps_frames(&how->layout.states, first.state))
        return SMP_PROOF_IN_JAVA;
    const enum smp_proof proof = walk_from_anchor(how, &first, info, &walk->frames);
    if (proof == SMP_PROOF_IN_JAVA)
        return proof;
    do {
        const bool is_same = holds_same_words(walk->frames.words);
        const struct anchor now = read_anchor(&how->layout, java_thread);
        if (!is_same || !is_same_anchor(&first, &now))
            return SMP_PROOF_HAS_RUN;
    } while (is_watched && smp_clock_ns() < until_ns);
    return proof;
}

/* A failed walk counts as HAS_RUN if the thread has run meanwhile. */
static enum smp_proof walk_between_clocks(const struct smp_proven_walk *how,
                                          struct smp_walk_info *info, struct smp_thread_walk *walk)
{
    int64_t before_ns = walk->cpu_ns;

    walk->cpu_ns = -1;
    if (info->java_thread == 0 || walk->tid <= 0 ||
        (before_ns < 0 && !smp_clock_thread_cpu_ns(walk->tid, &before_ns)))
        return SMP_PROOF_NO_CLOCK;
    smp_walk_target_learn_stack(info, &how->layout);
    const enum smp_proof proof = walk_and_read_again(how, info, walk);
    if (proof == SMP_PROOF_IN_JAVA)
        return proof;
    if (!smp_clock_thread_cpu_ns(walk->tid, &walk->cpu_ns) || walk->cpu_ns != before_ns)
        return SMP_PROOF_HAS_RUN;
    return proof;
}

/* Walks a thread that may run but must not leave native code. */
static enum smp_proof walk_watched(const struct smp_proven_walk *how,
                                   const struct smp_walk_info *info, struct smp_thread_walk *walk)
{
    return info->java_thread != 0 ? walk_and_read_again(how, info, walk) : SMP_PROOF_NO_STACK;
}

static enum smp_proof walk_behind_gates(const struct smp_proven_walk *how,
                                        struct smp_walk_info *info, struct smp_thread_walk *walk)
{
    enum smp_proof proof = SMP_PROOF_ENDED;

    if (!smp_gate_enter(&info->gate))
        return smp_gate_is_unsure(&info->gate) ? SMP_PROOF_UNSURE : SMP_PROOF_ENDED;
    proof =
        walk->watched_ns > 0 ? walk_watched(how, info, walk) : walk_between_clocks(how, info, walk);
    return smp_gate_leave(&info->gate) ? proof : SMP_PROOF_LATE;
}

/* Called inside the gates, so the thread cannot end and free its OSThread. */
static struct smp_thread_words read_words(const struct smp_jvm_layout *layout,
                                          uintptr_t java_thread)
{
    struct smp_thread_words words = { .state = read_state(java_thread, layout->state),
                                      .os_state = -1 };

    if (layout->os_thread != 0) {
        const uintptr_t os_thread = read_stack_word(java_thread, layout->os_thread);
        if (os_thread != 0)
            words.os_state = read_state(os_thread, layout->os_state);
    }
    return words;
}

bool smp_proven_walk_words(const struct smp_proven_walk *how, struct smp_walk_info *info,
                           struct smp_thread_words *out)
{
    bool is_read = false;

    if (!smp_gate_enter(&smp_gate_process))
        return false;
    if (smp_gate_enter(&info->gate)) {
        is_read = info->java_thread != 0;
        if (is_read)
            *out = read_words(&how->layout, info->java_thread);
        is_read = smp_gate_leave(&info->gate) && is_read;
    }
    return smp_gate_leave(&smp_gate_process) && is_read;
}

enum smp_proof smp_proven_walk_thread(const struct smp_proven_walk *how, struct smp_walk_info *info,
                                      struct smp_thread_walk *walk)
{
    enum smp_proof proof = SMP_PROOF_ENDED;

    if (smp_gate_enter(&smp_gate_process)) {
        proof = walk_behind_gates(how, info, walk);
        if (!smp_gate_leave(&smp_gate_process))
            proof = SMP_PROOF_LATE;
    }
    if (proof != SMP_PROOF_PROVEN)
        forget_frames(&walk->frames);
    else if (how->confirm != NULL)
        how->confirm(how->self, &walk->frames);
    return proof;
}

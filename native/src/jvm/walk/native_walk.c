/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/walk/native_walk.h"

#include "handler/caller.h"
#include "jvm/walk/proven_walk.h"

/* Walks from the anchor, with the handler's walk. */
static void walk_into_slot(void *self, struct smp_frames_start start, uintptr_t stack_high,
                           struct smp_frames *out)
{
    struct smp_walk *walk = self;

    (void)stack_high;
    out->end = smp_caller_walk(walk, start) ? SMP_FRAMES_ROOT : SMP_FRAMES_UNWALKABLE;
}

static enum smp_status status_of(enum smp_proof proof)
{
    switch (proof) {
    case SMP_PROOF_PROVEN:
        return SMP_OK;
    case SMP_PROOF_NO_STACK:
    case SMP_PROOF_UNWALKABLE:
        return SMP_EUNSUPPORTED;
    default:
        return SMP_ESTATE;
    }
}

/* Clears the answer of an earlier try, because without Java frames the walk is not called. */
static enum smp_proof prove_native(const struct smp_proven_walk *how, struct smp_walk_info *info,
                                   struct smp_thread_walk *proven)
{
    struct smp_walk *const walk = how->self;

    *walk->answer = (struct smp_walk_answer){ .state = how->layout.states.in_native };
    return smp_proven_walk_thread(how, info, proven);
}

/* If the CPU clock does not move, the stack does not change, and the thread need not be watched. */
static enum smp_proof prove_standing(const struct smp_proven_walk *how, struct smp_walk_info *info,
                                     int32_t tid, int64_t cpu_ns, struct smp_frames_words *words)
{
    struct smp_thread_walk proven = {
        .is_native = true, .tid = tid, .cpu_ns = cpu_ns, .frames = { .words = words }
    };

    return cpu_ns >= 0 ? prove_native(how, info, &proven) : SMP_PROOF_HAS_RUN;
}

static enum smp_proof prove_watched(const struct smp_proven_walk *how, struct smp_walk_info *info,
                                    struct smp_frames_words *words)
{
    struct smp_thread_walk proven = { .is_native = true,
                                      .watched_ns = SMP_NATIVE_WATCHED_NS,
                                      .frames = { .words = words } };
    enum smp_proof proof = SMP_PROOF_HAS_RUN;

    for (unsigned i = 0; i < SMP_NATIVE_TRIES && proof == SMP_PROOF_HAS_RUN; i++)
        proof = prove_native(how, info, &proven);
    return proof;
}

enum smp_status smp_native_walk(struct smp_walk_info *info, int32_t tid, int64_t cpu_ns,
                                struct smp_frames_words *words, struct smp_signal_slot *slot)
{
    struct smp_walk_target target = slot->target;
    struct smp_own_walk own;
    struct smp_walk walk = { .target = &target,
                             .frames = slot->frames,
                             .capacity = slot->capacity,
                             .answer = &slot->answer };
    const struct smp_proven_walk how = { .layout = target.layout,
                                         .walk = walk_into_slot,
                                         .self = &walk };

    if (target.own == NULL || target.java_thread == 0 || target.stack_high == 0)
        return SMP_ESTATE;
    own = *target.own;
    own.words = words;
    target.own = &own;
    enum smp_proof proof = prove_standing(&how, info, tid, cpu_ns, words);
    if (proof == SMP_PROOF_HAS_RUN || proof == SMP_PROOF_NO_CLOCK)
        proof = prove_watched(&how, info, words);
    const enum smp_status status = status_of(proof);
    slot->answer.answer = slot->answer.count > 0 ? SMP_ANSWER_WHOLE : SMP_ANSWER_EMPTY;
    return status;
}

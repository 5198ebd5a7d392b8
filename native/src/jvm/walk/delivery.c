/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/walk/delivery.h"

#include <string.h>

#include "jvm/code/methods.h"
#include "jvm/threads/threads.h"
#include "jvm/threads/virtual_threads.h"
#include "jvm/walk/async.h"

static const struct smp_sample no_sample;

/* ------------------------------------------------------------------------------ walked frames */

_Static_assert(sizeof(struct smp_frame) == sizeof(struct smp_jvm_frame),
               "one takes the other's place");

enum {
    NATIVE_BCI = -1 /* JVMTI's bci of a native method */
};

static int64_t jvmti_bci(int32_t jvm_bci, bool is_leaf)
{
    if (jvm_bci == SMP_JVM_NATIVE_BCI)
        return NATIVE_BCI;
    /* A leaf whose pc has no bci counts as at the beginning of its method. */
    return is_leaf && jvm_bci < 0 ? 0 : jvm_bci;
}

void smp_walked_sample_make(struct smp_jvm_frame *frames, const struct smp_walk_answer *answer,
                            struct smp_sample *sample)
{
    struct smp_frame *out = (struct smp_frame *)(void *)(frames + answer->first);

    for (uint32_t i = 0; i < answer->count; i++) {
        struct smp_jvm_frame from;
        memcpy(&from, &out[i], sizeof(from));
        const struct smp_frame to = { .method = (uint64_t)(uintptr_t)from.method,
                                      .bci = jvmti_bci(from.bci, i == 0) };
        memcpy(&out[i], &to, sizeof(to));
    }
    if (answer->is_pseudo && answer->count > 0)
        out[0].bci = SMP_BCI_PSEUDO;
    *sample = (struct smp_sample){ .frames = out,
                                   .capacity = answer->count,
                                   .count = answer->count,
                                   .leaf_count = answer->count - answer->cut.root_count,
                                   .omitted = answer->cut.omitted,
                                   .spot = answer->spot };
}

bool smp_walked_sample_is_missing(const struct smp_sample *sample)
{
    for (size_t i = 0; i < sample->count; i++) {
        if (sample->frames[i].method == 0)
            return true;
    }
    return false;
}

bool smp_walked_sample_fill(struct smp_sample *sample, const struct smp_frame *other, size_t count)
{
    const size_t common = sample->count < count ? sample->count : count;

    for (size_t i = 1; i <= common; i++) {
        struct smp_frame *frame = &sample->frames[sample->count - i];
        const struct smp_frame *known = &other[count - i];
        if (frame->method == 0)
            frame->method = known->method;
        else if (frame->method != known->method)
            break;
        /* The method is at another call, so the frames above belong to a different call. */
        if (frame->bci != known->bci)
            break;
    }
    return !smp_walked_sample_is_missing(sample);
}

void smp_walked_sample_keep_nameless(struct smp_sample *sample)
{
    for (size_t i = 0; i < sample->count; i++) {
        if (sample->frames[i].method == 0)
            sample->frames[i] =
                (struct smp_frame){ .method = SMP_METHODS_NO_ID, .bci = SMP_BCI_PSEUDO };
    }
}

/* A stack that was already truncated keeps its root end, which may be empty. */
void smp_walked_sample_cut(struct smp_sample *sample, size_t capacity)
{
    const size_t has = sample->omitted > 0 ? sample->count - sample->leaf_count : sample->count;
    const size_t root = has < capacity / 2 ? has : capacity / 2;
    const size_t leaf = capacity - root;

    if (sample->count <= capacity)
        return;
    memmove(sample->frames + leaf, sample->frames + sample->count - root,
            root * sizeof(*sample->frames));
    sample->omitted += sample->count - capacity;
    sample->count = capacity;
    sample->leaf_count = leaf;
}

/* ----------------------------------------------------------------------------------- delivery */

void smp_delivery_none(uint64_t token, enum smp_answer answer, struct smp_delivery_to to)
{
    to.answered(to.context, token, answer, &no_sample, NULL);
}

static void make_sample(const struct smp_delivery *delivery, const struct smp_walked *walked,
                        struct smp_sample *sample)
{
    smp_walked_sample_make(walked->frames, walked->answer, sample);
    smp_named_methods_take(delivery->named, sample, walked->frames,
                           walked->capacity * sizeof(*walked->frames));
}

/* Returns true if each frame has a method now. If not, creates ids for the next walk, if the
 * budget for handshakes allows it. */
static bool fill_ids(struct smp_delivery *delivery, JNIEnv *env, const struct smp_walked *walked,
                     struct smp_sample *sample)
{
    struct smp_handshakes *handshakes = &delivery->handshakes;
    struct smp_sample other;

    if (!walked->is_late && sample->omitted == 0 &&
        smp_handshakes_walk(handshakes, smp_threads_ref(walked->thread), sample->count, &other))
        return smp_walked_sample_fill(sample, other.frames, other.count);
    if (env != NULL)
        (void)smp_handshakes_make_ids(handshakes, env);
    return false;
}

void smp_delivery_stack(struct smp_delivery *delivery, JNIEnv *env, const struct smp_walked *walked,
                        struct smp_delivery_to to)
{
    enum smp_answer answer = walked->answer->answer;
    struct smp_mounted_thread mounted = { 0 };
    struct smp_sample sample;

    if (answer == SMP_ANSWER_WHOLE && walked->is_retried)
        answer = SMP_ANSWER_RETRIED;
    make_sample(delivery, walked, &sample);
    const enum smp_virtual_cut cut = smp_virtual_threads_trim(&sample);
    if (cut != SMP_VIRTUAL_NONE) {
        smp_threads_walk_info(walked->thread)->is_carrier = true;
        mounted = smp_virtual_threads_describe(env, walked->mounted, delivery->name,
                                               sizeof(delivery->name));
    }
    if (cut == SMP_VIRTUAL_CUT)
        answer = SMP_ANSWER_VIRTUAL_CUT;
    else if (cut == SMP_VIRTUAL_WHOLE && !walked->is_late && smp_async_reads_heap())
        smp_mounted_check(&delivery->mounted_check, walked->mounted, &sample);
    if (sample.count == 0)
        answer = SMP_ANSWER_EMPTY;
    if (smp_walked_sample_is_missing(&sample) && !fill_ids(delivery, env, walked, &sample)) {
        smp_walked_sample_keep_nameless(&sample);
        answer = SMP_ANSWER_NO_METHOD;
    }
    smp_walked_sample_cut(&sample, delivery->capacity);
    to.answered(to.context, walked->token, answer, &sample,
                cut != SMP_VIRTUAL_NONE ? &mounted : NULL);
}

bool smp_delivery_waiting(struct smp_delivery *delivery, const struct smp_walked *walked,
                          struct smp_delivery_to to)
{
    const struct smp_jvm_states *states = &delivery->states;
    const int32_t state = walked->answer->state;
    struct smp_sample sample;

    if (state == 0 || (state != states->blocked && state != states->in_native))
        return false;
    if (!smp_handshakes_walk(&delivery->handshakes, smp_threads_ref(walked->thread), 0, &sample) ||
        sample.count == 0)
        return false;
    smp_walked_sample_cut(&sample, delivery->capacity);
    to.answered(to.context, walked->token, SMP_ANSWER_RETRIED, &sample, NULL);
    return true;
}

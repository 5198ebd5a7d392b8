/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/walk/delivery.h"

#include "jvm/threads/threads.h"
#include "jvm/threads/virtual_threads.h"
#include "jvm/walk/async.h"
#include "jvm/walk/walked_sample.h"

static const struct smp_sample no_sample;

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

/* True: every frame has its method. False: the ids are made for the next walk, if that is allowed
 * now. */
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

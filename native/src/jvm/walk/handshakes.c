/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/walk/handshakes.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "jvm/code/method_ids.h"
#include "jvm/threads/virtual_threads.h"
#include "jvm/walk/by_jvmti.h"

void smp_handshakes_init(struct smp_handshakes *handshakes)
{
    *handshakes = (struct smp_handshakes){ .saved_ns = SMP_HANDSHAKES_SAVED_NS,
                                           .counted_ns = smp_clock_ns() };
}

void smp_handshakes_fini(struct smp_handshakes *handshakes)
{
    smp_free(NULL, handshakes->frames);
}

static bool has_saved_time(struct smp_handshakes *handshakes, int64_t now_ns)
{
    const int64_t earned_ns = (now_ns - handshakes->counted_ns) / 100 * SMP_HANDSHAKES_PERCENT;

    handshakes->counted_ns = now_ns;
    if (earned_ns >= SMP_HANDSHAKES_SAVED_NS - handshakes->saved_ns)
        handshakes->saved_ns = SMP_HANDSHAKES_SAVED_NS;
    else
        handshakes->saved_ns += earned_ns;
    return handshakes->saved_ns > 0;
}

static bool reserve_handshake_frames(struct smp_handshakes *handshakes, size_t count)
{
    if (count <= handshakes->capacity)
        return true;
    smp_free(NULL, handshakes->frames);
    handshakes->frames = smp_alloc(NULL, count * sizeof(*handshakes->frames));
    handshakes->capacity = handshakes->frames != NULL ? count : 0;
    return handshakes->frames != NULL;
}

bool smp_handshakes_walk(struct smp_handshakes *handshakes, jobject thread, size_t frames,
                         struct smp_sample *out)
{
    const int64_t start_ns = smp_clock_ns();
    const size_t wanted = SMP_HANDSHAKES_FRAMES + 2 * frames;
    const size_t room = wanted < SMP_HANDSHAKES_MOST ? wanted : SMP_HANDSHAKES_MOST;
    size_t count = 0;

    if (smp_virtual_threads_in_use() || !has_saved_time(handshakes, start_ns) ||
        !reserve_handshake_frames(handshakes, room))
        return false;
    const enum smp_status status = smp_by_jvmti_fetch(thread, handshakes->frames, room, &count);
    handshakes->saved_ns -= smp_clock_ns() - start_ns;
    *out = (struct smp_sample){
        .frames = handshakes->frames, .capacity = count, .count = count, .leaf_count = count
    };
    return status == SMP_OK && count < room;
}

bool smp_handshakes_make_ids(struct smp_handshakes *handshakes, JNIEnv *env)
{
    const int64_t start_ns = smp_clock_ns();

    if (!smp_virtual_threads_in_use() || !has_saved_time(handshakes, start_ns))
        return false;
    const enum smp_status status = smp_method_ids_make_all(env);
    handshakes->saved_ns -= smp_clock_ns() - start_ns;
    return status == SMP_OK;
}

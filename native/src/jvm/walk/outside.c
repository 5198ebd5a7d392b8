/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/walk/outside.h"

#include <stdatomic.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/once.h"
#include "hotspot/frames.h"
#include "jvm/agent/agent.h"
#include "jvm/check/check.h"
#include "jvm/threads/gate.h"
#include "jvm/threads/threads.h"
#include "jvm/walk/async.h"
#include "jvm/walk/by_jvmti.h"
#include "jvm/walk/cross_check.h"
#include "jvm/walk/wait_word.h"

enum { DEATH_MOST_MS = 1000 /* longest wait for walks, which take microseconds */ };

static struct {
    struct smp_once once;
    _Atomic bool usable;
    /* written only by open */
    struct smp_proven_walk how; /* constant while usable */
} state = { .once = SMP_ONCE_INIT };

struct smp_outside {
    const struct smp_proven_walk *how; /* NULL: state.how */
    size_t capacity;
    struct smp_raw_frame *raw;
    uint64_t *ids;
    char *names;                     /* copied by the last walk, of methods without an id */
    struct smp_named_methods *named; /* NULL: copied names are not used */
    struct smp_frames_words words;
    struct smp_walker by_jvmti;
    struct smp_cross_check check;
    uint64_t counts[SMP_PROOF_COUNT];
};

/* ---------------------------------------------------------------------------------- up and down */

bool smp_outside_is_usable(void)
{
    return atomic_load_explicit(&state.usable, memory_order_acquire) && smp_agent_is_live() &&
           smp_hotspot_is_usable();
}

static void walk_outside_frames(void *self, struct smp_frames_start start, uintptr_t stack_high,
                                struct smp_frames *out)
{
    const struct smp_own_walk *own = self;

    smp_frames_walk(own->layout, own->cache, start, stack_high, out);
    if (out->names != NULL)
        smp_frame_names_copy(own->layout, out, out->names, out->names_bytes);
}

static void confirm_frames(void *self, const struct smp_frames *frames)
{
    const struct smp_own_walk *own = self;

    smp_frames_confirm(own->cache, frames);
}

void smp_outside_open(void)
{
    if (!smp_once_open(&state.once))
        return;
    if (smp_async_is_usable() && smp_async_walks_by_itself()) {
        state.how = (struct smp_proven_walk){ .layout = smp_async_get()->layout.jvm,
                                              .walk = walk_outside_frames,
                                              .confirm = confirm_frames,
                                              .self = (void *)(uintptr_t)smp_async_own_walk() };
        smp_gate_open(&smp_gate_process);
        atomic_store_explicit(&state.usable, true, memory_order_release);
    }
    smp_once_finish(&state.once, true);
}

/* Called when no session uses walkers any more. */
void smp_outside_close(void)
{
    if (!smp_once_close(&state.once))
        return;
    atomic_store(&state.usable, false);
    smp_once_finish(&state.once, false);
}

void smp_outside_vm_dies(void)
{
    atomic_store(&state.usable, false);
    smp_gate_close(&smp_gate_process);
    (void)smp_gate_wait(&smp_gate_process, DEATH_MOST_MS);
}

/* ---------------------------------------------------------------------------------------- walks */

/* Returns false if a method has neither an id nor a copied name. */
static bool fill_sample(const struct smp_outside *walker, const struct smp_frames *frames,
                        struct smp_sample *sample)
{
    bool is_complete = true;

    for (size_t i = 0; i < frames->count; i++)
        sample->frames[i] =
            (struct smp_frame){ .method = walker->ids[i], .bci = walker->raw[i].bci };
    sample->count = frames->count;
    sample->leaf_count = frames->leaf_count;
    sample->omitted = frames->omitted;
    smp_named_methods_take(walker->named, sample, walker->names, SMP_OUTSIDE_NAMES_BYTES);
    for (size_t i = 0; i < frames->count; i++)
        is_complete = is_complete && sample->frames[i].method != 0;
    return is_complete;
}

/* Returns false if JVMTI's stack differs. After two differences in a row disables our own walks,
 * because our layout is wrong for this JVM. */
static bool is_right(struct smp_outside *walker, struct smp_thread *thread,
                     const struct smp_sample *sample)
{
    char difference[SMP_CROSS_CHECK_REASON_BYTES];
    char reason[SMP_LAYOUT_REASON_BYTES];

    /* JVMTI hides frames of a carrier while a virtual thread is being mounted or unmounted. */
    if (smp_threads_walk_info(thread)->is_carrier)
        return true;
    if (smp_cross_check_end(&walker->check, &walker->by_jvmti, thread, sample, difference))
        return true;
    if (!smp_cross_check_is_second(&walker->check))
        return false;
    (void)snprintf(reason, sizeof(reason), "found wrong, %s", difference);
    smp_hotspot_refuse(reason);
    return false;
}

static bool is_off(const struct smp_outside *walker)
{
    return walker->how == NULL ? !smp_outside_is_usable() || smp_async_own_walk() == NULL
                               : smp_hotspot_is_refused();
}

static const struct smp_proven_walk *how_of(const struct smp_outside *walker)
{
    return walker->how != NULL ? walker->how : &state.how;
}

/* Confirms that a waiting thread is alive without a handshake, because there may be thousands of
 * threads when sampling starts. */
static void confirm_waiting(struct smp_thread *thread)
{
    struct smp_gate *gate = &smp_threads_walk_info(thread)->gate;

    if (!smp_gate_is_unsure(gate) || !smp_agent_is_live())
        return;
    JNIEnv *env = smp_agent_env();
    if (env != NULL &&
        (smp_threads_status(env, smp_threads_ref(thread)) & JVMTI_THREAD_STATE_WAITING) != 0)
        smp_gate_confirm(gate);
}

static enum smp_proof prove(struct smp_outside *walker, struct smp_thread *thread,
                            struct smp_thread_walk *walk)
{
    const struct smp_proven_walk *how = how_of(walker);
    enum smp_proof proof = SMP_PROOF_HAS_RUN;

    confirm_waiting(thread);
    for (unsigned i = 0; i < SMP_OUTSIDE_TRIES && proof == SMP_PROOF_HAS_RUN; i++) {
        smp_cross_check_begin(&walker->check, thread);
        proof = smp_proven_walk_thread(how, smp_threads_walk_info(thread), walk);
        walker->counts[proof]++;
    }
    return proof;
}

static enum smp_status walk_from_outside(void *self, struct smp_thread *thread, int64_t cpu_ns,
                                         struct smp_sample *sample)
{
    struct smp_outside *walker = self;
    struct smp_thread_walk walk = { .tid = thread->os_tid,
                                    .cpu_ns = cpu_ns,
                                    .frames = { .raw = walker->raw,
                                                .ids = walker->ids,
                                                .names =
                                                    walker->named != NULL ? walker->names : NULL,
                                                .names_bytes = SMP_OUTSIDE_NAMES_BYTES,
                                                .words = &walker->words } };

    if (is_off(walker))
        return SMP_EUNSUPPORTED;
    walk.frames.capacity =
        sample->capacity < walker->capacity ? sample->capacity : walker->capacity;
    if (prove(walker, thread, &walk) != SMP_PROOF_PROVEN)
        return SMP_ESTATE;
    return fill_sample(walker, &walk.frames, sample) && is_right(walker, thread, sample)
               ? SMP_OK
               : SMP_ESTATE;
}

static enum smp_wait_word read_wait_word(void *self, struct smp_thread *thread)
{
    const struct smp_outside *walker = self;

    return smp_wait_word_read(is_off(walker) ? NULL : how_of(walker), thread);
}

/* A stack with frames proves that the thread's ThreadEnd event is still to come. */
static enum smp_status walk_by_handshake(void *self, struct smp_thread *thread,
                                         struct smp_sample *sample)
{
    const struct smp_outside *walker = self;
    const enum smp_status status = walker->by_jvmti.walk(walker->by_jvmti.self, thread, sample);

    if (status == SMP_OK && sample->count > 0)
        smp_gate_confirm(&smp_threads_walk_info(thread)->gate);
    return status;
}

/* ------------------------------------------------------------------------------ create, destroy */

enum smp_status smp_outside_create(size_t capacity, const struct smp_proven_walk *how,
                                   struct smp_outside **out)
{
    struct smp_outside *walker = NULL;

    if (capacity < 2)
        return SMP_EINVAL;
    walker = smp_alloc(NULL, sizeof(*walker));
    if (walker == NULL)
        return SMP_ENOMEM;
    walker->how = how;
    walker->capacity = capacity;
    walker->by_jvmti = smp_by_jvmti();
    walker->raw = smp_alloc(NULL, capacity * sizeof(*walker->raw));
    walker->ids = smp_alloc(NULL, capacity * sizeof(*walker->ids));
    walker->names = smp_alloc(NULL, SMP_OUTSIDE_NAMES_BYTES);
    walker->words = (struct smp_frames_words){
        .read = smp_alloc(NULL, SMP_PROVEN_WORDS * sizeof(*walker->words.read)),
        .capacity = SMP_PROVEN_WORDS
    };
    if (walker->raw == NULL || walker->ids == NULL || walker->names == NULL ||
        walker->words.read == NULL || smp_cross_check_init(&walker->check, capacity) != SMP_OK) {
        smp_outside_destroy(walker);
        return SMP_ENOMEM;
    }
    *out = walker;
    return SMP_OK;
}

void smp_outside_destroy(struct smp_outside *walker)
{
    if (walker == NULL)
        return;
    smp_cross_check_fini(&walker->check);
    smp_free(NULL, walker->raw);
    smp_free(NULL, walker->ids);
    smp_free(NULL, walker->names);
    smp_free(NULL, walker->words.read);
    smp_free(NULL, walker);
}

void smp_outside_name_by(struct smp_outside *walker, struct smp_named_methods *named)
{
    walker->named = named;
}

struct smp_walker smp_outside_functions(struct smp_outside *walker)
{
    return (struct smp_walker){
        .walk = walk_by_handshake,
        .walk_outside = walk_from_outside,
        .wait_word = read_wait_word,
        .self = walker,
    };
}

uint64_t smp_outside_count(const struct smp_outside *walker, enum smp_proof proof)
{
    return walker->counts[proof];
}

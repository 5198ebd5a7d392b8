/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/check/check.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/safe_read.h"
#include "hotspot/code_copies.h"
#include "hotspot/method_table.h"
#include "jvm/check/check_code.h"
#include "jvm/check/check_stacks.h"

enum { TRIES = 2 };

/* Whether the layout may be used. */
enum answer { UNKNOWN, FOUND, PROVED, REFUSED };

static struct {
    _Atomic int answer;
    struct smp_layout layout; /* constant since FOUND */
    pthread_mutex_t mutex;    /* guards reason */
    char reason[SMP_LAYOUT_REASON_BYTES];
    _Atomic bool replays;
    _Atomic uint64_t replayed; /* records of the current replay */
    _Atomic uint64_t seen;     /* all records, compared or not */
    _Atomic uint64_t records;
    _Atomic uint64_t frames;
    _Atomic uint64_t given_up;
    _Atomic bool knows_use; /* reading the state of code has worked */
} state = { .mutex = PTHREAD_MUTEX_INITIALIZER };

static int answer_now(void)
{
    return atomic_load_explicit(&state.answer, memory_order_acquire);
}

bool smp_hotspot_is_usable(void)
{
    return answer_now() == PROVED;
}

bool smp_hotspot_is_refused(void)
{
    return answer_now() == REFUSED;
}

bool smp_hotspot_keeps_ids(void)
{
    const int now = answer_now();

    return now != UNKNOWN && now != REFUSED && smp_method_table_serves(&state.layout);
}

const struct smp_layout *smp_hotspot_layout(void)
{
    return answer_now() == UNKNOWN ? NULL : &state.layout;
}

void smp_hotspot_refuse(const char *reason)
{
    pthread_mutex_lock(&state.mutex);
    if (state.reason[0] == '\0')
        (void)snprintf(state.reason, sizeof(state.reason), "%s", reason);
    pthread_mutex_unlock(&state.mutex);
    atomic_store(&state.answer, REFUSED);
}

void smp_hotspot_refusal(char out[SMP_LAYOUT_REASON_BYTES])
{
    pthread_mutex_lock(&state.mutex);
    (void)snprintf(out, SMP_LAYOUT_REASON_BYTES, "%s", state.reason);
    pthread_mutex_unlock(&state.mutex);
}

enum smp_status smp_hotspot_find(const struct smp_exports *exports, int version)
{
    char text[SMP_LAYOUT_REASON_BYTES] = "";
    const char *reason = NULL;

    if (answer_now() != UNKNOWN)
        return answer_now() == REFUSED ? SMP_EUNSUPPORTED : SMP_OK;
    if (!smp_layout_find(exports, version, &state.layout, text))
        reason = text;
    if (reason == NULL)
        reason = smp_safe_read_refusal();
    if (reason == NULL)
        reason = smp_check_heaps(&state.layout);
    if (reason != NULL) {
        smp_hotspot_refuse(reason);
        return SMP_EUNSUPPORTED;
    }
    atomic_store_explicit(&state.answer, FOUND, memory_order_release);
    return SMP_OK;
}

/* Does not overwrite a refusal by another thread. */
static enum smp_status set_proved(void)
{
    int found = FOUND;

    return atomic_compare_exchange_strong(&state.answer, &found, PROVED) ? SMP_OK
                                                                         : SMP_EUNSUPPORTED;
}

enum smp_status smp_hotspot_prove(const struct smp_check_caller *caller)
{
    const char *reason = NULL;

    if (answer_now() != FOUND)
        return answer_now() == PROVED ? SMP_OK : SMP_EUNSUPPORTED;
    const enum smp_status status = smp_check_stacks(&state.layout, caller, &reason);
    if (status != SMP_OK)
        return status;
    if (reason != NULL)
        smp_hotspot_refuse(reason);
    return set_proved();
}

/* Counts a record, and returns whether to compare it. */
static bool takes_record(void)
{
    uint64_t seen = 0;

    if (atomic_load_explicit(&state.replays, memory_order_relaxed) &&
        atomic_fetch_add_explicit(&state.replayed, 1, memory_order_relaxed) >= SMP_CHECK_REPLAYED)
        return false;
    seen = atomic_fetch_add_explicit(&state.seen, 1, memory_order_relaxed);
    return seen < SMP_CHECK_ALL_RECORDS || seen % SMP_CHECK_ONE_IN == 0;
}

void smp_hotspot_replay(bool begins)
{
    atomic_store_explicit(&state.replayed, 0, memory_order_relaxed);
    atomic_store_explicit(&state.replays, begins, memory_order_relaxed);
}

/* Waits for the end of a safepoint, as any call into the JVM does. */
static void await_safepoint(jvmtiEnv *jvmti, jmethodID method)
{
    char *name = NULL;

    (void)(*jvmti)->GetMethodName(jvmti, method, &name, NULL, NULL);
    (void)(*jvmti)->Deallocate(jvmti, (unsigned char *)name);
}

static bool is_given_up(const struct smp_check_method *event)
{
    return atomic_load(&state.knows_use) &&
           smp_check_use(&state.layout, event->start) == SMP_CHECK_GIVEN_UP;
}

static void count_equal(const struct smp_check_method *event, uint64_t frames)
{
    atomic_fetch_add_explicit(&state.records, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&state.frames, frames, memory_order_relaxed);
    if (!atomic_load_explicit(&state.knows_use, memory_order_relaxed) &&
        smp_check_use(&state.layout, event->start) == SMP_CHECK_IN_USE)
        atomic_store(&state.knows_use, true);
}

static void compare(jvmtiEnv *jvmti, const struct smp_check_method *event)
{
    const char *reason = NULL;

    for (int i = 0; i < TRIES; i++) {
        uint64_t frames = 0;
        reason = smp_check_method(&state.layout, event, &frames);
        if (reason == NULL) {
            count_equal(event, frames);
            return;
        }
        await_safepoint(jvmti, event->method);
        if (is_given_up(event)) {
            atomic_fetch_add_explicit(&state.given_up, 1, memory_order_relaxed);
            return;
        }
    }
    atomic_fetch_add_explicit(&state.records, 1, memory_order_relaxed);
    smp_hotspot_refuse(reason);
}

void smp_hotspot_record(jvmtiEnv *jvmti, jmethodID method, uintptr_t start, size_t size,
                        const void *info)
{
    const struct smp_check_method event = {
        .method = method, .start = start, .size = size, .info = info
    };

    if (answer_now() == UNKNOWN || smp_hotspot_is_refused() || !takes_record())
        return;
    compare(jvmti, &event);
}

void smp_hotspot_record_stub(const char *name, uintptr_t start, size_t size)
{
    if (answer_now() == UNKNOWN || smp_hotspot_is_refused() || strcmp(name, "Interpreter") != 0)
        return;
    const char *reason = smp_check_interpreter(&state.layout, start, size);
    if (reason != NULL)
        smp_hotspot_refuse(reason);
}

void smp_hotspot_get_counts(struct smp_check_counts *out)
{
    *out = (struct smp_check_counts){ .records = atomic_load(&state.records),
                                      .frames = atomic_load(&state.frames),
                                      .given_up = atomic_load(&state.given_up),
                                      .refusals = smp_hotspot_is_refused() ? 1 : 0 };
}

void smp_hotspot_forget(void)
{
    atomic_store(&state.answer, UNKNOWN);
    atomic_store(&state.seen, 0);
    atomic_store(&state.records, 0);
    atomic_store(&state.frames, 0);
    atomic_store(&state.given_up, 0);
    atomic_store(&state.knows_use, false);
    smp_check_forget();
    smp_method_table_empty();
    smp_code_copies_empty();
    state.reason[0] = '\0';
}

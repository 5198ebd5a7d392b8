/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/code/method_ids.h"

#include <stdatomic.h>
#include <stdbool.h>

#include "hotspot/method_table.h"
#include "jvm/agent/agent.h"
#include "jvm/agent/jdk.h"
#include "jvm/agent/jvmti_status.h"
#include "jvm/check/check.h"
#include "jvm/code/class_events.h"

enum { EXTRA_REFS = 16 };

static struct {
    _Atomic bool is_open;
    _Atomic uint64_t made;
} ids;

uint64_t smp_method_ids_made(void)
{
    return atomic_load(&ids.made);
}

/* Our own walk then finds the ids without reading the JVM's memory. */
static void offer_ids(const jmethodID *methods, jint count)
{
    if (!smp_hotspot_keeps_ids())
        return;
    for (jint i = 0; i < count; i++)
        smp_method_table_offer((uint64_t)(uintptr_t)methods[i]);
}

/* Returns the number of methods; 0 for a class that is not prepared, whose methods do not run. */
static uint64_t make_ids_of(jvmtiEnv *jvmti, jclass owner)
{
    jint count = 0;
    jmethodID *methods = NULL;

    if ((*jvmti)->GetClassMethods(jvmti, owner, &count, &methods) != JVMTI_ERROR_NONE)
        return 0;
    offer_ids(methods, count);
    (void)(*jvmti)->Deallocate(jvmti, (unsigned char *)(void *)methods);
    return count > 0 ? (uint64_t)count : 0;
}

static enum smp_status make_ids_of_loaded(jvmtiEnv *jvmti, uint64_t *made)
{
    jint count = 0;
    jclass *classes = NULL;
    const enum smp_status status =
        smp_jvmti_status((*jvmti)->GetLoadedClasses(jvmti, &count, &classes));

    for (jint i = 0; status == SMP_OK && i < count && *made < SMP_IDS_LIMIT; i++)
        *made += make_ids_of(jvmti, classes[i]);
    (void)(*jvmti)->Deallocate(jvmti, (unsigned char *)(void *)classes);
    return status;
}

/* Past the limit the event of each class would cost time for nothing. */
static void stop_at_limit(void)
{
    if (smp_method_ids_made() >= SMP_IDS_LIMIT)
        smp_prepare_event_set(SMP_PREPARE_METHOD_IDS, false);
}

enum smp_status smp_method_ids_make_all(JNIEnv *env)
{
    enum smp_status status = SMP_OK;
    uint64_t made = 0;
    uint64_t before = 0;

    if (!smp_agent_is_live())
        return SMP_EPHASE;
    if (smp_method_ids_made() >= SMP_IDS_LIMIT)
        return SMP_EQUOTA;
    if (!smp_local_frame_push(env, EXTRA_REFS))
        return SMP_ENOMEM;
    status = make_ids_of_loaded(smp_agent_jvmti(), &made);
    smp_local_frame_pop(env);
    /* Most ids were made before. Ids of unloaded classes are not counted. */
    before = smp_method_ids_made();
    while (before < made && !atomic_compare_exchange_weak(&ids.made, &before, made))
        continue;
    stop_at_limit();
    return status;
}

void JNICALL smp_method_ids_on_prepare(jvmtiEnv *jvmti, JNIEnv *env, jthread thread,
                                       jclass prepared)
{
    (void)env;
    (void)thread;
    if (!atomic_load(&ids.is_open) || smp_method_ids_made() >= SMP_IDS_LIMIT)
        return;
    atomic_fetch_add(&ids.made, make_ids_of(jvmti, prepared));
    stop_at_limit();
}

/* Switches the event on first, so that no class is prepared in between. */
void smp_method_ids_open(JNIEnv *env)
{
    atomic_store(&ids.made, 0);
    atomic_store(&ids.is_open, true);
    smp_prepare_event_set(SMP_PREPARE_METHOD_IDS, true);
    (void)!smp_method_ids_make_all(env);
}

void smp_method_ids_close(void)
{
    if (!atomic_exchange(&ids.is_open, false))
        return;
    smp_prepare_event_set(SMP_PREPARE_METHOD_IDS, false);
}

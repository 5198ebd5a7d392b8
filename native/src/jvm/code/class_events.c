/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/code/class_events.h"

#include <stdatomic.h>
#include <string.h>

#include "jvm/agent/agent.h"

static struct {
    _Atomic bool has_event;
    _Atomic uint64_t epoch;
} unloads = { .epoch = 1 };

uint64_t smp_class_unload_epoch(void)
{
    return atomic_load_explicit(&unloads.has_event, memory_order_acquire)
               ? atomic_load_explicit(&unloads.epoch, memory_order_acquire)
               : atomic_fetch_add(&unloads.epoch, 1) + 1;
}

/* The further arguments differ from version to version, and are not read. */
static void JNICALL on_class_unload(jvmtiEnv *jvmti, ...)
{
    (void)jvmti;
    atomic_fetch_add(&unloads.epoch, 1);
}

static void free_extension(jvmtiEnv *jvmti, jvmtiExtensionEventInfo *event)
{
    for (jint i = 0; i < event->param_count; i++)
        (void)(*jvmti)->Deallocate(jvmti, (unsigned char *)event->params[i].name);
    (void)(*jvmti)->Deallocate(jvmti, (unsigned char *)event->params);
    (void)(*jvmti)->Deallocate(jvmti, (unsigned char *)event->id);
    (void)(*jvmti)->Deallocate(jvmti, (unsigned char *)event->short_description);
}

/* Returns the number of the event, or -1 if there is none. */
static jint find_event(jvmtiEnv *jvmti)
{
    jint count = 0;
    jint found = -1;
    jvmtiExtensionEventInfo *events = NULL;

    if ((*jvmti)->GetExtensionEvents(jvmti, &count, &events) != JVMTI_ERROR_NONE)
        return -1;
    for (jint i = 0; i < count; i++) {
        if (strcmp(events[i].id, "com.sun.hotspot.events.ClassUnload") == 0)
            found = events[i].extension_event_index;
        free_extension(jvmti, &events[i]);
    }
    (void)(*jvmti)->Deallocate(jvmti, (unsigned char *)events);
    return found;
}

static bool set_callback(jvmtiEnv *jvmti, jvmtiExtensionEvent callback)
{
    const jint event = find_event(jvmti);

    return event >= 0 &&
           (*jvmti)->SetExtensionEventCallback(jvmti, event, callback) == JVMTI_ERROR_NONE;
}

bool smp_class_unload_open(jvmtiEnv *jvmti)
{
    const bool has_event = set_callback(jvmti, on_class_unload);

    /* Data that were read while the event was off belong to no later epoch. */
    atomic_fetch_add(&unloads.epoch, 1);
    atomic_store_explicit(&unloads.has_event, has_event, memory_order_release);
    return has_event;
}

void smp_class_unload_close(jvmtiEnv *jvmti)
{
    if (!atomic_exchange(&unloads.has_event, false))
        return;
    if (jvmti != NULL)
        (void)set_callback(jvmti, NULL);
}

static _Atomic unsigned users; /* of ClassPrepare */

static void set_prepare_event(bool on)
{
    jvmtiEnv *jvmti = smp_agent_jvmti();

    if (smp_agent_is_live())
        (void)(*jvmti)->SetEventNotificationMode(jvmti, on ? JVMTI_ENABLE : JVMTI_DISABLE,
                                                 JVMTI_EVENT_CLASS_PREPARE, NULL);
}

/* Two users may change the event at once: the later one sees both requests. */
void smp_prepare_event_set(enum smp_prepare_user user, bool on)
{
    bool wanted = false;

    if (on)
        (void)atomic_fetch_or(&users, (unsigned)user);
    else
        (void)atomic_fetch_and(&users, ~(unsigned)user);
    do {
        wanted = atomic_load(&users) != 0;
        set_prepare_event(wanted);
    } while ((atomic_load(&users) != 0) != wanted);
}

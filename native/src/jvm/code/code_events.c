/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/code/code_events.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hotspot/method_table.h"
#include "jvm/agent/agent.h"
#include "jvm/agent/version.h"
#include "jvm/check/check.h"
#include "jvm/check/inline_record.h"
#include "jvm/code/call_sites.h"
#include "jvm/code/class_events.h"
#include "jvm/code/code_map.h"
#include "jvm/code/monitor_exits.h"

static const jvmtiEvent code_events[] = {
    JVMTI_EVENT_CLASS_LOAD,
    JVMTI_EVENT_COMPILED_METHOD_UNLOAD,
    JVMTI_EVENT_COMPILED_METHOD_LOAD,
    JVMTI_EVENT_DYNAMIC_CODE_GENERATED,
};

static bool has_map; /* written by open and close */

static bool set_code_events(jvmtiEventMode mode)
{
    jvmtiEnv *jvmti = smp_agent_jvmti();
    bool all = true;

    for (size_t i = 0; i < sizeof(code_events) / sizeof(code_events[0]); i++)
        all = (*jvmti)->SetEventNotificationMode(jvmti, mode, code_events[i], NULL) ==
                  JVMTI_ERROR_NONE &&
              all;
    return all;
}

/* Has the JVM send the events of all code that was made before. */
static bool replay_code_events(jvmtiEnv *jvmti)
{
    bool all = false;

    smp_hotspot_replay(true);
    all = (*jvmti)->GenerateEvents(jvmti, JVMTI_EVENT_DYNAMIC_CODE_GENERATED) == JVMTI_ERROR_NONE &&
          (*jvmti)->GenerateEvents(jvmti, JVMTI_EVENT_COMPILED_METHOD_LOAD) == JVMTI_ERROR_NONE;
    smp_hotspot_replay(false);
    return all;
}

/* While the event for compiled methods is on, the JVM also records lines more exactly in the
 * methods that it compiles. */
const char *smp_code_events_open(jvmtiEnv *jvmti)
{
    const jvmtiCapabilities wanted = { .can_generate_compiled_method_load_events = 1 };
    const jvmtiCapabilities helpful = { .can_get_bytecodes = 1, .can_get_constant_pool = 1 };

    if ((*jvmti)->AddCapabilities(jvmti, &wanted) != JVMTI_ERROR_NONE)
        return "no events for compiled methods";
    /* Called before the events, because the check of the layout uses them. */
    (void)!smp_hotspot_find(NULL, smp_jvm_version(jvmti));
    (void)(*jvmti)->AddCapabilities(jvmti, &helpful);
    if (smp_code_map_open() != SMP_OK)
        return "no memory for addresses of code";
    has_map = true;
    (void)smp_class_unload_open(jvmti);
    if (!set_code_events(JVMTI_ENABLE))
        return "no events for code";
    return replay_code_events(jvmti) ? NULL : "no events for code made before";
}

void smp_code_events_close(void)
{
    if (!has_map)
        return;
    smp_class_unload_close(smp_agent_is_live() ? smp_agent_jvmti() : NULL);
    if (smp_agent_is_live())
        (void)set_code_events(JVMTI_DISABLE);
    smp_code_map_close();
    has_map = false;
}

/* AsyncGetCallTrace refuses every walk unless some agent listens to this event. */
void JNICALL smp_code_events_on_class_load(jvmtiEnv *jvmti, JNIEnv *env, jthread thread,
                                           jclass loaded)
{
    (void)jvmti;
    (void)env;
    (void)thread;
    (void)loaded;
}

/* Counts the frames of info, from the innermost on, that are not in the callers it shares with
 * last. */
static jint count_new_frames(const PCStackInfo *last, const PCStackInfo *info)
{
    jint left = info->numstackframes;

    for (jint i = last->numstackframes; i > 0 && left > 0; i--, left--) {
        if (last->methods[i - 1] != info->methods[left - 1])
            break;
    }
    return left;
}

/* Consecutive debug records of a method usually share most of their frames. */
static void keep_inlined(const jvmtiCompiledMethodLoadInlineRecord *record)
{
    const PCStackInfo none = { .numstackframes = 0 };
    const PCStackInfo *last = &none;

    for (jint i = 0; i < record->numpcs; i++) {
        const PCStackInfo *info = &record->pcinfo[i];
        const jint count = count_new_frames(last, info);
        for (jint k = 0; k < count; k++)
            smp_method_table_add((uint64_t)(uintptr_t)info->methods[k]);
        last = info;
    }
}

/* Keeps the ids of the method and of the methods inlined in it: they will be on stacks. */
static void keep_ids(jmethodID method, const void *info)
{
    const jvmtiCompiledMethodLoadInlineRecord *record = smp_inline_record_find(info);

    if (!smp_hotspot_keeps_ids())
        return;
    smp_method_table_add((uint64_t)(uintptr_t)method);
    if (record != NULL)
        keep_inlined(record);
}

void JNICALL smp_code_events_on_load(jvmtiEnv *jvmti, jmethodID method, jint size,
                                     const void *start, jint map_length,
                                     const jvmtiAddrLocationMap *map, const void *info)
{
    (void)map_length;
    (void)map;
    if (size <= 0 || method == NULL)
        return;
    smp_code_map_add_method((uintptr_t)start, (uint32_t)size, (uint64_t)(uintptr_t)method);
    smp_call_sites_make(jvmti, start, (size_t)size, info);
    smp_monitor_exits_make(jvmti, start, (size_t)size, info);
    keep_ids(method, info);
    smp_hotspot_record(jvmti, method, (uintptr_t)start, (size_t)size, info);
}

void JNICALL smp_code_events_on_unload(jvmtiEnv *jvmti, jmethodID method, const void *start)
{
    (void)jvmti;
    smp_code_map_remove_method((uintptr_t)start, (uint64_t)(uintptr_t)method);
}

void JNICALL smp_code_events_on_stub(jvmtiEnv *jvmti, const char *name, const void *start,
                                     jint size)
{
    (void)jvmti;
    if (size <= 0 || name == NULL)
        return;
    smp_code_map_add_stub((uintptr_t)start, (uint32_t)size, name);
    smp_hotspot_record_stub(name, (uintptr_t)start, (size_t)size);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/loaded.h"

#include "counting/call_reader.h"
#include "jvm/agent/agent.h"
#include "jvm/calls/call_counter.h"
#include "jvm/calls/instrumenter.h"
#include "jvm/code/code_events.h"
#include "jvm/code/method_ids.h"
#include "jvm/threads/threads.h"
#include "jvm/walk/async.h"
#include "jvm/walk/outside.h"
#include "jvm/walk/signals.h"
#include "jvm/walk/walk_target.h"

/* The signal handlers are stopped first: from here on threads end without a ThreadEnd event. */
static void end_walks(void)
{
    smp_async_vm_dies();
    smp_outside_vm_dies();
}

static void JNICALL on_prepare(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, jclass prepared)
{
    smp_method_ids_on_prepare(jvmti, env, thread, prepared);
    smp_instrumenter_on_prepare(jvmti, env, thread, prepared);
}

static void JNICALL on_thread_end(jvmtiEnv *jvmti, JNIEnv *env, jthread thread)
{
    smp_call_counter_on_thread_end(env, thread);
    smp_threads_on_end(jvmti, env, thread);
}

static const struct smp_agent_hooks hooks = {
    .events = { .ThreadStart = smp_threads_on_start,
                .ThreadEnd = on_thread_end,
                .ClassLoad = smp_code_events_on_class_load,
                .ClassFileLoadHook = smp_instrumenter_on_load,
                .ClassPrepare = on_prepare,
                .CompiledMethodLoad = smp_code_events_on_load,
                .CompiledMethodUnload = smp_code_events_on_unload,
                .DynamicCodeGenerated = smp_code_events_on_stub },
    .open = smp_threads_open,
    .scan = smp_threads_scan,
    .needs_thread_end = smp_call_counter_has_threads,
    .close = smp_threads_close,
    .vm_death = end_walks,
    .before_attach = smp_threads_enter,
    .after_attach = smp_signals_let_through,
    .after_detach = smp_threads_leave,
};

/* jvm/walk must not include jvm/calls, so it gets these functions as pointers. */
static const struct smp_walk_call_source counted_calls = { .state_of = smp_call_counter_state_of,
                                                           .spot_of = smp_call_spot_of };

void smp_jvm_loaded(JavaVM *java_vm)
{
    smp_agent_loaded(java_vm, &hooks);
    smp_instrumenter_loaded();
    smp_walk_target_set_calls(&counted_calls);
}

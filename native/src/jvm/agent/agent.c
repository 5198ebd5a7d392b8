/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/agent/agent.h"

#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include "base/once.h"
#include "hotspot/exports.h"
#include "jvm/agent/jvmti_status.h"

static struct {
    struct smp_once once;
    const struct smp_agent_hooks *hooks; /* set when the library is loaded */
    /* written by open and close, read by any thread */
    _Atomic(JavaVM *) java_vm;
    _Atomic(jvmtiEnv *) jvmti;
    _Atomic bool live;
    _Atomic(jobject) system_group;
} agent = { .once = SMP_ONCE_INIT };

bool smp_agent_is_live(void)
{
    return atomic_load_explicit(&agent.live, memory_order_acquire);
}

jvmtiEnv *smp_agent_jvmti(void)
{
    return atomic_load_explicit(&agent.jvmti, memory_order_acquire);
}

JNIEnv *smp_agent_env(void)
{
    JavaVM *java_vm = agent.java_vm;
    void *env = NULL;

    if (java_vm == NULL || (*java_vm)->GetEnv(java_vm, &env, SMP_AGENT_JNI_VERSION) != JNI_OK)
        return NULL;
    return env;
}

/* The JVM is shutting down. JVMTI must not be called from here on. */
static void JNICALL on_vm_death(SMP_UNUSED jvmtiEnv *jvmti, SMP_UNUSED JNIEnv *env)
{
    atomic_store_explicit(&agent.live, false, memory_order_release);
    agent.hooks->vm_death();
}

/* Adds the capabilities one by one, because one unavailable bit fails the whole request. All are
 * optional: without them frames have no line or no file, or threads have no tid. */
static void add_capabilities(jvmtiEnv *jvmti)
{
    jvmtiCapabilities potential = { 0 };

    if ((*jvmti)->GetPotentialCapabilities(jvmti, &potential) != JVMTI_ERROR_NONE)
        return;
    if (potential.can_get_line_numbers) {
        const jvmtiCapabilities wanted = { .can_get_line_numbers = 1 };
        (void)(*jvmti)->AddCapabilities(jvmti, &wanted);
    }
    if (potential.can_get_source_file_name) {
        const jvmtiCapabilities wanted = { .can_get_source_file_name = 1 };
        (void)(*jvmti)->AddCapabilities(jvmti, &wanted);
    }
    if (potential.can_get_thread_cpu_time) {
        const jvmtiCapabilities wanted = { .can_get_thread_cpu_time = 1 };
        (void)(*jvmti)->AddCapabilities(jvmti, &wanted);
    }
}

static enum smp_status make_environment(void)
{
    JavaVM *java_vm = agent.java_vm;
    jvmtiEnv *jvmti = NULL;
    void *found = NULL;
    jvmtiPhase phase = JVMTI_PHASE_DEAD;
    jvmtiEventCallbacks callbacks = agent.hooks->events;

    callbacks.VMDeath = on_vm_death;
    if (smp_agent_jvmti() != NULL)
        return smp_agent_is_live() ? SMP_OK : SMP_EPHASE;
    if ((*java_vm)->GetEnv(java_vm, &found, SMP_AGENT_JVMTI_VERSION) != JNI_OK || found == NULL)
        return SMP_EUNSUPPORTED;
    jvmti = found;
    enum smp_status status = smp_jvmti_status((*jvmti)->GetPhase(jvmti, &phase));
    if (status == SMP_OK && phase != JVMTI_PHASE_LIVE)
        status = SMP_EPHASE;
    if (status == SMP_OK) {
        add_capabilities(jvmti);
        status = smp_jvmti_status(
            (*jvmti)->SetEventCallbacks(jvmti, &callbacks, (jint)sizeof(callbacks)));
    }
    if (status != SMP_OK) {
        (void)(*jvmti)->DisposeEnvironment(jvmti);
        return status;
    }
    atomic_store_explicit(&agent.live, true, memory_order_release);
    atomic_store_explicit(&agent.jvmti, jvmti, memory_order_release);
    return SMP_OK;
}

static void find_system_group(jvmtiEnv *jvmti, JNIEnv *env)
{
    jint count = 0;
    jthreadGroup *groups = NULL;

    if ((*jvmti)->GetTopThreadGroups(jvmti, &count, &groups) != JVMTI_ERROR_NONE)
        return; /* internal threads are then in the main group, like the user's threads */
    if (count > 0)
        agent.system_group = (*env)->NewGlobalRef(env, groups[0]);
    for (jint i = 0; i < count; i++)
        (*env)->DeleteLocalRef(env, groups[i]);
    (void)(*jvmti)->Deallocate(jvmti, (unsigned char *)groups);
}

static void forget_system_group(JNIEnv *env)
{
    jobject group = atomic_exchange(&agent.system_group, NULL);

    if (group != NULL && env != NULL && smp_agent_is_live())
        (*env)->DeleteGlobalRef(env, group);
}

static enum smp_status set_agent_event(jvmtiEventMode mode, jvmtiEvent event)
{
    jvmtiEnv *jvmti = smp_agent_jvmti();

    return smp_jvmti_status((*jvmti)->SetEventNotificationMode(jvmti, mode, event, NULL));
}

/* ThreadStart is enabled last and disabled first: each registered thread then has its ThreadEnd. */
static enum smp_status enable_events(void)
{
    enum smp_status status = set_agent_event(JVMTI_ENABLE, JVMTI_EVENT_VM_DEATH);

    if (status == SMP_OK)
        status = set_agent_event(JVMTI_ENABLE, JVMTI_EVENT_THREAD_END);
    if (status == SMP_OK)
        status = set_agent_event(JVMTI_ENABLE, JVMTI_EVENT_THREAD_START);
    return status;
}

static void disable_events(void)
{
    if (!smp_agent_is_live())
        return;
    (void)set_agent_event(JVMTI_DISABLE, JVMTI_EVENT_THREAD_START);
    if (!agent.hooks->needs_thread_end())
        (void)set_agent_event(JVMTI_DISABLE, JVMTI_EVENT_THREAD_END);
    (void)set_agent_event(JVMTI_DISABLE, JVMTI_EVENT_VM_DEATH);
}

static void close_agent(JNIEnv *env)
{
    disable_events();
    agent.hooks->close(env);
    forget_system_group(env);
}

static enum smp_status open_agent(void)
{
    JNIEnv *env = smp_agent_env();
    if (env == NULL)
        return SMP_EVM;
    enum smp_status status = make_environment();
    if (status != SMP_OK)
        return status;
    find_system_group(smp_agent_jvmti(), env);
    status = agent.hooks->open(env);
    if (status == SMP_OK)
        status = enable_events();
    if (status == SMP_OK)
        status = agent.hooks->scan(env);
    if (status != SMP_OK)
        close_agent(env);
    return status;
}

enum smp_status smp_agent_open(void)
{
    if (!smp_once_open(&agent.once))
        return SMP_OK;
    const enum smp_status status = open_agent();
    smp_once_finish(&agent.once, status == SMP_OK);
    return status;
}

void smp_agent_close(void)
{
    if (!smp_once_close(&agent.once))
        return;
    close_agent(smp_agent_env());
    smp_once_finish(&agent.once, false);
}

void smp_agent_loaded(JavaVM *java_vm, const struct smp_agent_hooks *hooks)
{
    agent.hooks = hooks;
    agent.java_vm = java_vm;
}

void smp_agent_unloaded(void)
{
    jvmtiEnv *jvmti = smp_agent_jvmti();

    if (jvmti != NULL && smp_agent_is_live())
        (void)(*jvmti)->DisposeEnvironment(jvmti);
    atomic_store(&agent.live, false);
    atomic_store(&agent.jvmti, NULL);
    agent.java_vm = NULL;
}

/* JDK1_1InitArgs of JDK 1.1, of which HotSpot still fills in these fields for its launcher. */
struct first_init_args {
    jint version;
    char **properties;
    jint check_source;
    jint native_stack_size;
    jint java_stack_size;
    char rest[256]; /* more than the JVM could write */
};

size_t smp_agent_stack_bytes(void)
{
    jint (*defaults)(void *args) = NULL;
    struct first_init_args args = { .version = JNI_VERSION_1_1 };

    *(void **)&defaults = smp_symbol("JNI_GetDefaultJavaVMInitArgs");
    if (defaults == NULL)
        return 0;
    (void)defaults(&args);
    return args.java_stack_size > 0 ? (size_t)args.java_stack_size : 0;
}

enum smp_status smp_agent_attach(const char *thread_name)
{
    JavaVM *java_vm = agent.java_vm;
    void *env = NULL;
    char name[SMP_JVM_THREAD_NAME_BYTES];
    JavaVMAttachArgs args = { .version = SMP_AGENT_JNI_VERSION,
                              .name = name,
                              .group = agent.system_group };

    if (!smp_agent_is_live())
        return SMP_EPHASE;
    (void)strncpy(name, thread_name, sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    enum smp_status status = agent.hooks->before_attach();
    if (status != SMP_OK)
        return status;
    if ((*java_vm)->AttachCurrentThreadAsDaemon(java_vm, &env, &args) != JNI_OK) {
        agent.hooks->after_detach();
        return SMP_ETHREAD;
    }
    agent.hooks->after_attach();
    return SMP_OK;
}

void smp_agent_detach(void)
{
    JavaVM *java_vm = agent.java_vm;
    JNIEnv *env = smp_agent_env();

    if (env != NULL) {
        (*env)->ExceptionClear(env);
        (void)(*java_vm)->DetachCurrentThread(java_vm);
    }
    agent.hooks->after_detach();
}

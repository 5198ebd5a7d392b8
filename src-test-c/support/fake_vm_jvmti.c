/* SPDX-License-Identifier: Apache-2.0 */
/* The jvmtiEnv of fake_vm.h. */
#include "support/fake_vm.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static _Atomic long live_pieces;
static struct fake_object method_class = { FAKE_CLASS };
static struct fake_object other_class = { FAKE_CLASS };

static void *allocate(size_t size)
{
    void *piece = malloc(size > 0 ? size : 1);

    if (piece == NULL)
        abort();
    live_pieces++;
    return piece;
}

static char *copy(const char *text)
{
    return strcpy(allocate(strlen(text) + 1), text);
}

static jvmtiError begin(enum fake_call call)
{
    fake_vm.calls[call]++;
    if (fake_vm.before != NULL)
        fake_vm.before(call);
    return fake_vm.errors[call];
}

long fake_vm_live_pieces(void)
{
    return live_pieces;
}

static jvmtiError JNICALL deallocate(jvmtiEnv *env, unsigned char *piece)
{
    (void)env;
    if (piece != NULL)
        live_pieces--;
    free(piece);
    return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_phase(jvmtiEnv *env, jvmtiPhase *out)
{
    const jvmtiError error = begin(FAKE_GetPhase);

    (void)env;
    *out = fake_vm.phase;
    return error;
}

static jvmtiError JNICALL get_potential(jvmtiEnv *env, jvmtiCapabilities *out)
{
    (void)env;
    *out = fake_vm.potential;
    return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL add_capabilities(jvmtiEnv *env, const jvmtiCapabilities *wanted)
{
    const jvmtiError error = begin(FAKE_AddCapabilities);

    (void)env;
    if (error != JVMTI_ERROR_NONE)
        return error;
    if ((wanted->can_get_line_numbers && !fake_vm.potential.can_get_line_numbers) ||
        (wanted->can_get_source_file_name && !fake_vm.potential.can_get_source_file_name))
        return JVMTI_ERROR_NOT_AVAILABLE;
    fake_vm.added.can_get_line_numbers |= wanted->can_get_line_numbers;
    fake_vm.added.can_get_source_file_name |= wanted->can_get_source_file_name;
    return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL set_callbacks(jvmtiEnv *env, const jvmtiEventCallbacks *callbacks,
                                        jint size)
{
    const jvmtiError error = begin(FAKE_SetEventCallbacks);

    (void)env;
    (void)size;
    if (error == JVMTI_ERROR_NONE)
        fake_vm.callbacks = *callbacks;
    return error;
}

static jvmtiError JNICALL set_mode(jvmtiEnv *env, jvmtiEventMode mode, jvmtiEvent event,
                                   jthread thread, ...)
{
    const jvmtiError error = begin(FAKE_SetEventNotificationMode);

    (void)env;
    (void)thread;
    if (error == JVMTI_ERROR_NONE)
        fake_vm.enabled[event] = mode == JVMTI_ENABLE;
    return error;
}

static jvmtiError JNICALL set_storage(jvmtiEnv *env, const void *data)
{
    const jvmtiError error = begin(FAKE_SetEnvironmentLocalStorage);

    (void)env;
    if (error == JVMTI_ERROR_NONE)
        fake_vm.local_storage = data;
    return error;
}

static jvmtiError JNICALL get_storage(jvmtiEnv *env, void **out)
{
    (void)env;
    *out = (void *)(uintptr_t)fake_vm.local_storage;
    return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL dispose(jvmtiEnv *env)
{
    (void)env;
    fake_vm.disposed = true;
    return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_top_groups(jvmtiEnv *env, jint *count, jthreadGroup **groups)
{
    const jvmtiError error = begin(FAKE_GetTopThreadGroups);

    (void)env;
    if (error != JVMTI_ERROR_NONE)
        return error;
    *count = 1;
    *groups = allocate(sizeof(jthreadGroup));
    (*groups)[0] = fake_vm_local(&fake_vm.system);
    return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_all_threads(jvmtiEnv *env, jint *count, jthread **threads)
{
    const jvmtiError error = begin(FAKE_GetAllThreads);

    (void)env;
    if (error != JVMTI_ERROR_NONE)
        return error;
    *count = (jint)fake_vm.thread_count;
    *threads = allocate(fake_vm.thread_count * sizeof(jthread));
    for (size_t i = 0; i < fake_vm.thread_count; i++)
        (*threads)[i] = fake_vm_local(fake_vm.threads[i]);
    return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_thread_info(jvmtiEnv *env, jthread ref, jvmtiThreadInfo *out)
{
    const jvmtiError error = begin(FAKE_GetThreadInfo);
    const struct fake_thread *thread = fake_vm_object(ref);

    (void)env;
    if (error != JVMTI_ERROR_NONE)
        return error;
    *out = (jvmtiThreadInfo){ .name = copy(thread->jvmti_name),
                              .is_daemon = thread->daemon,
                              .thread_group = fake_vm_local(thread->group),
                              .context_class_loader = fake_vm_local(&method_class) };
    return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_thread_state(jvmtiEnv *env, jthread ref, jint *out)
{
    const struct fake_thread *thread = fake_vm_object(ref);
    const jvmtiError error = begin(FAKE_GetThreadState);

    (void)env;
    *out = thread->status;
    return error;
}

static jvmtiError JNICALL get_group_info(jvmtiEnv *env, jthreadGroup ref, jvmtiThreadGroupInfo *out)
{
    const jvmtiError error = begin(FAKE_GetThreadGroupInfo);
    const struct fake_group *group = fake_vm_object(ref);

    (void)env;
    if (error != JVMTI_ERROR_NONE)
        return error;
    *out =
        (jvmtiThreadGroupInfo){ .name = copy(group->name), .parent = fake_vm_local(group->parent) };
    return JVMTI_ERROR_NONE;
}

static jvmtiError refuse_dead(const struct fake_thread *thread)
{
    return thread->ended ? JVMTI_ERROR_THREAD_NOT_ALIVE : JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_stack_trace(jvmtiEnv *env, jthread ref, jint start, jint max,
                                          jvmtiFrameInfo *frames, jint *count)
{
    jvmtiError error = begin(FAKE_GetStackTrace);
    const struct fake_thread *thread = fake_vm_object(ref);
    jint written = 0;

    (void)env;
    if (error == JVMTI_ERROR_NONE)
        error = refuse_dead(thread);
    if (error != JVMTI_ERROR_NONE)
        return error;
    const jint depth = thread->depth;
    if (start != 0) /* from the root: the JVM walks the whole stack */
        return JVMTI_ERROR_ILLEGAL_ARGUMENT;
    if (max > fake_vm.most_frames)
        fake_vm.most_frames = max;
    for (jint i = 0; i < depth && written < max; i++) {
        const jint from_root = depth - 1 - i;
        const intptr_t method = fake_vm.null_methods ? 0 : FAKE_METHOD + from_root;
        frames[written++] =
            (jvmtiFrameInfo){ .method = (jmethodID)(void *)method, .location = from_root };
    }
    *count = fake_vm.absurd_count != 0 ? fake_vm.absurd_count : written;
    return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_frame_count(jvmtiEnv *env, jthread ref, jint *count)
{
    jvmtiError error = begin(FAKE_GetFrameCount);
    const struct fake_thread *thread = fake_vm_object(ref);

    (void)env;
    if (error == JVMTI_ERROR_NONE)
        error = refuse_dead(thread);
    if (error == JVMTI_ERROR_NONE)
        *count = thread->depth;
    return error;
}

static bool is_other(jmethodID method)
{
    return fake_vm.other_id != NULL && method == fake_vm.other_id;
}

static jvmtiError JNICALL get_declaring_class(jvmtiEnv *env, jmethodID method, jclass *out)
{
    const jvmtiError error = begin(FAKE_GetMethodDeclaringClass);

    (void)env;
    if (error == JVMTI_ERROR_NONE)
        *out = fake_vm_local(is_other(method) ? &other_class : &method_class);
    return error;
}

static const struct fake_method *method_of(jclass class)
{
    if (fake_vm_object(class) == &other_class)
        return &fake_vm.other;
    if (fake_vm_object(class) != &method_class)
        abort();
    return &fake_vm.method;
}

static jvmtiError JNICALL get_class_loader(jvmtiEnv *env, jclass class, jobject *out)
{
    const jvmtiError error = begin(FAKE_GetClassLoader);
    struct fake_object *loader = method_of(class)->loader;

    (void)env;
    if (error == JVMTI_ERROR_NONE)
        *out = loader != NULL ? fake_vm_local(loader) : NULL;
    return error;
}

static jvmtiError JNICALL get_class_signature(jvmtiEnv *env, jclass class, char **out,
                                              char **generic)
{
    const jvmtiError error = begin(FAKE_GetClassSignature);

    (void)env;
    if (generic != NULL)
        abort();
    if (error == JVMTI_ERROR_NONE)
        *out = copy(method_of(class)->signature);
    return error;
}

static jvmtiError JNICALL get_method_name(jvmtiEnv *env, jmethodID method, char **name,
                                          char **signature, char **generic)
{
    const jvmtiError error = begin(FAKE_GetMethodName);
    const struct fake_method *known = is_other(method) ? &fake_vm.other : &fake_vm.method;

    (void)env;
    if (generic != NULL)
        abort();
    if (error != JVMTI_ERROR_NONE)
        return error;
    *name = copy(known->name);
    if (signature != NULL)
        *signature = copy(known->type);
    return error;
}

static jvmtiError JNICALL get_property(jvmtiEnv *env, const char *name, char **out)
{
    const jvmtiError error = begin(FAKE_GetSystemProperty);

    (void)env;
    if (error != JVMTI_ERROR_NONE)
        return error;
    if (fake_vm.version == NULL || strcmp(name, "java.vm.specification.version") != 0)
        return JVMTI_ERROR_NOT_AVAILABLE;
    *out = copy(fake_vm.version);
    return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_source_file(jvmtiEnv *env, jclass class, char **out)
{
    const jvmtiError error = begin(FAKE_GetSourceFileName);

    (void)env;
    (void)class;
    if (error != JVMTI_ERROR_NONE)
        return error;
    if (fake_vm.method.file == NULL)
        return JVMTI_ERROR_ABSENT_INFORMATION;
    *out = copy(fake_vm.method.file);
    return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_lines(jvmtiEnv *env, jmethodID method, jint *count,
                                    jvmtiLineNumberEntry **out)
{
    const jvmtiError error = begin(FAKE_GetLineNumberTable);
    const struct fake_method *known = &fake_vm.method;

    (void)env;
    (void)method;
    if (error != JVMTI_ERROR_NONE)
        return error;
    if (known->is_native)
        return JVMTI_ERROR_NATIVE_METHOD;
    if (known->lines == NULL)
        return JVMTI_ERROR_ABSENT_INFORMATION;
    const size_t bytes = known->line_count > 0 ? (size_t)known->line_count * sizeof(**out) : 0;
    *count = known->line_count;
    *out = allocate(bytes);
    memcpy(*out, known->lines, bytes);
    return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL is_method_native(jvmtiEnv *env, jmethodID method, jboolean *out)
{
    const jvmtiError error = begin(FAKE_IsMethodNative);

    (void)env;
    (void)method;
    *out = fake_vm.method.is_native;
    return error;
}

/* This JVM has none of the capabilities of the asynchronous walker, unless a test sets
 * has_cpu_time. A thread that has ended is reported before the missing capability. */
static jvmtiError JNICALL get_cpu_time(jvmtiEnv *env, jthread ref, jlong *out)
{
    const struct fake_thread *thread = fake_vm_object(ref);
    const jvmtiError error = refuse_dead(fake_vm_object(ref));

    (void)env;
    if (error == JVMTI_ERROR_NONE && !fake_vm.has_cpu_time)
        return JVMTI_ERROR_MUST_POSSESS_CAPABILITY;
    *out = thread->cpu_ns;
    return error;
}

static jvmtiError JNICALL refuse_events(jvmtiEnv *env, jvmtiEvent event)
{
    (void)env;
    (void)event;
    return JVMTI_ERROR_MUST_POSSESS_CAPABILITY;
}

static jvmtiError JNICALL refuse_current_thread(jvmtiEnv *env, jthread *out)
{
    (void)env;
    (void)out;
    return JVMTI_ERROR_MUST_POSSESS_CAPABILITY;
}

static jvmtiError JNICALL get_loaded_classes(jvmtiEnv *env, jint *count, jclass **out)
{
    const jvmtiError error = begin(FAKE_GetLoadedClasses);

    (void)env;
    if (error != JVMTI_ERROR_NONE)
        return error;
    *count = fake_vm.class_count;
    *out = allocate((size_t)*count * sizeof(jclass));
    for (jint i = 0; i < *count; i++)
        (*out)[i] = fake_vm_local(&method_class);
    return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_class_methods(jvmtiEnv *env, jclass class, jint *count,
                                            jmethodID **out)
{
    const jvmtiError error = begin(FAKE_GetClassMethods);

    (void)env;
    (void)class;
    if (error != JVMTI_ERROR_NONE)
        return error;
    *count = fake_vm.class_methods;
    *out = allocate((size_t)*count * sizeof(jmethodID));
    for (jint i = 0; i < *count; i++)
        (*out)[i] = fake_vm.class_ids == NULL ? NULL : fake_vm.class_ids[i];
    return JVMTI_ERROR_NONE;
}

enum { EXTENSION_EVENTS = 2, CLASS_UNLOAD_EVENT = 85 };

static jvmtiError JNICALL get_extension_events(jvmtiEnv *env, jint *count,
                                               jvmtiExtensionEventInfo **out)
{
    const jvmtiError error = begin(FAKE_GetExtensionEvents);

    (void)env;
    if (error != JVMTI_ERROR_NONE)
        return error;
    *count = EXTENSION_EVENTS;
    *out = allocate(EXTENSION_EVENTS * sizeof(**out));
    for (jint i = 0; i < EXTENSION_EVENTS; i++) {
        const bool is_unload = i == 1 && fake_vm.has_class_unload;
        jvmtiParamInfo *params = allocate(sizeof(*params));
        params->name = copy("class");
        (*out)[i] = (jvmtiExtensionEventInfo){
            .extension_event_index = CLASS_UNLOAD_EVENT - 1 + i,
            .id = copy(is_unload ? "com.sun.hotspot.events.ClassUnload" : "com.acme.Other"),
            .short_description = copy("CLASS_UNLOAD event"),
            .param_count = 1,
            .params = params,
        };
    }
    return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL set_extension_callback(jvmtiEnv *env, jint event,
                                                 jvmtiExtensionEvent callback)
{
    const jvmtiError error = begin(FAKE_SetExtensionEventCallback);

    (void)env;
    if (error == JVMTI_ERROR_NONE && event == CLASS_UNLOAD_EVENT)
        fake_vm.on_class_unload = callback;
    return error;
}

static const struct jvmtiInterface_1_ functions = {
    .GetExtensionEvents = get_extension_events,
    .SetExtensionEventCallback = set_extension_callback,
    .GetThreadCpuTime = get_cpu_time,
    .GenerateEvents = refuse_events,
    .GetCurrentThread = refuse_current_thread,
    .GetLoadedClasses = get_loaded_classes,
    .GetClassMethods = get_class_methods,
    .Deallocate = deallocate,
    .GetPhase = get_phase,
    .GetPotentialCapabilities = get_potential,
    .AddCapabilities = add_capabilities,
    .SetEventCallbacks = set_callbacks,
    .SetEventNotificationMode = set_mode,
    .DisposeEnvironment = dispose,
    .GetTopThreadGroups = get_top_groups,
    .GetAllThreads = get_all_threads,
    .GetThreadInfo = get_thread_info,
    .GetThreadState = get_thread_state,
    .GetThreadGroupInfo = get_group_info,
    .GetStackTrace = get_stack_trace,
    .GetFrameCount = get_frame_count,
    .GetMethodDeclaringClass = get_declaring_class,
    .GetClassLoader = get_class_loader,
    .GetClassSignature = get_class_signature,
    .GetMethodName = get_method_name,
    .GetSourceFileName = get_source_file,
    .GetLineNumberTable = get_lines,
    .IsMethodNative = is_method_native,
    .GetSystemProperty = get_property,
    .SetEnvironmentLocalStorage = set_storage,
    .GetEnvironmentLocalStorage = get_storage,
};
static const struct jvmtiInterface_1_ *env_functions = &functions;

jvmtiEnv *fake_vm_jvmti(void)
{
    return &env_functions;
}

void fake_vm_thread_start(struct fake_thread *thread)
{
    jvmtiEnv *env = fake_vm_jvmti();
    jobject ref = fake_vm_local(thread);

    if (fake_vm.enabled[JVMTI_EVENT_THREAD_START])
        fake_vm.callbacks.ThreadStart(env, fake_vm_jni(), ref);
    (*fake_vm_jni())->DeleteLocalRef(fake_vm_jni(), ref);
}

void fake_vm_thread_end(struct fake_thread *thread)
{
    jvmtiEnv *env = fake_vm_jvmti();
    jobject ref = fake_vm_local(thread);

    if (fake_vm.enabled[JVMTI_EVENT_THREAD_END])
        fake_vm.callbacks.ThreadEnd(env, fake_vm_jni(), ref);
    thread->ended = true;
    (*fake_vm_jni())->DeleteLocalRef(fake_vm_jni(), ref);
}

void fake_vm_death(void)
{
    jvmtiEnv *env = fake_vm_jvmti();

    fake_vm.phase = JVMTI_PHASE_DEAD;
    for (int i = 0; i < FAKE_CALL_COUNT; i++)
        fake_vm.errors[i] = JVMTI_ERROR_WRONG_PHASE;
    if (fake_vm.enabled[JVMTI_EVENT_VM_DEATH])
        fake_vm.callbacks.VMDeath(env, fake_vm_jni());
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "support/fake_vm.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "jvm/agent/agent.h"
#include "jvm/loaded.h"
#include "jvm/threads/threads.h"
#include "jvm/threads/virtual_threads.h"

enum { MAX_FRAMES = 8 };

struct ref {
    struct fake_object *object;
    bool is_global;
    struct ref *next;     /* the local or global reference that was made before */
    struct ref *previous; /* the global reference that was made after */
};

struct env {
    const struct JNINativeInterface_ *functions; /* must be first: a JNIEnv * points to it */
    struct ref *locals;
    struct ref *frames[MAX_FRAMES];
    size_t frame_count;
    bool exception;
};

struct fake_vm fake_vm;
static _Atomic long live_refs;
static pthread_mutex_t globals_mutex = PTHREAD_MUTEX_INITIALIZER;
static struct ref *globals; /* guarded by globals_mutex */
static pthread_key_t env_key;
static pthread_once_t env_key_once = PTHREAD_ONCE_INIT;
static struct fake_object thread_class = { FAKE_CLASS };
static struct fake_object continuation_class = { FAKE_CLASS };
static struct fake_object carrier_class = { FAKE_CLASS };
static char id_field;
static char name_field;
static char address_field;
static char holder_field;
static char status_field;
static struct fake_object holder_class = { FAKE_CLASS };

static void make_key(void)
{
    if (pthread_key_create(&env_key, NULL) != 0)
        abort();
}

static struct env *own_env(void)
{
    (void)pthread_once(&env_key_once, make_key);
    return pthread_getspecific(env_key);
}

static struct env *env_of(JNIEnv *env)
{
    return (struct env *)(void *)env;
}

static struct ref *make_ref(void *object, bool is_global)
{
    struct ref *ref = calloc(1, sizeof(*ref));

    if (ref == NULL)
        abort();
    ref->object = object;
    ref->is_global = is_global;
    live_refs++;
    return ref;
}

static void free_ref(struct ref *ref)
{
    live_refs--;
    free(ref);
}

jobject fake_vm_local(void *object)
{
    struct env *env = env_of(fake_vm_jni());

    if (object == NULL)
        return NULL;
    struct ref *ref = make_ref(object, false);
    ref->next = env->locals;
    env->locals = ref;
    return (jobject)(void *)ref;
}

jobject fake_vm_global(void *object)
{
    struct ref *ref = make_ref(object, true);

    pthread_mutex_lock(&globals_mutex);
    ref->next = globals;
    if (globals != NULL)
        globals->previous = ref;
    globals = ref;
    pthread_mutex_unlock(&globals_mutex);
    return (jobject)(void *)ref;
}

static void free_global(struct ref *ref)
{
    pthread_mutex_lock(&globals_mutex);
    if (ref->previous != NULL)
        ref->previous->next = ref->next;
    else
        globals = ref->next;
    if (ref->next != NULL)
        ref->next->previous = ref->previous;
    pthread_mutex_unlock(&globals_mutex);
    free_ref(ref);
}

void fake_vm_free_globals(void)
{
    while (globals != NULL)
        free_global(globals);
}

void *fake_vm_object(jobject ref)
{
    return ref != NULL ? ((struct ref *)(void *)ref)->object : NULL;
}

long fake_vm_live_refs(void)
{
    return live_refs;
}

void fake_string_set(struct fake_string *string, const char *ascii)
{
    string->object.kind = FAKE_STRING;
    string->length = strlen(ascii);
    for (size_t i = 0; i < string->length; i++)
        string->units[i] = (jchar)ascii[i];
}

/* ------------------------------------------------------------------------------------- JNIEnv */

static jclass JNICALL find_class(JNIEnv *env, const char *name)
{
    if (strcmp(name, "java/lang/Thread") == 0)
        return fake_vm_local(&thread_class);
    if (fake_vm.has_holder && strcmp(name, "java/lang/Thread$FieldHolder") == 0)
        return fake_vm_local(&holder_class);
    if (fake_vm.has_virtual_threads && strcmp(name, "jdk/internal/vm/Continuation") == 0)
        return fake_vm_local(&continuation_class);
    if (fake_vm.has_virtual_threads && strcmp(name, "jdk/internal/misc/CarrierThread") == 0)
        return fake_vm_local(&carrier_class);
    env_of(env)->exception = true;
    return NULL;
}

/* The field is in Thread, or in its holder if the JVM has one. */
static bool is_status_of(const void *class, const char *name)
{
    return fake_vm.has_status && strcmp(name, "threadStatus") == 0 &&
           class == (fake_vm.has_holder ? (void *)&holder_class : (void *)&thread_class);
}

static jfieldID JNICALL get_field_id(JNIEnv *env, jclass class, const char *name,
                                     const char *signature)
{
    const bool is_id = strcmp(name, "tid") == 0 && strcmp(signature, "J") == 0;
    const bool is_name = strcmp(name, "name") == 0;
    const bool is_address = strcmp(name, "eetop") == 0;
    const bool is_holder = strcmp(name, "holder") == 0;
    const bool is_status = strcmp(name, "threadStatus") == 0;

    if (is_status_of(fake_vm_object(class), name))
        return (jfieldID)(void *)&status_field;
    if (is_holder && fake_vm.has_holder)
        return (jfieldID)(void *)&holder_field;
    /* This JVM has no such field. */
    const bool is_absent = is_holder || is_status || (is_address && !fake_vm.has_addresses) ||
                           strcmp(name, "cont") == 0 ||
                           fake_vm_object(class) == &continuation_class;

    if (!is_absent &&
        (fake_vm_object(class) != &thread_class || (!is_id && !is_name && !is_address)))
        abort();
    if (is_absent || (is_id && fake_vm.no_id_field) || (is_name && fake_vm.no_name_field)) {
        env_of(env)->exception = true;
        return NULL;
    }
    if (is_address)
        return (jfieldID)(void *)&address_field;
    return (jfieldID)(void *)(is_id ? &id_field : &name_field);
}

static jlong JNICALL get_long_field(JNIEnv *env, jobject object, jfieldID field)
{
    const struct fake_thread *thread = fake_vm_object(object);

    (void)env;
    if (((void *)field != &id_field && (void *)field != &address_field) ||
        thread->object.kind != FAKE_THREAD)
        abort();
    return (void *)field == &id_field ? thread->java_id : thread->address;
}

static jint JNICALL get_int_field(JNIEnv *env, jobject object, jfieldID field)
{
    const struct fake_thread *thread = fake_vm_object(object);

    (void)env;
    if ((void *)field != &status_field || thread->object.kind != FAKE_THREAD)
        abort();
    return thread->status;
}

static jobject JNICALL get_object_field(JNIEnv *env, jobject object, jfieldID field)
{
    struct fake_thread *thread = fake_vm_object(object);

    (void)env;
    if ((void *)field == &holder_field && thread->object.kind == FAKE_THREAD)
        return fake_vm_local(thread->has_no_holder ? NULL : thread);
    if ((void *)field != &name_field || thread->object.kind != FAKE_THREAD)
        abort();
    return fake_vm_local(thread->name);
}

static jobject JNICALL new_global_ref(JNIEnv *env, jobject object)
{
    (void)env;
    return fake_vm.refuse_global ? NULL : fake_vm_global(fake_vm_object(object));
}

static void JNICALL delete_global_ref(JNIEnv *env, jobject object)
{
    struct ref *ref = (struct ref *)(void *)object;

    (void)env;
    if (!ref->is_global)
        abort();
    free_global(ref);
}

static void JNICALL delete_local_ref(JNIEnv *env, jobject object)
{
    struct ref **at = &env_of(env)->locals;
    struct ref *ref = (struct ref *)(void *)object;

    while (*at != NULL && *at != ref)
        at = &(*at)->next;
    if (*at == NULL)
        abort(); /* not a local reference of this thread */
    *at = ref->next;
    free_ref(ref);
}

static void free_locals(struct env *env, const struct ref *until)
{
    while (env->locals != until) {
        struct ref *ref = env->locals;
        env->locals = ref->next;
        free_ref(ref);
    }
}

static jint JNICALL push_local_frame(JNIEnv *env, jint capacity)
{
    struct env *own = env_of(env);

    (void)capacity;
    if (own->frame_count == MAX_FRAMES)
        return JNI_ENOMEM;
    own->frames[own->frame_count++] = own->locals;
    return JNI_OK;
}

static jobject JNICALL new_local_ref(JNIEnv *env, jobject object)
{
    (void)env;
    return fake_vm_local(fake_vm_object(object));
}

static jobject JNICALL pop_local_frame(JNIEnv *env, jobject result)
{
    struct env *own = env_of(env);

    if (result != NULL || own->frame_count == 0)
        abort();
    free_locals(own, own->frames[--own->frame_count]);
    return NULL;
}

static jint JNICALL ensure_local_capacity(JNIEnv *env, jint capacity)
{
    (void)env;
    (void)capacity;
    return JNI_OK;
}

static jboolean JNICALL is_same_object(JNIEnv *env, jobject left, jobject right)
{
    (void)env;
    return fake_vm_object(left) == fake_vm_object(right);
}

static jboolean JNICALL exception_check(JNIEnv *env)
{
    return env_of(env)->exception;
}

static void JNICALL exception_clear(JNIEnv *env)
{
    env_of(env)->exception = false;
}

static jsize JNICALL get_string_length(JNIEnv *env, jstring string)
{
    (void)env;
    return (jsize)((struct fake_string *)fake_vm_object(string))->length;
}

static void JNICALL get_string_region(JNIEnv *env, jstring string, jsize start, jsize length,
                                      jchar *out)
{
    const struct fake_string *from = fake_vm_object(string);

    if (start < 0 || length < 0 || (size_t)start + (size_t)length > from->length) {
        env_of(env)->exception = true;
        return;
    }
    memcpy(out, from->units + start, (size_t)length * sizeof(jchar));
}

static jsize JNICALL get_array_length(JNIEnv *env, jarray array)
{
    (void)env;
    return (jsize)((struct fake_array *)fake_vm_object(array))->count;
}

static jobject JNICALL get_object_array_element(JNIEnv *env, jobjectArray array, jsize index)
{
    (void)env;
    return fake_vm_local(((struct fake_array *)fake_vm_object(array))->elements[index]);
}

static jboolean JNICALL is_instance_of(JNIEnv *env, jobject object, jclass class)
{
    const struct fake_thread *thread = fake_vm_object(object);

    (void)env;
    return fake_vm_object(class) == &carrier_class && thread->is_carrier;
}

static jmethodID JNICALL get_method_id(JNIEnv *env, jclass class, const char *name,
                                       const char *signature)
{
    (void)signature;
    if (fake_vm_object(class) == &continuation_class && strcmp(name, "enterSpecial") == 0)
        return (jmethodID)(void *)(intptr_t)FAKE_ENTER_SPECIAL;
    if (fake_vm_object(class) == &continuation_class && strcmp(name, "enter") == 0)
        return (jmethodID)(void *)(intptr_t)FAKE_ENTER;
    env_of(env)->exception = true;
    return NULL;
}

static const struct JNINativeInterface_ functions = {
    .GetMethodID = get_method_id,
    .GetStaticMethodID = get_method_id,
    .IsInstanceOf = is_instance_of,
    .FindClass = find_class,
    .GetFieldID = get_field_id,
    .GetIntField = get_int_field,
    .GetLongField = get_long_field,
    .GetObjectField = get_object_field,
    .NewGlobalRef = new_global_ref,
    .DeleteGlobalRef = delete_global_ref,
    .DeleteLocalRef = delete_local_ref,
    .NewLocalRef = new_local_ref,
    .PushLocalFrame = push_local_frame,
    .PopLocalFrame = pop_local_frame,
    .EnsureLocalCapacity = ensure_local_capacity,
    .IsSameObject = is_same_object,
    .ExceptionCheck = exception_check,
    .ExceptionClear = exception_clear,
    .GetStringLength = get_string_length,
    .GetStringRegion = get_string_region,
    .GetArrayLength = get_array_length,
    .GetObjectArrayElement = get_object_array_element,
};

/* ------------------------------------------------------------------------------------- JavaVM */

JNIEnv *fake_vm_jni(void)
{
    struct env *env = own_env();

    if (env == NULL) {
        env = calloc(1, sizeof(*env));
        if (env == NULL || pthread_setspecific(env_key, env) != 0)
            abort();
        env->functions = &functions;
    }
    return (JNIEnv *)(void *)env;
}

void fake_vm_detach(void)
{
    struct env *env = own_env();

    if (env == NULL)
        return;
    free_locals(env, NULL);
    free(env);
    (void)pthread_setspecific(env_key, NULL);
}

static jint JNICALL get_env(JavaVM *java_vm, void **out, jint version)
{
    (void)java_vm;
    if (version == JNI_VERSION_1_8) {
        *out = own_env();
        return *out != NULL ? JNI_OK : JNI_EDETACHED;
    }
    if (fake_vm.jvmti_answer == JNI_OK)
        *out = fake_vm_jvmti();
    return fake_vm.jvmti_answer;
}

static jint JNICALL attach_as_daemon(JavaVM *java_vm, void **out, void *args)
{
    (void)java_vm;
    if (fake_vm.refuse_attach)
        return JNI_ERR;
    fake_vm.last_attach = *(JavaVMAttachArgs *)args;
    (void)strncpy(fake_vm.last_attach_name, fake_vm.last_attach.name,
                  sizeof(fake_vm.last_attach_name) - 1);
    *out = fake_vm_jni();
    if (fake_vm.on_attach != NULL)
        fake_vm.on_attach();
    return JNI_OK;
}

static jint JNICALL detach_current(JavaVM *java_vm)
{
    (void)java_vm;
    fake_vm_detach();
    return JNI_OK;
}

static const struct JNIInvokeInterface_ invoke_functions = {
    .GetEnv = get_env,
    .AttachCurrentThreadAsDaemon = attach_as_daemon,
    .DetachCurrentThread = detach_current,
};
static const struct JNIInvokeInterface_ *java_vm_functions = &invoke_functions;

JavaVM *fake_vm_java_vm(void)
{
    return (JavaVM *)(void *)&java_vm_functions;
}

/* ------------------------------------------------------------------------------------- the JVM */

void fake_vm_reset(void)
{
    const struct fake_method method = {
        .signature = "Lcom/acme/Shop;", .name = "sell", .type = "(I)V", .file = "Shop.java"
    };

    memset(&fake_vm, 0, sizeof(fake_vm));
    fake_vm.phase = JVMTI_PHASE_LIVE;
    fake_vm.potential.can_get_line_numbers = 1;
    fake_vm.potential.can_get_source_file_name = 1;
    fake_vm.system = (struct fake_group){ { FAKE_GROUP }, "system", NULL };
    fake_vm.method = fake_vm.other = method;
    fake_vm_detach();
    (void)fake_vm_jni();
}

void fake_vm_setup(void)
{
    fake_vm_reset();
    fake_vm.refs_before = fake_vm_live_refs();
    fake_vm.main_group = (struct fake_group){ { FAKE_GROUP }, "main", &fake_vm.system };
    fake_string_set(&fake_vm.main_name, "main");
    fake_vm_add(&fake_vm.main_thread, 1, "main");
    fake_vm.main_thread.name = &fake_vm.main_name;
    smp_jvm_loaded(fake_vm_java_vm());
}

void fake_vm_teardown(void)
{
    smp_agent_unloaded();
    if (fake_vm.phase == JVMTI_PHASE_DEAD)
        fake_vm_free_globals();
    assert_int_equal(smp_alloc_live_bytes(), 0);
    assert_int_equal(fake_vm_live_refs(), fake_vm.refs_before);
    assert_int_equal(fake_vm_live_pieces(), 0);
    fake_vm_detach();
}

void fake_vm_add(struct fake_thread *thread, int64_t java_id, const char *name)
{
    *thread = (struct fake_thread){ .object = { FAKE_THREAD },
                                    .java_id = java_id,
                                    .jvmti_name = name,
                                    .group = &fake_vm.main_group,
                                    .depth = 3 };
    fake_vm.threads[fake_vm.thread_count++] = thread;
}

static bool started(void *context, struct smp_thread *thread)
{
    struct fake_vm_reader *reader = context;

    if (reader->count == reader->accept || reader->count == FAKE_VM_MAX_POLLED)
        return false;
    reader->threads[reader->count++] = thread;
    return true;
}

void fake_vm_poll(struct fake_vm_reader *reader)
{
    const struct smp_thread_source source = smp_threads_source();

    assert_int_equal(source.poll(source.self, &reader->cursor, &reader->unseen, started, reader),
                     SMP_OK);
}

void fake_vm_drop_all(struct fake_vm_reader *reader)
{
    const struct smp_thread_source source = smp_threads_source();

    for (size_t i = 0; i < reader->count; i++)
        source.drop(source.self, reader->threads[i]);
    reader->count = 0;
}

int fake_vm_know_virtual_threads(void **state)
{
    (void)state;
    fake_vm_reset();
    fake_vm.has_virtual_threads = true;
    return smp_virtual_threads_init(fake_vm_jni()) ? 0 : -1;
}

int fake_vm_forget_virtual_threads(void **state)
{
    (void)state;
    fake_vm_detach();
    fake_vm_free_globals();
    return 0;
}

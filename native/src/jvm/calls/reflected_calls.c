/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/calls/reflected_calls.h"

#include <string.h>

#include "base/bytes.h"
#include "jvm/agent/jdk.h"
#include "jvm/calls/counted_classes.h"

enum { MOST_TEXT_BYTES = 128 * 1024 /* name and descriptor have at most 65,535 each */ };

/* Fields of Method or of Constructor. */
struct reflected_fields {
    jfieldID owner;
    jfieldID parameters;
    jfieldID modifiers;
};

static struct {
    jclass method_type; /* a global reference; NULL: not open */
    struct reflected_fields method;
    struct reflected_fields constructor;
    jfieldID name; /* name and result exist only in Method */
    jfieldID result;
} fields;

/* A reflective call whose target is being named. */
struct reflected_call {
    jvmtiEnv *jvmti;
    JNIEnv *env;
    jobject called;
    bool is_method;
    const struct reflected_fields *fields;
    char *class_signature; /* allocated by JVMTI */
    struct smp_slice class_name;
    struct smp_bytes text; /* `name.descriptor` */
};

/* --- open --- */

static bool find_reflected_fields(JNIEnv *env, jclass type, struct reflected_fields *out)
{
    out->owner = smp_jdk_field(env, type, "clazz", "Ljava/lang/Class;");
    out->parameters = smp_jdk_field(env, type, "parameterTypes", "[Ljava/lang/Class;");
    out->modifiers = smp_jdk_field(env, type, "modifiers", "I");
    return out->owner != NULL && out->parameters != NULL && out->modifiers != NULL;
}

bool smp_reflected_calls_open(JNIEnv *env)
{
    jclass method = NULL;
    jclass constructor = NULL;
    bool has_all = false;

    if (fields.method_type != NULL)
        return true;
    method = smp_jdk_class(env, SMP_REFLECT_METHOD);
    constructor = smp_jdk_class(env, SMP_REFLECT_CONSTRUCTOR);
    fields.name = smp_jdk_field(env, method, "name", "Ljava/lang/String;");
    fields.result = smp_jdk_field(env, method, "returnType", "Ljava/lang/Class;");
    has_all = fields.name != NULL && fields.result != NULL &&
              find_reflected_fields(env, method, &fields.method) &&
              find_reflected_fields(env, constructor, &fields.constructor);
    if (has_all)
        fields.method_type = smp_jdk_found(env, (*env)->NewGlobalRef(env, method));
    if (method != NULL)
        (*env)->DeleteLocalRef(env, method);
    if (constructor != NULL)
        (*env)->DeleteLocalRef(env, constructor);
    return fields.method_type != NULL;
}

/* --- names --- */

/* Adds the descriptor of a type. Frees the reference. */
static bool add_called_type(struct reflected_call *call, jclass type)
{
    char *signature = NULL;

    if (type == NULL)
        return false;
    const bool is_added =
        (*call->jvmti)->GetClassSignature(call->jvmti, type, &signature, NULL) == JVMTI_ERROR_NONE;
    if (is_added)
        smp_bytes_puts(&call->text, signature);
    (void)(*call->jvmti)->Deallocate(call->jvmti, (unsigned char *)signature);
    (*call->env)->DeleteLocalRef(call->env, type);
    return is_added;
}

static bool add_called_parameters(struct reflected_call *call)
{
    JNIEnv *env = call->env;
    jobjectArray types = (*env)->GetObjectField(env, call->called, call->fields->parameters);
    const jsize count = types == NULL ? 0 : (*env)->GetArrayLength(env, types);
    bool is_added = types != NULL;

    for (jsize i = 0; i < count && is_added; i++)
        is_added = add_called_type(call, (*env)->GetObjectArrayElement(env, types, i));
    if (types != NULL)
        (*env)->DeleteLocalRef(env, types);
    return is_added;
}

/* GetStringUTFRegion writes a NUL after the name, where smp_bytes also has one. */
static bool add_called_name(struct reflected_call *call)
{
    JNIEnv *env = call->env;
    const size_t at = call->text.length;
    jstring name = (*env)->GetObjectField(env, call->called, fields.name);

    if (name == NULL)
        return false;
    smp_bytes_fill(&call->text, ' ', (size_t)(*env)->GetStringUTFLength(env, name));
    if (call->text.status == SMP_OK)
        (*env)->GetStringUTFRegion(env, name, 0, (*env)->GetStringLength(env, name),
                                   call->text.data + at);
    (*env)->DeleteLocalRef(env, name);
    return true;
}

/* `name.descriptor` */
static bool add_called_signature(struct reflected_call *call)
{
    JNIEnv *env = call->env;

    if (call->is_method && !add_called_name(call))
        return false;
    smp_bytes_puts(&call->text, call->is_method ? ".(" : "<init>.(");
    if (!add_called_parameters(call))
        return false;
    smp_bytes_puts(&call->text, call->is_method ? ")" : ")V");
    return (!call->is_method ||
            add_called_type(call, (*env)->GetObjectField(env, call->called, fields.result))) &&
           call->text.status == SMP_OK;
}

/* Sets class_name, which is empty for a hidden class. Frees the reference. */
static bool name_owner(struct reflected_call *call, jclass type)
{
    jvmtiEnv *jvmti = call->jvmti;
    bool is_named = false;

    (void)(*jvmti)->Deallocate(jvmti, (unsigned char *)call->class_signature);
    call->class_signature = NULL;
    if (type == NULL)
        return false;
    is_named =
        (*jvmti)->GetClassSignature(jvmti, type, &call->class_signature, NULL) == JVMTI_ERROR_NONE;
    (*call->env)->DeleteLocalRef(call->env, type);
    if (is_named)
        call->class_name = smp_loaded_class_name(call->class_signature);
    return is_named;
}

static bool name_reflected(struct reflected_call *call, jobject receiver)
{
    JNIEnv *env = call->env;
    const jint modifiers = (*env)->GetIntField(env, call->called, call->fields->modifiers);

    if (receiver != NULL && (modifiers & (SMP_ACCESS_PRIVATE | SMP_ACCESS_STATIC)) == 0 &&
        !name_owner(call, (*env)->GetObjectClass(env, receiver)))
        return false;
    if (call->class_name.length == 0 &&
        !name_owner(call, (*env)->GetObjectField(env, call->called, call->fields->owner)))
        return false;
    return add_called_signature(call);
}

bool smp_reflected_calls_name(jvmtiEnv *jvmti, JNIEnv *env, jobject called, jobject receiver,
                              smp_on_reflected_call *on_call, void *self)
{
    struct reflected_call call = { .jvmti = jvmti, .env = env, .called = called };

    smp_bytes_init(&call.text, NULL, MOST_TEXT_BYTES);
    call.is_method = (*env)->IsInstanceOf(env, called, fields.method_type);
    call.fields = call.is_method ? &fields.method : &fields.constructor;
    const bool is_named = name_reflected(&call, receiver);
    /* A class without a name is not in the call graph. */
    if (is_named && call.class_name.length > 0)
        on_call(self, call.class_name,
                (struct smp_slice){ smp_bytes_text(&call.text), call.text.length });
    (void)(*jvmti)->Deallocate(jvmti, (unsigned char *)call.class_signature);
    smp_bytes_fini(&call.text);
    return is_named;
}

/* --- Method and Constructor --- */

enum { REFLECTIONS = 2 };

static const char *const REFLECTION[REFLECTIONS] = { SMP_REFLECT_METHOD, SMP_REFLECT_CONSTRUCTOR };

static bool needs_reflection(const struct smp_counted_classes *counted)
{
    struct smp_call_graph_figures figures;

    smp_call_graph_figures(counted->graph, &figures);
    return figures.roots > 0 && counted->plan->instrumentation != SMP_INSTRUMENTATION_TOTAL;
}

/* Returns 0 if the class is not in the call graph. */
static uint32_t index_of_reflection(const struct smp_counted_classes *counted, size_t which)
{
    const struct smp_slice name = { REFLECTION[which], strlen(REFLECTION[which]) };

    return smp_call_graph_find(counted->graph, SMP_CLASS_LOADERS_BOOT, name);
}

void smp_reflected_calls_follow(struct smp_counted_classes *counted)
{
    smp_lock_acquire(&counted->lock);
    if (counted->follows_reflection && !counted->has_reflection && needs_reflection(counted)) {
        counted->has_reflection = true;
        for (size_t i = 0; i < REFLECTIONS; i++) {
            const uint32_t index = index_of_reflection(counted, i);
            if (index != 0)
                smp_call_graph_put_back(counted->graph, index);
        }
    }
    smp_lock_release(&counted->lock);
}

/* Returns whether the JVM refuses to change the class, or the class lacks expected fields. */
static bool is_unfollowed(const struct smp_counted_classes *counted, size_t which)
{
    const uint32_t index = index_of_reflection(counted, which);

    return !counted->follows_reflection ||
           (index != 0 && smp_call_graph_is_refused(counted->graph, index));
}

void smp_reflected_calls_account(const struct smp_counted_classes *counted,
                                 struct smp_counting_account *out)
{
    char text[SMP_MAX_COUNTING_NAME_BYTES] = "calls by reflection are not found: ";
    const size_t length = strlen(text);

    for (size_t i = 0; i < REFLECTIONS && needs_reflection(counted); i++) {
        if (!is_unfollowed(counted, i))
            continue;
        (void)smp_class_name_text(text + length, sizeof(text) - length,
                                  (struct smp_slice){ REFLECTION[i], strlen(REFLECTION[i]) });
        smp_counting_account_add(out, SMP_COUNTING_LEFT_ALONE, 1);
        (void)smp_counting_account_name(out, SMP_COUNTING_LEFT_ALONE, text);
    }
}

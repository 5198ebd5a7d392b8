/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/code/same_method.h"

#include <jvmti.h>
#include <string.h>

#include "jvm/agent/agent.h"
#include "jvm/code/methods.h"
#include "jvm/code/named_methods.h"

/* free_identity frees all members; a member that was not found is NULL. */
struct identity {
    jclass declaring;
    jobject loader; /* NULL: the bootstrap loader, too */
    char *class_signature;
    char *name;
    char *signature;
};

static bool find_identity(jvmtiEnv *jvmti, uint64_t id, struct identity *out)
{
    jmethodID method = (jmethodID)(uintptr_t)id; /* NOLINT(performance-no-int-to-ptr) */

    return (*jvmti)->GetMethodDeclaringClass(jvmti, method, &out->declaring) == JVMTI_ERROR_NONE &&
           (*jvmti)->GetClassLoader(jvmti, out->declaring, &out->loader) == JVMTI_ERROR_NONE &&
           (*jvmti)->GetClassSignature(jvmti, out->declaring, &out->class_signature, NULL) ==
               JVMTI_ERROR_NONE &&
           (*jvmti)->GetMethodName(jvmti, method, &out->name, &out->signature, NULL) ==
               JVMTI_ERROR_NONE;
}

static void free_identity(jvmtiEnv *jvmti, JNIEnv *env, struct identity *identity)
{
    char *const texts[] = { identity->class_signature, identity->name, identity->signature };

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        if (texts[i] != NULL)
            (void)(*jvmti)->Deallocate(jvmti, (unsigned char *)texts[i]);
    }
    if (identity->loader != NULL)
        (*env)->DeleteLocalRef(env, identity->loader);
    if (identity->declaring != NULL)
        (*env)->DeleteLocalRef(env, identity->declaring);
}

static bool have_same_identity(jvmtiEnv *jvmti, JNIEnv *env, uint64_t one, uint64_t other)
{
    struct identity a = { 0 };
    struct identity b = { 0 };
    const bool is_same = find_identity(jvmti, one, &a) && find_identity(jvmti, other, &b) &&
                         strcmp(a.name, b.name) == 0 && strcmp(a.signature, b.signature) == 0 &&
                         strcmp(a.class_signature, b.class_signature) == 0 &&
                         (*env)->IsSameObject(env, a.loader, b.loader);

    free_identity(jvmti, env, &a);
    free_identity(jvmti, env, &b);
    return is_same;
}

/* Returns false for keys of our own, which the JVM would use as addresses. */
static bool is_method_id(uint64_t key)
{
    return key != 0 && key != SMP_METHODS_NO_ID && !smp_named_methods_is_key(key);
}

bool smp_same_method(uint64_t one, uint64_t other)
{
    JNIEnv *env = NULL;

    if (one == other)
        return true;
    if (!is_method_id(one) || !is_method_id(other) || !smp_agent_is_live())
        return false;
    env = smp_agent_env();
    return env != NULL && have_same_identity(smp_agent_jvmti(), env, one, other);
}

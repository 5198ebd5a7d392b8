/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/agent/version.h"

#include <string.h>

#include "base/decimal.h"
#include "jvm/agent/jdk.h"

enum { MOST = 10000 };

int smp_jvm_version_parse(const char *text)
{
    const char *end = NULL;

    if (strncmp(text, "1.", 2) == 0) /* up to 1.8 */
        text += 2;
    const uint32_t version = smp_decimal_parse(text, &end);
    return version < MOST ? (int)version : 0;
}

int smp_jvm_version(jvmtiEnv *jvmti)
{
    char *text = NULL;
    int version = 0;

    if ((*jvmti)->GetSystemProperty(jvmti, "java.vm.specification.version", &text) !=
            JVMTI_ERROR_NONE ||
        text == NULL)
        return 0;
    version = smp_jvm_version_parse(text);
    (void)(*jvmti)->Deallocate(jvmti, (unsigned char *)text);
    return version;
}

/* Returns true also if the JDK lacks the query. */
static bool has_preview_features(JNIEnv *env)
{
    jclass features = smp_jdk_class(env, "jdk/internal/misc/PreviewFeatures");
    jmethodID is_enabled = smp_jdk_static_method(env, features, "isEnabled", "()Z");
    const bool has =
        is_enabled == NULL || (*env)->CallStaticBooleanMethod(env, features, is_enabled);

    if ((*env)->ExceptionCheck(env))
        (*env)->ExceptionClear(env);
    if (features != NULL)
        (*env)->DeleteLocalRef(env, features);
    return has;
}

bool smp_jvm_version_has_value_classes(int version, JNIEnv *env)
{
    if (version != SMP_JVM_VALUE_CLASSES)
        return version > SMP_JVM_VALUE_CLASSES;
    return has_preview_features(env);
}

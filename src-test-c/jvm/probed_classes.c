/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The native library of torture/CallsTortureIT. It finds the methods of this JVM that call a hook,
 * whoever added the call. It shares nothing with the library under test.
 *
 * A restored class keeps the hooks' names in its constants, so only the code counts.
 */
#include <jni.h>
#include <jvmti.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    TEXT_BYTES = 64 * 1024,
    EXTRA_REFS = 64,
    MOST_CONSTANTS = 65536,
    INVOKESTATIC = 0xb8,
    UTF8 = 1,
    LONG = 5,
    DOUBLE = 6,
    CLASS = 7,
    STRING = 8,
    METHOD_REF = 10,
    METHOD_HANDLE = 15,
    METHOD_TYPE = 16,
    MODULE = 19,
    PACKAGE = 20
};

#define HOOK "java/lang/ThreadsSamplerHook"

static jvmtiEnv *jvmti;

struct constants {
    const unsigned char *at[MOST_CONSTANTS]; /* address of the tag of each constant; NULL: none */
    size_t count;
};

JNIEXPORT jstring JNICALL Java_com_incapsula_sampler_torture_ProbedClasses_find(JNIEnv *env,
                                                                                jclass type);

JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM *java_vm, void *reserved)
{
    const jvmtiCapabilities wanted = { .can_get_bytecodes = 1, .can_get_constant_pool = 1 };
    void *found = NULL;

    (void)reserved;
    if ((*java_vm)->GetEnv(java_vm, &found, JVMTI_VERSION_11) != JNI_OK)
        return JNI_ERR;
    jvmti = found;
    return (*jvmti)->AddCapabilities(jvmti, &wanted) == JVMTI_ERROR_NONE ? JNI_VERSION_10 : JNI_ERR;
}

static void release(void *piece)
{
    (void)(*jvmti)->Deallocate(jvmti, piece);
}

static size_t two_bytes(const unsigned char *at)
{
    return (size_t)at[0] << 8 | at[1];
}

/* Returns the size of the constant at this tag, including the tag. */
static size_t constant_size(const unsigned char *at)
{
    switch (*at) {
    case UTF8:
        return 3 + two_bytes(at + 1);
    case LONG:
    case DOUBLE:
        return 9;
    case METHOD_HANDLE:
        return 4;
    case CLASS:
    case STRING:
    case METHOD_TYPE:
    case MODULE:
    case PACKAGE:
        return 3;
    default:
        return 5;
    }
}

static void read_constants(struct constants *constants, jint count, const unsigned char *bytes,
                           jint size)
{
    const unsigned char *at = bytes;

    memset(constants->at, 0, sizeof(constants->at));
    constants->count = (size_t)count;
    for (size_t i = 1; i < constants->count && at < bytes + size; i++) {
        constants->at[i] = at;
        i += *at == LONG || *at == DOUBLE;
        at += constant_size(at);
    }
}

static bool is_hook(const struct constants *constants, size_t method)
{
    const unsigned char *at = method < constants->count ? constants->at[method] : NULL;

    if (at == NULL || *at != METHOD_REF)
        return false;
    at = constants->at[two_bytes(at + 1)];
    if (at == NULL || *at != CLASS)
        return false;
    at = constants->at[two_bytes(at + 1)];
    return at != NULL && *at == UTF8 && two_bytes(at + 1) == strlen(HOOK) &&
           memcmp(at + 3, HOOK, strlen(HOOK)) == 0;
}

/* Searches all bytes, not only the starts of instructions: it finds too many calls rather than too
 * few. */
static bool calls_hook(const struct constants *constants, jmethodID method)
{
    jint size = 0;
    unsigned char *code = NULL;
    bool calls = false;

    if ((*jvmti)->GetBytecodes(jvmti, method, &size, &code) != JVMTI_ERROR_NONE)
        return false; /* native or abstract */
    for (jint i = 0; i + 2 < size && !calls; i++)
        calls = code[i] == INVOKESTATIC && is_hook(constants, two_bytes(code + i + 1));
    release(code);
    return calls;
}

static void add_method(char *text, const char *signature, jmethodID method)
{
    const size_t length = strlen(text);
    char *name = NULL;

    if ((*jvmti)->GetMethodName(jvmti, method, &name, NULL, NULL) != JVMTI_ERROR_NONE)
        return;
    (void)snprintf(text + length, TEXT_BYTES - length, "%s.%s\n", signature, name);
    release(name);
}

static void search_methods(const struct constants *constants, jclass type, char *text)
{
    jint count = 0;
    jmethodID *methods = NULL;
    char *signature = NULL;

    if ((*jvmti)->GetClassSignature(jvmti, type, &signature, NULL) != JVMTI_ERROR_NONE)
        return;
    if (strcmp(signature, "L" HOOK ";") != 0 &&
        (*jvmti)->GetClassMethods(jvmti, type, &count, &methods) == JVMTI_ERROR_NONE) {
        for (jint i = 0; i < count; i++) {
            if (calls_hook(constants, methods[i]))
                add_method(text, signature, methods[i]);
        }
    }
    release(methods);
    release(signature);
}

static void search_class(struct constants *constants, jclass type, char *text)
{
    jint count = 0;
    jint size = 0;
    unsigned char *bytes = NULL;

    if ((*jvmti)->GetConstantPool(jvmti, type, &count, &size, &bytes) != JVMTI_ERROR_NONE)
        return; /* an array, or not linked */
    if (memmem(bytes, (size_t)size, HOOK, strlen(HOOK)) != NULL) {
        read_constants(constants, count, bytes, size);
        search_methods(constants, type, text);
    }
    release(bytes);
}

/* Returns a line for each method with a probe. */
JNIEXPORT jstring JNICALL Java_com_incapsula_sampler_torture_ProbedClasses_find(JNIEnv *env,
                                                                                jclass type)
{
    static struct constants constants;
    jint count = 0;
    jclass *classes = NULL;
    char *text = calloc(1, TEXT_BYTES);

    (void)type;
    if (text == NULL || (*jvmti)->GetLoadedClasses(jvmti, &count, &classes) != JVMTI_ERROR_NONE) {
        free(text);
        return NULL;
    }
    /* avoids a warning of -Xcheck:jni */
    (void)(*env)->EnsureLocalCapacity(env, count + EXTRA_REFS);
    for (jint i = 0; i < count; i++) {
        search_class(&constants, classes[i], text);
        (*env)->DeleteLocalRef(env, classes[i]);
    }
    release(classes);
    jstring result = (*env)->NewStringUTF(env, text);
    free(text);
    return result;
}

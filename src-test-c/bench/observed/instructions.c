/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/observed/instructions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OP_INVOKEVIRTUAL = 182, OP_INVOKEINTERFACE = 185, CALL_BYTES = 3 };

/* The constants of a class file. */
enum {
    UTF8 = 1,
    INTEGER = 3,
    FLOAT = 4,
    LONG = 5,
    DOUBLE = 6,
    CLASS = 7,
    STRING = 8,
    METHOD_HANDLE = 15,
    METHOD_TYPE = 16,
    MODULE = 19,
    PACKAGE = 20
};

struct pool {
    const unsigned char *bytes;
    size_t length;
    size_t count;
    uint32_t *offsets; /* offset of each constant's tag */
};

struct text {
    const char *at;
    int length;
};

static jvmtiEnv *jvmti;

bool instructions_open(JNIEnv *env)
{
    const jvmtiCapabilities wanted = { .can_get_bytecodes = 1, .can_get_constant_pool = 1 };
    JavaVM *java_vm = NULL;
    void *out = NULL;

    if (jvmti != NULL)
        return true;
    if ((*env)->GetJavaVM(env, &java_vm) != JNI_OK ||
        (*java_vm)->GetEnv(java_vm, &out, JVMTI_VERSION_1_2) != JNI_OK)
        return false;
    jvmti = out;
    return (*jvmti)->AddCapabilities(jvmti, &wanted) == JVMTI_ERROR_NONE;
}

jvmtiEnv *instructions_jvmti(void)
{
    return jvmti;
}

static uint32_t u2_at(const unsigned char *bytes)
{
    return (uint32_t)(bytes[0] << 8 | bytes[1]);
}

static size_t constant_bytes(const struct pool *pool, size_t at)
{
    switch (pool->bytes[at]) {
    case UTF8:
        return 3 + (size_t)u2_at(pool->bytes + at + 1);
    case INTEGER:
    case FLOAT:
        return 5;
    case LONG:
    case DOUBLE:
        return 9;
    case CLASS:
    case STRING:
    case METHOD_TYPE:
    case MODULE:
    case PACKAGE:
        return 3;
    case METHOD_HANDLE:
        return 4;
    default:
        return 5; /* two numbers */
    }
}

static bool find_constants(struct pool *pool)
{
    size_t at = 0;

    pool->offsets = calloc(pool->count, sizeof(*pool->offsets));
    if (pool->offsets == NULL)
        return false;
    for (size_t i = 1; i < pool->count && at + 3 <= pool->length; i++) {
        const unsigned char tag = pool->bytes[at];
        pool->offsets[i] = (uint32_t)at;
        at += constant_bytes(pool, at);
        if (tag == LONG || tag == DOUBLE)
            i++;
    }
    return at == pool->length;
}

/* Returns the constant at index, or the first one if there is none. */
static const unsigned char *constant(const struct pool *pool, uint32_t index)
{
    return pool->bytes + (index < pool->count ? pool->offsets[index] : 0);
}

static struct text utf8_of(const struct pool *pool, uint32_t index)
{
    const unsigned char *at = constant(pool, index);

    if (at[0] != UTF8)
        return (struct text){ "?", 1 };
    return (struct text){ (const char *)at + 3, (int)u2_at(at + 1) };
}

/* A reference to a method: its class's name, its name, its descriptor. */
static void describe_call(const struct pool *pool, unsigned opcode, uint32_t index, char *out,
                          size_t size)
{
    const unsigned char *method = constant(pool, index);
    const unsigned char *type = constant(pool, u2_at(method + 1));
    const unsigned char *both = constant(pool, u2_at(method + 3));
    const struct text class_name = utf8_of(pool, u2_at(type + 1));
    const struct text name = utf8_of(pool, u2_at(both + 1));
    const struct text descriptor = utf8_of(pool, u2_at(both + 3));

    (void)snprintf(out, size, "%u %.*s %.*s %.*s", opcode, class_name.length, class_name.at,
                   name.length, name.at, descriptor.length, descriptor.at);
}

static void describe_bytes(jclass declaring, const unsigned char *at, bool has_operand, char *out,
                           size_t size)
{
    struct pool pool = { 0 };
    unsigned char *bytes = NULL;
    jint count = 0;
    jint length = 0;

    if (at[0] < OP_INVOKEVIRTUAL || at[0] > OP_INVOKEINTERFACE || !has_operand) {
        (void)snprintf(out, size, "%u", at[0]);
        return;
    }
    if ((*jvmti)->GetConstantPool(jvmti, declaring, &count, &length, &bytes) != JVMTI_ERROR_NONE)
        return;
    pool.bytes = bytes;
    pool.count = (size_t)count;
    pool.length = (size_t)length;
    if (find_constants(&pool))
        describe_call(&pool, at[0], u2_at(at + 1), out, size);
    free(pool.offsets);
    (void)(*jvmti)->Deallocate(jvmti, bytes);
}

void instructions_describe(jclass declaring, jmethodID method, int64_t bci, char *out, size_t size)
{
    unsigned char *codes = NULL;
    jint count = 0;
    const jvmtiError error = (*jvmti)->GetBytecodes(jvmti, method, &count, &codes);

    (void)snprintf(out, size, "unknown");
    if (error == JVMTI_ERROR_NATIVE_METHOD)
        (void)snprintf(out, size, "native");
    if (error != JVMTI_ERROR_NONE)
        return;
    if (bci >= 0 && bci < count)
        describe_bytes(declaring, codes + bci, bci + CALL_BYTES <= count, out, size);
    (void)(*jvmti)->Deallocate(jvmti, codes);
}

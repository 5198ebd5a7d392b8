/* SPDX-License-Identifier: Apache-2.0 */
/* Byte codes and constants as the class file format has them, numbers with the high byte first. */
#include "jvm/code/invoked_method.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "jvm/agent/agent.h"

enum {
    INVOKE_VIRTUAL = 0xb6,
    INVOKE_INTERFACE = 0xb9,
    TAG_UTF8 = 1,
    TAG_INTEGER = 3,
    TAG_FLOAT = 4,
    TAG_LONG = 5,
    TAG_DOUBLE = 6,
    TAG_METHODREF = 10,
    TAG_INTERFACE_METHODREF = 11,
    TAG_NAME_AND_TYPE = 12,
    TAG_METHOD_HANDLE = 15
};

/* A class's constants; at == NULL: none. */
struct pool {
    unsigned char *at;
    size_t size;
    jint count;
};

static unsigned read_u2(const unsigned char *at)
{
    return (unsigned)at[0] << 8 | at[1];
}

/* With its tag; 0: not understood. */
static size_t constant_size(const unsigned char *at, size_t left)
{
    switch (at[0]) {
    case TAG_UTF8:
        return left >= 3 ? 3 + (size_t)read_u2(at + 1) : 0;
    case TAG_LONG:
    case TAG_DOUBLE:
        return 9;
    case TAG_METHOD_HANDLE:
        return 4;
    case TAG_INTEGER:
    case TAG_FLOAT:
    case 9: /* references to fields and methods, names and types, things computed later */
    case TAG_METHODREF:
    case TAG_INTERFACE_METHODREF:
    case TAG_NAME_AND_TYPE:
    case 17:
    case 18:
        return 5;
    case 7: /* classes, texts, method types, modules, packages */
    case 8:
    case 16:
    case 19:
    case 20:
        return 3;
    default:
        return 0;
    }
}

/* The constant of that number, or NULL. *size: with its tag. */
static const unsigned char *find_constant(const struct pool *pool, unsigned wanted, size_t *size)
{
    size_t offset = 0;

    for (unsigned i = 1; i < (unsigned)pool->count && offset < pool->size; i++) {
        const unsigned char *at = pool->at + offset;
        *size = constant_size(at, pool->size - offset);
        if (*size == 0 || *size > pool->size - offset)
            return NULL;
        if (i == wanted)
            return at;
        if (at[0] == TAG_LONG || at[0] == TAG_DOUBLE)
            i++; /* these take two numbers */
        offset += *size;
    }
    return NULL;
}

static bool read_invoked_name(const struct pool *pool, unsigned reference,
                              char out[SMP_INVOKED_METHOD_NAME_BYTES])
{
    size_t size = 0;
    const unsigned char *at = find_constant(pool, reference, &size);

    if (at == NULL || (at[0] != TAG_METHODREF && at[0] != TAG_INTERFACE_METHODREF))
        return false;
    at = find_constant(pool, read_u2(at + 3), &size);
    if (at == NULL || at[0] != TAG_NAME_AND_TYPE)
        return false;
    at = find_constant(pool, read_u2(at + 1), &size);
    if (at == NULL || at[0] != TAG_UTF8)
        return false;
    size_t length = size - 3;
    if (length > SMP_INVOKED_METHOD_NAME_BYTES - 1)
        length = SMP_INVOKED_METHOD_NAME_BYTES - 1;
    memcpy(out, at + 3, length);
    out[length] = '\0';
    return true;
}

/* The number of the constant that says what is called; 0: nothing is. */
static unsigned read_method_reference(jvmtiEnv *jvmti, jmethodID method, jint bci)
{
    unsigned char *codes = NULL;
    unsigned reference = 0;
    jint count = 0;

    if (bci < 0 || (*jvmti)->GetBytecodes(jvmti, method, &count, &codes) != JVMTI_ERROR_NONE)
        return 0;
    if (bci + 2 < count && codes[bci] >= INVOKE_VIRTUAL && codes[bci] <= INVOKE_INTERFACE)
        reference = read_u2(codes + bci + 1);
    (void)(*jvmti)->Deallocate(jvmti, codes);
    return reference;
}

bool smp_invoked_method_name(jvmtiEnv *jvmti, jmethodID method, jint bci,
                             char out[SMP_INVOKED_METHOD_NAME_BYTES])
{
    const unsigned reference = read_method_reference(jvmti, method, bci);
    JNIEnv *env = smp_agent_env();
    struct pool pool = { 0 };
    jclass owner = NULL;
    jint bytes = 0;
    bool found = false;

    if (reference == 0 || env == NULL ||
        (*jvmti)->GetMethodDeclaringClass(jvmti, method, &owner) != JVMTI_ERROR_NONE)
        return false;
    if ((*jvmti)->GetConstantPool(jvmti, owner, &pool.count, &bytes, &pool.at) ==
        JVMTI_ERROR_NONE) {
        pool.size = bytes > 0 ? (size_t)bytes : 0;
        found = read_invoked_name(&pool, reference, out);
        (void)(*jvmti)->Deallocate(jvmti, pool.at);
    }
    (*env)->DeleteLocalRef(env, owner);
    return found;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/code/call_sites.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "hotspot/machine_code.h"
#include "jvm/agent/agent.h"
#include "jvm/check/inline_record.h"
#include "jvm/code/code_map.h"

/* --- what a byte code calls: codes and constants as the class file format has them --- */

enum {
    NAME_BYTES = 32, /* longer names are cut */
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

/* The size with the tag; 0: not understood. */
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

/* The constant of that number, or NULL. *size includes the tag. */
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

static bool read_invoked_name(const struct pool *pool, unsigned reference, char out[NAME_BYTES])
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
    if (length > NAME_BYTES - 1)
        length = NAME_BYTES - 1;
    memcpy(out, at + 3, length);
    out[length] = '\0';
    return true;
}

/* The number of the constant that names the called method; 0: nothing is called. */
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

static bool find_invoked_name(jvmtiEnv *jvmti, jmethodID method, jint bci, char out[NAME_BYTES])
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

/* --- what byte codes call, remembered --- */

/* A byte code that has been read; ids are not used again. */
struct cached_call {
    jmethodID method;
    jint bci;
    bool copies;
};

static struct {
    pthread_mutex_t mutex;
    struct cached_call entries[SMP_CALL_SITES_CACHE]; /* guarded by mutex */
} cache = { .mutex = PTHREAD_MUTEX_INITIALIZER };

static struct cached_call *cache_entry(jmethodID method, jint bci)
{
    const uint64_t hash = ((uint64_t)(uintptr_t)method + (uint64_t)bci * 31) * 0x9E3779B97F4A7C15U;

    return &cache.entries[(hash >> 32) % SMP_CALL_SITES_CACHE];
}

static bool find_cached(jmethodID method, jint bci, bool *copies)
{
    (void)pthread_mutex_lock(&cache.mutex);
    const struct cached_call found = *cache_entry(method, bci);
    (void)pthread_mutex_unlock(&cache.mutex);
    *copies = found.copies;
    return found.method == method && found.bci == bci;
}

static void cache_is_copy(jmethodID method, jint bci, bool copies)
{
    (void)pthread_mutex_lock(&cache.mutex);
    *cache_entry(method, bci) =
        (struct cached_call){ .method = method, .bci = bci, .copies = copies };
    (void)pthread_mutex_unlock(&cache.mutex);
}

/* Does this byte code call a method that the compiler turns into an array copy? */
static bool calls_a_copy(jvmtiEnv *jvmti, jmethodID method, jint bci)
{
    static const char *const names[] = { "arraycopy", "copyOf", "copyOfRange", "clone" };
    char name[NAME_BYTES] = "";
    bool copies = false;

    if (find_cached(method, bci, &copies))
        return copies;
    if (find_invoked_name(jvmti, method, bci, name)) {
        for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
            copies = copies || strcmp(name, names[i]) == 0;
    }
    cache_is_copy(method, bci, copies);
    return copies;
}

static uintptr_t pc_distance(uintptr_t one, uintptr_t other)
{
    return one > other ? one - other : other - one;
}

/* The pc of the nearest record of a copy; 0: there is none. */
static uintptr_t find_copy_pc(jvmtiEnv *jvmti, const jvmtiCompiledMethodLoadInlineRecord *record,
                              uintptr_t pc)
{
    uintptr_t found = 0;

    for (jint i = 0; i < record->numpcs; i++) {
        const PCStackInfo *info = &record->pcinfo[i];
        const uintptr_t at = (uintptr_t)info->pc;
        if (found != 0 && pc_distance(at, pc) >= pc_distance(found, pc))
            continue;
        if (info->numstackframes > 0 && calls_a_copy(jvmti, info->methods[0], info->bcis[0]))
            found = at;
    }
    return found;
}

/* A record at the call's beginning belongs to the instruction before it. */
static bool has_own_record(const jvmtiCompiledMethodLoadInlineRecord *record, uintptr_t back,
                           uintptr_t end)
{
    const uintptr_t behind = smp_machine_code_behind_call(back, end);
    const jint next = smp_inline_record_first_at(record, back);

    return next < record->numpcs && smp_inline_record_pc(record, next) <= behind &&
           smp_machine_code_poll_load(smp_inline_record_pc(record, next), end) == 0;
}

void smp_call_sites_make(jvmtiEnv *jvmti, const void *start, size_t size, const void *info)
{
    const jvmtiCompiledMethodLoadInlineRecord *record = smp_inline_record_find(info);
    struct smp_call call = { 0 };

    if (record == NULL)
        return;
    for (size_t at = smp_machine_code_next_leaf_call(start, size, 0, &call); at != 0;
         at = smp_machine_code_next_leaf_call(start, size, at + 1, &call)) {
        const uintptr_t back = (uintptr_t)start + at;
        if (has_own_record(record, back, (uintptr_t)start + size) ||
            !smp_code_map_is_stub(call.target, "arraycopy"))
            continue;
        const uintptr_t pc = find_copy_pc(jvmti, record, back);
        if (pc != 0)
            smp_code_map_add_call_site(back, pc);
    }
}

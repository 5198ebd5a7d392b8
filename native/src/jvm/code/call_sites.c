/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/code/call_sites.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/alloc.h"
#include "classfile/class_file.h"
#include "hotspot/machine_code.h"
#include "jvm/agent/agent.h"
#include "jvm/check/inline_record.h"
#include "jvm/code/code_map.h"

/* --- what a byte code calls --- */

enum { INVOKE_VIRTUAL = 0xb6, INVOKE_INTERFACE = 0xb9, POOL_START = 1 };

/* The bytes of a class's constants, behind one byte: smp_class_file_open_pool needs an offset above
 * 0. bytes NULL: none. */
struct constants {
    uint8_t *bytes;
    struct smp_class_file file;
};

static bool open_constants(jvmtiEnv *jvmti, jclass owner, struct constants *out)
{
    unsigned char *pool = NULL;
    jint count = 0;
    jint size = 0;
    bool is_open = false;

    *out = (struct constants){ 0 };
    if ((*jvmti)->GetConstantPool(jvmti, owner, &count, &size, &pool) != JVMTI_ERROR_NONE)
        return false;
    if (size > 0)
        out->bytes = smp_alloc(NULL, POOL_START + (size_t)size);
    if (out->bytes != NULL) {
        memcpy(out->bytes + POOL_START, pool, (size_t)size);
        is_open = smp_class_file_open_pool(&out->file, out->bytes, POOL_START + (size_t)size,
                                           POOL_START, (uint16_t)count) == SMP_OK;
    }
    (void)(*jvmti)->Deallocate(jvmti, pool);
    return is_open;
}

static void close_constants(struct constants *constants)
{
    smp_class_file_close(&constants->file);
    smp_free(NULL, constants->bytes);
}

/* Returns the number of the constant that names the called method; 0 if nothing is called. */
static uint16_t read_method_reference(jvmtiEnv *jvmti, jmethodID method, jint bci)
{
    unsigned char *codes = NULL;
    uint16_t reference = 0;
    jint count = 0;

    if (bci < 0 || (*jvmti)->GetBytecodes(jvmti, method, &count, &codes) != JVMTI_ERROR_NONE)
        return 0;
    if (bci + 2 < count && codes[bci] >= INVOKE_VIRTUAL && codes[bci] <= INVOKE_INTERFACE)
        reference = smp_class_u2(codes + bci + 1);
    (void)(*jvmti)->Deallocate(jvmti, codes);
    return reference;
}

/* The compiler turns calls of these methods into array copies. */
static bool is_copy(struct smp_slice name)
{
    static const char *const names[] = { "arraycopy", "copyOf", "copyOfRange", "clone" };
    bool is = false;

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        is = is || smp_slice_is(name, names[i]);
    return is;
}

static bool invokes_copy(jvmtiEnv *jvmti, jmethodID method, jint bci)
{
    const uint16_t reference = read_method_reference(jvmti, method, bci);
    JNIEnv *env = smp_agent_env();
    struct constants constants;
    struct smp_class_member invoked;
    jclass owner = NULL;
    bool is = false;

    if (reference == 0 || env == NULL ||
        (*jvmti)->GetMethodDeclaringClass(jvmti, method, &owner) != JVMTI_ERROR_NONE)
        return false;
    if (open_constants(jvmti, owner, &constants))
        is = smp_class_file_member(&constants.file, reference, &invoked) && is_copy(invoked.name);
    close_constants(&constants);
    (*env)->DeleteLocalRef(env, owner);
    return is;
}

/* --- the cache --- */

/* A byte code that has been read. Ids are not reused. */
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

/* Returns whether this byte code calls a method that the compiler turns into an array copy. */
static bool calls_a_copy(jvmtiEnv *jvmti, jmethodID method, jint bci)
{
    bool copies = false;

    if (find_cached(method, bci, &copies))
        return copies;
    copies = invokes_copy(jvmti, method, bci);
    cache_is_copy(method, bci, copies);
    return copies;
}

static uintptr_t pc_distance(uintptr_t one, uintptr_t other)
{
    return one > other ? one - other : other - one;
}

/* Returns the pc of the nearest record of a copy, or 0. */
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

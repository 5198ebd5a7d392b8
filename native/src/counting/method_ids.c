/* SPDX-License-Identifier: Apache-2.0 */
#include "counting/method_ids.h"

#include <assert.h>
#include <string.h>

#include "base/utf8.h"

void smp_method_ids_init(struct smp_method_ids *ids, struct smp_memory_budget *budget,
                         struct smp_symbols *symbols, uint32_t limit)
{
    *ids = (struct smp_method_ids){ .symbols = symbols };
    smp_pool_init(&ids->records, budget, sizeof(struct smp_method_record), limit);
}

void smp_method_ids_fini(struct smp_method_ids *ids)
{
    smp_pool_fini(&ids->records);
}

bool smp_method_ids_reserve(struct smp_method_ids *ids)
{
    return smp_pool_reserve(&ids->records, 1);
}

int32_t smp_method_ids_take(struct smp_method_ids *ids, uint32_t class_name, uint32_t signature)
{
    const uint32_t taken = smp_pool_take(&ids->records);
    struct smp_method_record *const record = smp_pool_at(&ids->records, taken);

    record->class_name = smp_symbols_hold(ids->symbols, class_name);
    record->signature = smp_symbols_hold(ids->symbols, signature);
    record->state = SMP_METHOD_INSTRUMENTED;
    return (int32_t)taken - 1;
}

void smp_method_ids_set_source(struct smp_method_ids *ids, int32_t id, uint32_t source_file)
{
    struct smp_method_record *const record = smp_method_ids_at(ids, id);
    const uint32_t old = record->source_file;

    record->source_file = smp_symbols_hold(ids->symbols, source_file);
    smp_symbols_release(ids->symbols, old);
}

void smp_method_ids_retire(struct smp_method_ids *ids, int32_t id)
{
    struct smp_method_record *const record = smp_method_ids_at(ids, id);

    assert(record != NULL && record->state != SMP_METHOD_RETIRED);
    record->state = SMP_METHOD_RETIRED;
    record->in_class = 0;
    ids->retired++;
}

static void free_id(struct smp_method_ids *ids, int32_t id)
{
    struct smp_method_record *const record = smp_method_ids_at(ids, id);

    smp_symbols_release(ids->symbols, record->class_name);
    smp_symbols_release(ids->symbols, record->signature);
    smp_symbols_release(ids->symbols, record->source_file);
    smp_pool_give(&ids->records, (uint32_t)id + 1);
    record->state = SMP_METHOD_FREE;
}

uint32_t smp_method_ids_recycle(struct smp_method_ids *ids, smp_id_in_use *in_use, void *self)
{
    uint32_t freed = 0;

    for (int32_t id = 0; ids->retired > 0 && id < smp_method_ids_end(ids); id++) {
        const struct smp_method_record *const record = smp_method_ids_at(ids, id);

        if (record == NULL || record->state != SMP_METHOD_RETIRED || in_use(self, id))
            continue;
        free_id(ids, id);
        freed++;
    }
    ids->retired -= freed;
    return freed;
}

int32_t smp_method_ids_end(const struct smp_method_ids *ids)
{
    return (int32_t)ids->records.top - 1;
}

struct smp_method_record *smp_method_ids_at(const struct smp_method_ids *ids, int32_t id)
{
    struct smp_method_record *record = NULL;

    if (id < 0 || id >= smp_method_ids_end(ids))
        return NULL;
    record = smp_pool_at(&ids->records, (uint32_t)id + 1);
    return record->state != SMP_METHOD_FREE ? record : NULL;
}

/* --- names --- */

struct smp_slice smp_signature_name(struct smp_slice signature)
{
    const char *const dot = memchr(signature.bytes, '.', signature.length);

    return (struct smp_slice){ signature.bytes,
                               dot == NULL ? signature.length : (size_t)(dot - signature.bytes) };
}

struct smp_method_name smp_method_ids_name(const struct smp_method_ids *ids, int32_t id)
{
    const struct smp_method_record *const record = smp_method_ids_at(ids, id);
    const struct smp_slice signature = smp_symbols_text(ids->symbols, record->signature);
    struct smp_method_name name = { .class_name =
                                        smp_symbols_text(ids->symbols, record->class_name),
                                    .method_name = smp_signature_name(signature),
                                    .descriptor = signature,
                                    .source_file =
                                        smp_symbols_text(ids->symbols, record->source_file) };

    name.descriptor.bytes += name.method_name.length + 1;
    name.descriptor.length -= name.method_name.length + 1;
    return name;
}

size_t smp_class_name_text(char *out, size_t size, struct smp_slice class_name)
{
    const size_t length = smp_utf8_from_modified(out, size, class_name.bytes, class_name.length);

    for (size_t i = 0; i < length; i++) {
        if (out[i] == '/')
            out[i] = '.';
    }
    return length;
}

void smp_method_text(char *out, size_t size, struct smp_slice class_name, struct smp_slice method)
{
    /* Leaves room for a part of the method's name if the class name is too long. */
    size_t length = smp_class_name_text(out, size - 8, class_name);

    out[length++] = '.';
    (void)smp_utf8_from_modified(out + length, size - length, method.bytes, method.length);
}

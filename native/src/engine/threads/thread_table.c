/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/threads/thread_table.h"

#include <string.h>

enum {
    FIRST_CAPACITY = 64,
    SPARE_RECORDS = 64 /* allocated ahead, so that a few thread starts need no memory */
};

void smp_thread_table_init(struct smp_thread_table *table, struct smp_quota *quota,
                           size_t record_bytes, struct smp_memory_budget *budget,
                           const struct smp_thread_source *source,
                           const struct smp_name_callback *name_callback)
{
    *table = (struct smp_thread_table){
        .record_bytes = record_bytes,
        .quota = quota,
        .budget = budget,
        .source = source,
        .name_callback = name_callback,
    };
}

static void release_record(struct smp_thread_table *table, struct smp_thread_record *record)
{
    smp_thread_table_forget_name(table, record);
    smp_thread_table_forget_answer(table, record);
    smp_free(table->quota, record->raw_name);
    smp_free(table->quota, record->group_name);
    smp_last_stack_fini(&record->last, table->budget);
    table->source->drop(table->source->self, record->thread);
}

/* Frees spare records until `ready` records are left, used ones included. */
static void free_spares(struct smp_thread_table *table, size_t ready)
{
    while (table->ready > ready)
        smp_free(table->quota, table->records[--table->ready]);
}

void smp_thread_table_fini(struct smp_thread_table *table)
{
    for (size_t i = 0; i < table->count; i++)
        release_record(table, table->records[i]);
    free_spares(table, 0);
    smp_free(table->quota, table->records);
    smp_free(table->quota, table->serials);
    smp_free(table->quota, table->to_name);
    *table = (struct smp_thread_table){ 0 };
}

/* Returns false without memory; the array is then unchanged. */
static bool resize_array(struct smp_quota *quota, void **array, size_t bytes)
{
    void *const resized = smp_realloc(quota, *array, bytes);

    if (resized != NULL)
        *array = resized;
    return resized != NULL;
}

/* If this fails, some arrays may have the new size and others the old one, but all have room for
 * table->capacity elements. */
static bool resize_table(struct smp_thread_table *table, size_t capacity)
{
    struct smp_quota *quota = table->quota;
    void *records = table->records;
    void *serials = table->serials;
    void *to_name = table->to_name;
    const bool is_any = resize_array(quota, &records, capacity * sizeof(*table->records));
    const bool is_done = is_any &&
                         resize_array(quota, &serials, capacity * sizeof(*table->serials)) &&
                         resize_array(quota, &to_name, capacity * sizeof(*table->to_name));

    table->records = records;
    table->serials = serials;
    table->to_name = to_name;
    if (is_done || (is_any && capacity < table->capacity))
        table->capacity = capacity;
    return is_done;
}

static bool grow_table(struct smp_thread_table *table)
{
    return resize_table(table, table->capacity == 0 ? FIRST_CAPACITY : table->capacity * 2);
}

/* Returns whether there is a spare record now. */
static bool ensure_spare(struct smp_thread_table *table)
{
    if (table->ready > table->count)
        return true;
    if (table->count == table->capacity && !grow_table(table))
        return false;
    for (size_t i = 0; i < SPARE_RECORDS && table->ready < table->capacity; i++) {
        struct smp_thread_record *record = smp_alloc(table->quota, table->record_bytes);
        if (record == NULL)
            break;
        table->records[table->ready++] = record;
    }
    return table->ready > table->count;
}

struct smp_thread_record *smp_thread_table_add(struct smp_thread_table *table,
                                               struct smp_thread *thread)
{
    struct smp_thread_record *record = NULL;

    if (!ensure_spare(table))
        return NULL;
    record = table->records[table->count];
    memset(record, 0, table->record_bytes);
    record->thread = thread;
    record->index = table->count;
    table->serials[table->count] = thread->serial;
    table->count++;
    return record;
}

struct smp_thread_record *smp_thread_table_find(const struct smp_thread_table *table,
                                                uint64_t serial, size_t index)
{
    if (index < table->count && table->serials[index] == serial)
        return table->records[index];
    for (size_t i = 0; i < table->count; i++) {
        if (table->serials[i] == serial)
            return table->records[i];
    }
    return NULL;
}

/* Frees memory after many short-lived threads. If a resize fails, the arrays stay larger. */
static void shrink_table(struct smp_thread_table *table)
{
    if (table->ready > table->count + 2 * SPARE_RECORDS)
        free_spares(table, table->count + SPARE_RECORDS);
    if (table->capacity > FIRST_CAPACITY && table->ready < table->capacity / 4)
        (void)resize_table(table, table->capacity / 2);
}

void smp_thread_table_remove(struct smp_thread_table *table, struct smp_thread_record *record)
{
    const size_t index = record->index;

    release_record(table, record);
    table->count--;
    table->records[index] = table->records[table->count];
    table->records[index]->index = index;
    table->serials[index] = table->serials[table->count];
    table->records[table->count] = record;
    shrink_table(table);
}

bool smp_set_name(struct smp_quota *quota, char **name, const char *text)
{
    char *copy = smp_strndup(quota, text, strlen(text));

    if (copy == NULL)
        return false;
    smp_free(quota, *name);
    *name = copy;
    return true;
}

void smp_thread_table_forget_name(struct smp_thread_table *table, struct smp_thread_record *record)
{
    if (record->seen != NULL)
        table->source->forget(table->source->self, record->seen);
    record->seen = NULL;
}

void smp_thread_table_forget_answer(struct smp_thread_table *table,
                                    struct smp_thread_record *record)
{
    if (record->given != NULL)
        table->name_callback->forget(table->name_callback->self, record->given);
    record->given = NULL;
    record->naming = SMP_NAMING_SAME;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/threads/thread_table.h"

#include <string.h>

enum {
    FIRST_CAPACITY = 64,
    SPARE_RECORDS = 64 /* made at a time, so that a few births need no memory */
};

void smp_thread_table_init(struct smp_thread_table *table, struct smp_quota *quota,
                           struct smp_last_stack_budget *budget,
                           const struct smp_thread_source *source,
                           const struct smp_name_callback *name_callback)
{
    *table = (struct smp_thread_table){
        .quota = quota,
        .budget = budget,
        .source = source,
        .name_callback = name_callback,
    };
}

static void fini_record(struct smp_thread_table *table, struct smp_thread_record *record)
{
    smp_thread_table_forget_name(table, record);
    smp_thread_table_forget_answer(table, record);
    smp_free(table->quota, record->raw_name);
    smp_free(table->quota, record->group_name);
    smp_last_stack_fini(&record->last, table->budget);
    table->source->drop(table->source->self, record->thread);
}

/* Down to so many records. */
static void drop_spares(struct smp_thread_table *table, size_t ready)
{
    while (table->ready > ready)
        smp_free(table->quota, table->records[--table->ready]);
}

void smp_thread_table_fini(struct smp_thread_table *table)
{
    for (size_t i = 0; i < table->count; i++)
        fini_record(table, table->records[i]);
    drop_spares(table, 0);
    smp_free(table->quota, table->records);
    smp_free(table->quota, table->asked);
    smp_free(table->quota, table->answers);
    smp_free(table->quota, table->asked_records);
    *table = (struct smp_thread_table){ 0 };
}

static bool resize_array(struct smp_quota *quota, void **array, size_t capacity, size_t element)
{
    void *resized = smp_realloc(quota, *array, capacity * element);

    if (resized == NULL)
        return false;
    *array = resized;
    return true;
}

/* On failure some arrays may have the new size and others the old one: capacity is what all hold.
 */
static bool resize(struct smp_thread_table *table, size_t capacity)
{
    void *records = table->records;
    void *asked = table->asked;
    void *answers = table->answers;
    void *asked_records = table->asked_records;
    const bool resized =
        resize_array(table->quota, &records, capacity, sizeof(*table->records)) &&
        resize_array(table->quota, &asked, capacity, sizeof(*table->asked)) &&
        resize_array(table->quota, &answers, capacity, sizeof(*table->answers)) &&
        resize_array(table->quota, &asked_records, capacity, sizeof(*table->asked_records));

    table->records = records;
    table->asked = asked;
    table->answers = answers;
    table->asked_records = asked_records;
    if (resized || capacity < table->capacity)
        table->capacity = capacity;
    return resized;
}

static bool grow(struct smp_thread_table *table)
{
    return resize(table, table->capacity == 0 ? FIRST_CAPACITY : table->capacity * 2);
}

/* There is a spare record, afterwards. */
static bool make_spares(struct smp_thread_table *table)
{
    if (table->ready > table->count)
        return true;
    if (table->count == table->capacity && !grow(table))
        return false;
    for (size_t i = 0; i < SPARE_RECORDS && table->ready < table->capacity; i++) {
        struct smp_thread_record *record = smp_alloc(table->quota, sizeof(*record));
        if (record == NULL)
            break;
        table->records[table->ready++] = record;
    }
    return table->ready > table->count;
}

struct smp_thread_record *smp_thread_table_add(struct smp_thread_table *table,
                                               struct smp_thread *thread, int64_t credited_ns)
{
    struct smp_thread_record *record = NULL;

    if (!make_spares(table))
        return NULL;
    record = table->records[table->count];
    *record = (struct smp_thread_record){
        .thread = thread,
        .credited_ns = credited_ns,
        .index = table->count,
    };
    table->count++;
    return record;
}

/* After a storm of short threads the memory goes back; a refusal costs nothing but that. */
static void give_back(struct smp_thread_table *table)
{
    if (table->ready > table->count + 2 * SPARE_RECORDS)
        drop_spares(table, table->count + SPARE_RECORDS);
    if (table->capacity > FIRST_CAPACITY && table->ready < table->capacity / 4)
        (void)resize(table, table->capacity / 2);
}

void smp_thread_table_remove(struct smp_thread_table *table, struct smp_thread_record *record)
{
    const size_t index = record->index;

    fini_record(table, record);
    table->count--;
    table->records[index] = table->records[table->count];
    table->records[index]->index = index;
    table->records[table->count] = record;
    give_back(table);
}

bool smp_thread_table_rename(struct smp_thread_table *table, char **name, const char *text)
{
    char *copy = smp_strndup(table->quota, text, strlen(text));

    if (copy == NULL)
        return false;
    smp_free(table->quota, *name);
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

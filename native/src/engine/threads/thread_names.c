/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/threads/thread_names.h"

#include <string.h>

#include "model/name_rule.h"
#include "model/thread_groups.h"

#define UNNAMED_VIRTUAL "[virtual threads]"

struct smp_thread_names {
    struct smp_quota *quota;
    struct smp_thread_table *table;
    bool default_rule;
    smp_thread_names_leaving *leaving;
    void *leaving_context;
    uint64_t failures; /* of the user's rule in the running call */
    char raw[SMP_MAX_GROUP_NAME_BYTES];
    char group[SMP_MAX_GROUP_NAME_BYTES];
};

enum smp_status smp_thread_names_create(struct smp_quota *quota, struct smp_thread_table *table,
                                        bool default_rule, smp_thread_names_leaving *leaving,
                                        void *context, struct smp_thread_names **out)
{
    struct smp_thread_names *names = smp_alloc(quota, sizeof(*names));

    if (names == NULL)
        return SMP_ENOMEM;
    names->quota = quota;
    names->table = table;
    names->default_rule = default_rule;
    names->leaving = leaving;
    names->leaving_context = context;
    *out = names;
    return SMP_OK;
}

void smp_thread_names_destroy(struct smp_thread_names *names)
{
    if (names != NULL)
        smp_free(names->quota, names);
}

static void leave_group(struct smp_thread_names *names, struct smp_thread_record *record)
{
    names->leaving(names->leaving_context, record);
    record->tree_epoch = 0;
    smp_last_stack_forget(&record->last);
}

/* False: no memory. The thread then goes to the overflow group rather than to a wrong one. */
static bool set_group_name(struct smp_thread_names *names, struct smp_thread_record *record,
                           const char *name)
{
    struct smp_thread_table *table = names->table;
    const char *wanted = name[0] != '\0' ? name : SMP_UNNAMED;

    if (record->group_name != NULL && strcmp(record->group_name, wanted) == 0)
        return true;
    leave_group(names, record);
    if (smp_thread_table_rename(table, &record->group_name, wanted))
        return true;
    smp_free(table->quota, record->group_name);
    record->group_name = NULL;
    return false;
}

void smp_thread_names_set_rule(struct smp_thread_names *names, bool default_rule)
{
    struct smp_thread_table *table = names->table;

    smp_thread_names_let_go(names);
    names->default_rule = default_rule;
    for (size_t i = 0; i < table->count; i++) {
        smp_thread_table_forget_answer(table, table->records[i]);
        smp_thread_table_forget_name(table, table->records[i]);
    }
}

/* Makes names->raw the record's name. False: no memory. */
static bool keep_raw_name(struct smp_thread_names *names, struct smp_thread_record *record)
{
    struct smp_thread_table *table = names->table;

    if (!smp_thread_table_rename(table, &record->raw_name, names->raw))
        return false;
    if (names->default_rule) {
        (void)smp_name_rule_apply(names->raw, strlen(names->raw), names->group,
                                  sizeof(names->group));
        return set_group_name(names, record, names->group);
    }
    if (record->naming == SMP_NAMING_FAILED)
        return set_group_name(names, record, names->raw);
    return true;
}

void smp_thread_names_read(struct smp_thread_names *names, struct smp_thread_record *record)
{
    struct smp_thread_table *table = names->table;
    bool changed = false;
    const enum smp_status status =
        table->source->name(table->source->self, record->thread, &record->seen, names->raw,
                            sizeof(names->raw), &changed);

    if (status == SMP_OK && changed && !keep_raw_name(names, record))
        smp_thread_table_forget_name(table, record);
    /* The thread started and ended between two ticks. It counts as unseen and is never polled. */
    if (status == SMP_EGONE && !record->was_polled)
        record->is_candidate = false;
    else if (status != SMP_OK && record->group_name == NULL)
        (void)set_group_name(names, record, SMP_UNNAMED);
}

static void on_name_answer(void *context, void *named, enum smp_naming naming, const char *name)
{
    struct smp_thread_names *names = context;
    struct smp_thread_record *record = named;
    bool kept = true;

    record->is_named = true;
    if (naming == SMP_NAMING_SAME && record->naming != SMP_NAMING_SAME)
        return;
    record->naming = naming == SMP_NAMING_SAME ? SMP_NAMING_FAILED : naming;
    if (record->naming == SMP_NAMING_NAMED)
        kept = set_group_name(names, record, name);
    if (record->naming == SMP_NAMING_FAILED) {
        names->failures++;
        kept = set_group_name(names, record, record->raw_name != NULL ? record->raw_name : "");
    }
    /* The answer was not kept, so the callback has to repeat it: SAME would be wrong next time. */
    if (!kept)
        record->naming = SMP_NAMING_SAME;
}

static size_t collect_candidates(struct smp_thread_table *table)
{
    size_t count = 0;

    for (size_t i = 0; i < table->count; i++) {
        struct smp_thread_record *record = table->records[i];
        if (!record->is_candidate)
            continue;
        record->is_named = false;
        if (record->naming == SMP_NAMING_SAME)
            smp_thread_table_forget_answer(table, record);
        table->to_name[count++] = (struct smp_thread_to_name){ .thread = record->thread,
                                                               .memory = &record->given,
                                                               .record = record };
    }
    return count;
}

/* Threads that a failed call left without a name get their raw name, as if the rule had failed for
 * each of them. */
static void call_name_rule(struct smp_thread_names *names)
{
    struct smp_thread_table *table = names->table;
    const struct smp_name_callback *name_callback = table->name_callback;
    const size_t count = collect_candidates(table);

    if (count == 0)
        return;
    name_callback->group_names(name_callback->self, table->to_name, count, on_name_answer, names);
    for (size_t i = 0; i < count; i++) {
        struct smp_thread_record *record = table->to_name[i].record;
        if (!record->is_named)
            on_name_answer(names, record, SMP_NAMING_FAILED, NULL);
    }
}

uint64_t smp_thread_names_apply_rule(struct smp_thread_names *names)
{
    struct smp_thread_table *table = names->table;

    names->failures = 0;
    for (size_t i = 0; i < table->count; i++) {
        if (table->records[i]->is_candidate)
            smp_thread_names_read(names, table->records[i]);
    }
    call_name_rule(names);
    return names->failures;
}

void smp_thread_names_let_go(struct smp_thread_names *names)
{
    const struct smp_name_callback *name_callback = names->table->name_callback;

    if (!names->default_rule && name_callback->group_names != NULL)
        name_callback->group_names(name_callback->self, NULL, 0, on_name_answer, names);
}

static const char *raw_name_of(const struct smp_mounted_thread *mounted)
{
    return mounted->name != NULL && mounted->name[0] != '\0' ? mounted->name : UNNAMED_VIRTUAL;
}

const char *smp_thread_names_of_mounted(struct smp_thread_names *names,
                                        const struct smp_mounted_thread *mounted,
                                        uint64_t *failures)
{
    const struct smp_name_callback *name_callback = names->table->name_callback;
    const char *raw = raw_name_of(mounted);
    const char *name = NULL;

    if (names->default_rule) {
        (void)smp_name_rule_apply(raw, strlen(raw), names->group, sizeof(names->group));
        return names->group;
    }
    if (mounted->ref == NULL || name_callback->mounted_name == NULL)
        return raw;
    switch (name_callback->mounted_name(name_callback->self, mounted->ref, &name)) {
    case SMP_NAMING_NAMED:
        return name[0] != '\0' ? name : SMP_UNNAMED;
    case SMP_NAMING_SKIP:
        return NULL;
    default:
        (*failures)++;
        return raw;
    }
}

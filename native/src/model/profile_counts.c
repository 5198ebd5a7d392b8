/* SPDX-License-Identifier: Apache-2.0 */
#include "model/profile_counts.h"

#include <string.h>

#include "model/measure.h"
#include "model/tree_fold.h"

enum { FIRST_ROWS = 16 };

/* --- rows by node --- */

/* A table of rows that each begin with the number of their node. */
struct node_rows {
    struct smp_quota *quota;
    char *rows;
    size_t row_bytes;
    size_t count;
    size_t capacity;
    size_t most;
    uint32_t *places; /* by node: its row + 1; 0: none */
    size_t place_count;
};

static void fini_rows(struct node_rows *table)
{
    smp_free(table->quota, table->places);
    smp_free(table->quota, table->rows);
}

static void *row_by_index(const struct node_rows *table, size_t index)
{
    return table->rows + index * table->row_bytes;
}

/* Returns NULL if the node has no row. */
static void *row_by_node(const struct node_rows *table, uint32_t node)
{
    const uint32_t place = node < table->place_count ? table->places[node] : 0;

    return place == 0 ? NULL : row_by_index(table, place - 1);
}

static enum smp_status grow_rows(struct node_rows *table)
{
    const size_t capacity = table->capacity == 0 ? FIRST_ROWS : 2 * table->capacity;
    char *rows = NULL;

    if (table->count == table->most)
        return SMP_EQUOTA;
    if (table->count < table->capacity)
        return SMP_OK;
    rows = smp_realloc(table->quota, table->rows, capacity * table->row_bytes);
    if (rows == NULL)
        return SMP_ENOMEM;
    table->rows = rows;
    table->capacity = capacity;
    return SMP_OK;
}

static enum smp_status grow_places(struct node_rows *table, uint32_t node)
{
    const size_t least = (size_t)node + 1;
    const size_t twice = table->place_count == 0 ? FIRST_ROWS : 2 * table->place_count;
    const size_t count = least > twice ? least : twice;
    uint32_t *places = NULL;

    if (least <= table->place_count)
        return SMP_OK;
    places = smp_realloc(table->quota, table->places, count * sizeof(*places));
    if (places == NULL)
        return SMP_ENOMEM;
    memset(&places[table->place_count], 0, (count - table->place_count) * sizeof(*places));
    table->places = places;
    table->place_count = count;
    return SMP_OK;
}

/* The node has no row yet. */
static enum smp_status append_row(struct node_rows *table, uint32_t node, const void *row)
{
    enum smp_status status = grow_rows(table);

    if (status == SMP_OK)
        status = grow_places(table, node);
    if (status != SMP_OK)
        return status;
    memcpy(row_by_index(table, table->count), row, table->row_bytes);
    table->places[node] = (uint32_t)++table->count;
    return SMP_OK;
}

/* Drops the rows of removed nodes. */
static void renumber_rows(struct node_rows *table, const uint32_t *places)
{
    const size_t count = table->count;

    if (count == 0)
        return;
    memset(table->places, 0, table->place_count * sizeof(*table->places));
    table->count = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t node;
        memcpy(&node, row_by_index(table, i), sizeof(node));
        node = places[node];
        if ((node & SMP_PLACE_FOLDED) != 0)
            continue;
        memmove(row_by_index(table, table->count), row_by_index(table, i), table->row_bytes);
        memcpy(row_by_index(table, table->count), &node, sizeof(node));
        table->places[node] = (uint32_t)++table->count;
    }
}

/* --- times of finished calls --- */

struct smp_root_times {
    struct node_rows table;
};

enum smp_status smp_root_times_create(struct smp_quota *quota, struct smp_root_times **out)
{
    struct smp_root_times *const times = smp_alloc(quota, sizeof(*times));

    if (times == NULL)
        return SMP_ENOMEM;
    times->table = (struct node_rows){ .quota = quota,
                                       .row_bytes = sizeof(struct smp_root_time),
                                       .most = SMP_MAX_ROOT_TIMES };
    *out = times;
    return SMP_OK;
}

void smp_root_times_destroy(struct smp_root_times *times)
{
    if (times == NULL)
        return;
    fini_rows(&times->table);
    smp_free(times->table.quota, times);
}

enum smp_status smp_root_times_add(struct smp_root_times *times, const struct smp_root_time *time)
{
    struct smp_root_time *const row = row_by_node(&times->table, time->node);

    if (time->calls == 0)
        return SMP_OK;
    if (row == NULL)
        return append_row(&times->table, time->node, time);
    row->calls = smp_add_clamped(row->calls, time->calls);
    row->total_ns = smp_add_clamped(row->total_ns, time->total_ns);
    if (time->min_ns < row->min_ns)
        row->min_ns = time->min_ns;
    if (time->max_ns > row->max_ns)
        row->max_ns = time->max_ns;
    return SMP_OK;
}

void smp_root_times_renumber(struct smp_root_times *times, const uint32_t *places)
{
    renumber_rows(&times->table, places);
}

const struct smp_root_time *smp_root_times_find(const struct smp_root_times *times, uint32_t node)
{
    return times == NULL ? NULL : row_by_node(&times->table, node);
}

size_t smp_root_times_count(const struct smp_root_times *times)
{
    return times == NULL ? 0 : times->table.count;
}

const struct smp_root_time *smp_root_times_at(const struct smp_root_times *times, size_t index)
{
    return row_by_index(&times->table, index);
}

/* --- calls of callers --- */

struct smp_caller_calls {
    struct node_rows table;
    size_t unsettled;
    int64_t *marked; /* calls by node; NULL: no mark */
    size_t marked_count;
    int64_t marked_ms;
};

enum smp_status smp_caller_calls_create(struct smp_quota *quota, struct smp_caller_calls **out)
{
    struct smp_caller_calls *const calls = smp_alloc(quota, sizeof(*calls));

    if (calls == NULL)
        return SMP_ENOMEM;
    calls->table = (struct node_rows){ .quota = quota,
                                       .row_bytes = sizeof(struct smp_caller_call),
                                       .most = SMP_MAX_CALLER_CALLS };
    *out = calls;
    return SMP_OK;
}

void smp_caller_calls_destroy(struct smp_caller_calls *calls)
{
    if (calls == NULL)
        return;
    smp_caller_calls_drop_mark(calls);
    fini_rows(&calls->table);
    smp_free(calls->table.quota, calls);
}

enum smp_status smp_caller_calls_add(struct smp_caller_calls *calls,
                                     const struct smp_caller_call *call)
{
    struct smp_caller_call *const row = row_by_node(&calls->table, call->node);
    enum smp_status status;

    if (row != NULL) {
        row->calls = smp_add_clamped(row->calls, call->calls);
        return SMP_OK;
    }
    status = append_row(&calls->table, call->node, call);
    calls->unsettled += status == SMP_OK && call->calls < 0;
    return status;
}

void smp_caller_calls_drop_mark(struct smp_caller_calls *calls)
{
    if (calls == NULL)
        return;
    smp_free(calls->table.quota, calls->marked);
    calls->marked = NULL;
    calls->marked_count = 0;
    calls->marked_ms = 0;
}

void smp_caller_calls_mark(struct smp_caller_calls *calls, const struct smp_tree *tree,
                           int64_t wall_ms)
{
    const size_t count = smp_tree_node_count(tree);
    int64_t *const marked = smp_alloc(calls->table.quota, count * sizeof(*marked));

    if (marked == NULL)
        return;
    for (uint32_t node = 1; node < count; node++)
        marked[node] = smp_tree_self(tree, node, SMP_MEASURE_CALLS);
    smp_caller_calls_drop_mark(calls);
    calls->marked = marked;
    calls->marked_count = count;
    calls->marked_ms = wall_ms;
}

enum smp_status smp_caller_calls_add_late(struct smp_caller_calls *calls, uint32_t node,
                                          uint32_t caller, int64_t since_ms)
{
    const bool is_marked = since_ms <= calls->marked_ms && caller < calls->marked_count;
    const struct smp_caller_call late = { .node = node,
                                          .calls = is_marked ? calls->marked[caller] : -1 };

    return smp_caller_calls_add(calls, &late);
}

void smp_caller_calls_settle(struct smp_caller_calls *calls, const struct smp_tree *tree)
{
    for (size_t i = smp_caller_calls_count(calls); i > 0 && calls->unsettled > 0; i--) {
        struct smp_caller_call *const row = row_by_index(&calls->table, i - 1);
        if (row->calls >= 0)
            continue;
        row->calls = smp_tree_self(tree, smp_tree_nodes(tree)[row->node].parent, SMP_MEASURE_CALLS);
        calls->unsettled--;
    }
}

void smp_caller_calls_renumber(struct smp_caller_calls *calls, const uint32_t *places)
{
    smp_caller_calls_drop_mark(calls);
    renumber_rows(&calls->table, places);
    calls->unsettled = 0;
    for (size_t i = 0; i < calls->table.count; i++)
        calls->unsettled += smp_caller_calls_at(calls, i)->calls < 0;
}

int64_t smp_caller_calls_find(const struct smp_caller_calls *calls, uint32_t node)
{
    const struct smp_caller_call *const row =
        calls == NULL ? NULL : row_by_node(&calls->table, node);

    return row != NULL && row->calls > 0 ? row->calls : 0;
}

size_t smp_caller_calls_count(const struct smp_caller_calls *calls)
{
    return calls == NULL ? 0 : calls->table.count;
}

const struct smp_caller_call *smp_caller_calls_at(const struct smp_caller_calls *calls,
                                                  size_t index)
{
    return row_by_index(&calls->table, index);
}

/* --- all of them --- */

void smp_profile_counts_fini(struct smp_profile_counts *counts)
{
    smp_root_times_destroy(counts->root_times);
    smp_caller_calls_destroy(counts->caller_calls);
    smp_counting_account_destroy(counts->account);
}

void smp_profile_counts_renumber(struct smp_profile_counts *counts, const uint32_t *places)
{
    if (counts->root_times != NULL)
        smp_root_times_renumber(counts->root_times, places);
    if (counts->caller_calls != NULL)
        smp_caller_calls_renumber(counts->caller_calls, places);
}

enum smp_status smp_profile_counts_add_root_time(struct smp_profile_counts *counts,
                                                 struct smp_quota *quota,
                                                 const struct smp_root_time *time)
{
    enum smp_status status = SMP_OK;

    if (counts->root_times == NULL)
        status = smp_root_times_create(quota, &counts->root_times);
    return status == SMP_OK ? smp_root_times_add(counts->root_times, time) : status;
}

enum smp_status smp_profile_counts_add_caller(struct smp_profile_counts *counts,
                                              struct smp_quota *quota,
                                              const struct smp_caller_call *call)
{
    enum smp_status status = SMP_OK;

    if (counts->caller_calls == NULL)
        status = smp_caller_calls_create(quota, &counts->caller_calls);
    return status == SMP_OK ? smp_caller_calls_add(counts->caller_calls, call) : status;
}

enum smp_status smp_profile_counts_add_account(struct smp_profile_counts *counts,
                                               struct smp_quota *quota,
                                               const struct smp_counting_account *more)
{
    enum smp_status status = SMP_OK;

    if (counts->account == NULL)
        status = smp_counting_account_create(quota, &counts->account);
    return status == SMP_OK ? smp_counting_account_merge(counts->account, more) : status;
}

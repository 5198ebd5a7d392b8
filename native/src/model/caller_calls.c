/* SPDX-License-Identifier: Apache-2.0 */
#include "model/caller_calls.h"

#include <string.h>

#include "base/lower_bound.h"
#include "model/measure.h"
#include "model/tree_fold.h"

enum { FIRST_CALLERS = 64 };

struct smp_caller_calls {
    struct smp_quota *quota;
    struct smp_caller_call *rows; /* ascending nodes */
    size_t count;
    size_t capacity;
    size_t unsettled;
    int64_t *marked; /* calls by node; NULL: no mark */
    size_t marked_count;
    int64_t marked_ms;
};

static uint64_t caller_node_at(const void *rows, size_t index)
{
    return ((const struct smp_caller_call *)rows)[index].node;
}

/* The first row whose node is not below this one. */
static size_t find_caller(const struct smp_caller_calls *table, uint32_t node)
{
    return smp_lower_bound(table->rows, table->count, caller_node_at, node);
}

static enum smp_status grow_callers(struct smp_caller_calls *table)
{
    const size_t capacity = table->capacity == 0 ? FIRST_CALLERS : 2 * table->capacity;
    struct smp_caller_call *rows = NULL;

    if (table->count == SMP_MAX_CALLER_CALLS)
        return SMP_EQUOTA;
    if (table->count < table->capacity)
        return SMP_OK;
    rows = smp_realloc(table->quota, table->rows, capacity * sizeof(*rows));
    if (rows == NULL)
        return SMP_ENOMEM;
    table->rows = rows;
    table->capacity = capacity;
    return SMP_OK;
}

enum smp_status smp_caller_calls_create(struct smp_quota *quota, struct smp_caller_calls **out)
{
    struct smp_caller_calls *const table = smp_alloc(quota, sizeof(*table));

    if (table == NULL)
        return SMP_ENOMEM;
    table->quota = quota;
    *out = table;
    return SMP_OK;
}

void smp_caller_calls_destroy(struct smp_caller_calls *table)
{
    if (table == NULL)
        return;
    smp_caller_calls_drop_mark(table);
    smp_free(table->quota, table->rows);
    smp_free(table->quota, table);
}

enum smp_status smp_caller_calls_add(struct smp_caller_calls *table,
                                     const struct smp_caller_call *call)
{
    const size_t at = find_caller(table, call->node);
    enum smp_status status;

    if (at < table->count && table->rows[at].node == call->node) {
        table->rows[at].calls = smp_add_clamped(table->rows[at].calls, call->calls);
        return SMP_OK;
    }
    status = grow_callers(table);
    if (status != SMP_OK)
        return status;
    memmove(&table->rows[at + 1], &table->rows[at], (table->count - at) * sizeof(*table->rows));
    table->rows[at] = *call;
    table->count++;
    table->unsettled += call->calls < 0;
    return SMP_OK;
}

void smp_caller_calls_drop_mark(struct smp_caller_calls *table)
{
    if (table == NULL)
        return;
    smp_free(table->quota, table->marked);
    table->marked = NULL;
    table->marked_count = 0;
    table->marked_ms = 0;
}

void smp_caller_calls_mark(struct smp_caller_calls *table, const struct smp_tree *tree,
                           int64_t wall_ms)
{
    const size_t count = smp_tree_node_count(tree);
    int64_t *const marked = smp_alloc(table->quota, count * sizeof(*marked));

    if (marked == NULL)
        return;
    for (uint32_t node = 1; node < count; node++)
        marked[node] = smp_tree_self(tree, node, SMP_MEASURE_CALLS);
    smp_caller_calls_drop_mark(table);
    table->marked = marked;
    table->marked_count = count;
    table->marked_ms = wall_ms;
}

enum smp_status smp_caller_calls_add_late(struct smp_caller_calls *table, uint32_t node,
                                          uint32_t caller, int64_t since_ms)
{
    const struct smp_caller_call late = {
        .node = node,
        .calls = since_ms <= table->marked_ms && caller < table->marked_count
                     ? table->marked[caller]
                     : -1,
    };

    return smp_caller_calls_add(table, &late);
}

void smp_caller_calls_settle(struct smp_caller_calls *table, const struct smp_tree *tree)
{
    for (size_t i = table == NULL ? 0 : table->count; i > 0 && table->unsettled > 0; i--) {
        struct smp_caller_call *const row = &table->rows[i - 1];
        if (row->calls >= 0)
            continue;
        row->calls = smp_tree_self(tree, smp_tree_nodes(tree)[row->node].parent, SMP_MEASURE_CALLS);
        table->unsettled--;
    }
}

void smp_caller_calls_renumber(struct smp_caller_calls *table, const uint32_t *places)
{
    size_t kept = 0;

    smp_caller_calls_drop_mark(table);
    for (size_t i = 0; i < table->count; i++) {
        struct smp_caller_call row = table->rows[i];
        row.node = places[row.node];
        if ((row.node & SMP_PLACE_FOLDED) == 0)
            table->rows[kept++] = row; /* remaining nodes keep their order */
        else
            table->unsettled -= row.calls < 0;
    }
    table->count = kept;
}

int64_t smp_caller_calls_find(const struct smp_caller_calls *table, uint32_t node)
{
    const size_t at = table == NULL ? 0 : find_caller(table, node);

    return table != NULL && at < table->count && table->rows[at].node == node &&
                   table->rows[at].calls > 0
               ? table->rows[at].calls
               : 0;
}

size_t smp_caller_calls_count(const struct smp_caller_calls *table)
{
    return table == NULL ? 0 : table->count;
}

const struct smp_caller_call *smp_caller_calls_at(const struct smp_caller_calls *table,
                                                  size_t index)
{
    return &table->rows[index];
}

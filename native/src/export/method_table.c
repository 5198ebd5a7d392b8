/* SPDX-License-Identifier: Apache-2.0 */
/*
 * method_table.c - each location gets a name, and locations with equal names share a row. Then a
 * walk over each counted tree adds each node to its row, and records the edge from its parent's
 * row.
 *
 * Each row remembers its outermost node on the current path and the depth of that node. The row's
 * call is still open as long as the path has that node at that depth.
 */
#include "export/method_table.h"

#include <string.h>

#include "base/sort.h"
#include "export/hot_groups.h"
#include "export/row_since.h"
#include "export/tree_walk.h"

struct open_call {
    uint32_t node; /* 0: none */
    size_t depth;
};

struct table_maker {
    const struct smp_profile *profile;
    const struct smp_table_choice *choice;
    struct smp_quota *quota;
    struct smp_method_table *table;
    struct smp_hot_groups groups;
    uint32_t *row_of;    /* by location: its row + 1; before rows are made, its number + 1 */
    uint32_t *locations; /* by number */
    uint32_t location_count;
    uint32_t *sort;         /* rows or edges; the second half is scratch memory */
    struct open_call *open; /* by row */
    struct open_call focus;
    uint32_t focus_row;
    size_t node_count; /* nodes of counted trees */
    struct smp_tree_walk walk;
    struct smp_column wall;
    struct smp_column calls;
    struct smp_row_since since;
};

/* --- walks --- */

typedef void visit_node(struct table_maker *maker, uint32_t node);

static enum smp_status walk_counted(struct table_maker *maker, visit_node *visit)
{
    enum smp_status status = SMP_OK;

    for (size_t i = 0; i < maker->groups.count && status == SMP_OK; i++) {
        smp_tree_walk_begin(&maker->walk,
                            smp_profile_group_info(maker->profile, maker->groups.indices[i])->root);
        while (smp_tree_walk_next(&maker->walk))
            visit(maker, smp_tree_walk_node(&maker->walk));
        status = maker->walk.status;
    }
    return status;
}

/* --- names and rows --- */

static void number_location(struct table_maker *maker, uint32_t node)
{
    uint32_t *const number = &maker->row_of[maker->walk.nodes[node].location];

    maker->node_count++;
    if (*number == 0)
        *number = ++maker->location_count;
}

static enum smp_status sort_numbers(struct table_maker *maker, size_t count,
                                    smp_index_before *before)
{
    smp_free(maker->quota, maker->sort);
    maker->sort = smp_alloc(maker->quota, (2 * count + 1) * sizeof(*maker->sort));
    if (maker->sort == NULL)
        return SMP_ENOMEM;
    for (size_t i = 0; i < count; i++)
        maker->sort[i] = (uint32_t)i;
    smp_sort(maker->sort, maker->sort + count, count, before, maker);
    return SMP_OK;
}

static bool make_row_arrays(struct table_maker *maker)
{
    /* One more than needed, because 0 bytes cannot be allocated. */
    const size_t count = (size_t)maker->location_count + 1;

    maker->locations = smp_alloc(maker->quota, count * sizeof(*maker->locations));
    maker->sort = smp_alloc(maker->quota, 2 * count * sizeof(*maker->sort));
    maker->table->rows = smp_alloc(maker->quota, count * sizeof(*maker->table->rows));
    maker->open = smp_alloc(maker->quota, count * sizeof(*maker->open));
    return maker->locations != NULL && maker->sort != NULL && maker->table->rows != NULL &&
           maker->open != NULL;
}

/* Names the locations, one row for each name, in the order of names. */
static enum smp_status make_rows(struct table_maker *maker)
{
    static const enum smp_line_unit units[] = { [SMP_PER_METHOD] = SMP_LINE_METHOD,
                                                [SMP_PER_CLASS] = SMP_LINE_CLASS,
                                                [SMP_PER_PACKAGE] = SMP_LINE_PACKAGE };
    const struct smp_line_form form = { .unit = units[maker->choice->per], .is_plain = true };
    struct smp_method_table *const table = maker->table;
    uint32_t *numbers = NULL;
    enum smp_status status = SMP_ENOMEM;

    if (!make_row_arrays(maker))
        return SMP_ENOMEM;
    for (uint32_t location = 0; location < maker->profile->location_count; location++) {
        if (maker->row_of[location] != 0)
            maker->locations[maker->row_of[location] - 1] = location;
    }
    status = smp_line_texts_init_as(&table->names, form, maker->quota, maker->profile,
                                    maker->locations, maker->location_count);
    if (status != SMP_OK)
        return status;
    numbers = smp_alloc(maker->quota, ((size_t)maker->location_count + 1) * sizeof(*numbers));
    if (numbers == NULL)
        return SMP_ENOMEM;
    table->row_count =
        smp_line_texts_number(&table->names, maker->location_count, numbers, maker->sort);
    for (uint32_t row = 0; row < table->row_count; row++) {
        table->rows[row] = (struct smp_method_row){ .name = maker->sort[row], .min_ns = -1 };
        if (maker->choice->focus != NULL &&
            strcmp(smp_method_row_name(table, row), maker->choice->focus) == 0)
            maker->focus_row = row + 1;
    }
    for (uint32_t i = 0; i < maker->location_count; i++)
        maker->row_of[maker->locations[i]] = numbers[i] + 1;
    smp_free(maker->quota, numbers);
    return SMP_OK;
}

/* --- adding up --- */

static uint32_t row_at(const struct table_maker *maker, uint32_t node)
{
    return maker->row_of[maker->walk.nodes[node].location] - 1;
}

/* Returns whether the call is still open, so that the current node is inside it. */
static bool is_around(const struct table_maker *maker, const struct open_call *call)
{
    return call->node != 0 && call->depth < maker->walk.depth &&
           maker->walk.path[call->depth - 1] == call->node;
}

/* Returns whether the node is the focus or inside it. */
static bool is_in_focus(struct table_maker *maker, uint32_t node)
{
    if (maker->choice->focus == NULL || is_around(maker, &maker->focus))
        return true;
    if (row_at(maker, node) + 1 != maker->focus_row)
        return false;
    maker->focus = (struct open_call){ node, maker->walk.depth };
    return true;
}

static void add_ended_calls(const struct table_maker *maker, struct smp_method_row *row,
                            uint32_t node)
{
    const struct smp_root_time *const time =
        smp_root_times_find(maker->profile->counts.root_times, node);

    if (time == NULL)
        return;
    if (row->min_ns < 0 || time->min_ns < row->min_ns)
        row->min_ns = time->min_ns;
    if (time->max_ns > row->max_ns)
        row->max_ns = time->max_ns;
}

static void add_edge(struct table_maker *maker, uint32_t callee, int64_t calls)
{
    struct smp_method_table *const table = maker->table;
    const size_t depth = maker->walk.depth;
    const uint32_t caller = depth > 1 ? row_at(maker, maker->walk.path[depth - 2]) : SMP_NO_CALLER;

    if (calls > 0)
        table->edges[table->edge_count++] =
            (struct smp_method_edge){ .callee = callee, .caller = caller, .calls = calls };
    if (caller == SMP_NO_CALLER) {
        table->rows[callee].root_calls = smp_add_clamped(table->rows[callee].root_calls, calls);
        table->root_calls = smp_add_clamped(table->root_calls, calls);
    }
}

static void add_call_node(struct table_maker *maker, uint32_t node)
{
    struct smp_method_table *const table = maker->table;
    const struct smp_tree_walk *const walk = &maker->walk;
    const uint32_t number = row_at(maker, node);
    struct smp_method_row *const row = &table->rows[number];
    const int64_t calls = smp_tree_walk_self(walk, maker->calls);

    if (!is_in_focus(maker, node))
        return;
    const int64_t since_ms = smp_row_since_get(&maker->since, node).wall_ms;
    if (since_ms > row->since_ms)
        row->since_ms = since_ms;
    add_edge(maker, number, calls);
    add_ended_calls(maker, row, node);
    row->calls = smp_add_clamped(row->calls, calls);
    row->own_ns = smp_add_clamped(row->own_ns, smp_tree_walk_self(walk, maker->wall));
    table->calls = smp_add_clamped(table->calls, calls);
    if (is_around(maker, &maker->open[number]))
        return;
    maker->open[number] = (struct open_call){ node, walk->depth };
    row->entries = smp_add_clamped(row->entries, calls);
    row->total_ns = smp_add_clamped(row->total_ns, smp_column_at(maker->wall, node));
    table->has_times = table->has_times || row->total_ns > 0;
}

/* --- callers --- */

static bool is_edge_before(const void *context, uint32_t a, uint32_t b)
{
    const struct table_maker *const maker = context;
    const struct smp_method_edge *const left = &maker->table->edges[a];
    const struct smp_method_edge *const right = &maker->table->edges[b];

    return left->callee != right->callee ? left->callee < right->callee
                                         : left->caller < right->caller;
}

/* Row numbers follow names, so ties are ordered by name. */
static bool is_busier_edge(const void *context, uint32_t a, uint32_t b)
{
    const struct table_maker *const maker = context;
    const struct smp_method_edge *const left = &maker->table->edges[a];
    const struct smp_method_edge *const right = &maker->table->edges[b];

    if (left->callee != right->callee)
        return left->callee < right->callee;
    return left->calls != right->calls ? left->calls > right->calls : left->caller < right->caller;
}

/* Sorts the edges and merges equal ones. */
static enum smp_status order_edges(struct table_maker *maker, smp_index_before *before)
{
    struct smp_method_table *const table = maker->table;
    const size_t count = table->edge_count;
    struct smp_method_edge *ordered;
    enum smp_status status = sort_numbers(maker, count, before);

    if (status != SMP_OK)
        return status;
    ordered = smp_alloc(maker->quota, (count + 1) * sizeof(*ordered));
    if (ordered == NULL)
        return SMP_ENOMEM;
    table->edge_count = 0;
    for (size_t i = 0; i < count; i++) {
        const struct smp_method_edge *const edge = &table->edges[maker->sort[i]];
        struct smp_method_edge *const last = &ordered[table->edge_count];
        if (table->edge_count > 0 && last[-1].callee == edge->callee &&
            last[-1].caller == edge->caller)
            last[-1].calls = smp_add_clamped(last[-1].calls, edge->calls);
        else
            ordered[table->edge_count++] = *edge;
    }
    smp_free(maker->quota, table->edges);
    table->edges = ordered;
    return SMP_OK;
}

static enum smp_status find_callers(struct table_maker *maker)
{
    struct smp_method_table *const table = maker->table;
    enum smp_status status = order_edges(maker, is_edge_before);

    if (status == SMP_OK)
        status = order_edges(maker, is_busier_edge);
    for (size_t i = table->edge_count; i-- > 0 && status == SMP_OK;) {
        struct smp_method_row *const row = &table->rows[table->edges[i].callee];
        row->callers = i;
        row->caller_count++;
    }
    return status;
}

/* --- the order of rows --- */

static bool is_row_before(const void *context, uint32_t a, uint32_t b)
{
    const struct table_maker *const maker = context;
    const struct smp_method_row *const left = &maker->table->rows[a];
    const struct smp_method_row *const right = &maker->table->rows[b];
    const bool has_same_time = left->total_ns == right->total_ns;

    if (left->calls != right->calls && (maker->choice->by_calls || has_same_time))
        return left->calls > right->calls;
    return has_same_time ? a < b : left->total_ns > right->total_ns;
}

static enum smp_status order_rows(struct table_maker *maker)
{
    struct smp_method_table *const table = maker->table;
    const enum smp_status status = sort_numbers(maker, table->row_count, is_row_before);

    if (status != SMP_OK)
        return status;
    for (size_t i = 0; i < table->row_count; i++) {
        const struct smp_method_row *const row = &table->rows[maker->sort[i]];
        if (row->calls > 0 || row->total_ns > 0)
            maker->sort[table->count++] = maker->sort[i];
    }
    table->order = maker->sort;
    maker->sort = NULL;
    return SMP_OK;
}

/* --- all of it --- */

static enum smp_status make_table(struct table_maker *maker)
{
    struct smp_method_table *const table = maker->table;
    enum smp_status status =
        smp_hot_groups_init(&maker->groups, maker->quota, maker->profile, SMP_GROUP_COUNTED);

    if (status != SMP_OK)
        return status;
    maker->row_of =
        smp_alloc(maker->quota, (maker->profile->location_count + 1) * sizeof(*maker->row_of));
    status = maker->row_of == NULL ? SMP_ENOMEM : walk_counted(maker, number_location);
    if (status == SMP_OK)
        status = make_rows(maker);
    if (status != SMP_OK)
        return status;
    table->has_focus = maker->choice->focus == NULL || maker->focus_row != 0;
    table->edges = smp_alloc(maker->quota, (maker->node_count + 1) * sizeof(*table->edges));
    status = table->edges == NULL ? SMP_ENOMEM : walk_counted(maker, add_call_node);
    if (status == SMP_OK)
        status = find_callers(maker);
    return status == SMP_OK ? order_rows(maker) : status;
}

enum smp_status smp_method_table_init(struct smp_method_table *table, struct smp_quota *quota,
                                      const struct smp_profile *profile,
                                      const struct smp_table_choice *choice)
{
    struct table_maker maker = { .profile = profile,
                                 .choice = choice,
                                 .quota = quota,
                                 .table = table,
                                 .wall = smp_tree_column(profile->tree, SMP_MEASURE_WALL),
                                 .calls = smp_tree_column(profile->tree, SMP_MEASURE_CALLS) };
    enum smp_status status;

    *table = (struct smp_method_table){ .quota = quota };
    smp_tree_walk_init(&maker.walk, quota, profile->tree);
    status = smp_row_since_init(&maker.since, quota, profile);
    if (status == SMP_OK)
        status = make_table(&maker);
    smp_row_since_fini(&maker.since);
    smp_tree_walk_fini(&maker.walk);
    smp_free(quota, maker.open);
    smp_free(quota, maker.sort);
    smp_free(quota, maker.locations);
    smp_free(quota, maker.row_of);
    smp_hot_groups_fini(&maker.groups);
    if (status != SMP_OK)
        smp_method_table_fini(table);
    return status;
}

void smp_method_table_fini(struct smp_method_table *table)
{
    smp_free(table->quota, table->order);
    smp_free(table->quota, table->edges);
    smp_free(table->quota, table->rows);
    smp_line_texts_fini(&table->names);
    *table = (struct smp_method_table){ 0 };
}

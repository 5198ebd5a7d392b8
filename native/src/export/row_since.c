/* SPDX-License-Identifier: Apache-2.0 */
#include "export/row_since.h"

#include <stdbool.h>
#include <stdio.h>
#include <time.h>

enum { MS_PER_SECOND = 1000, NOT_KNOWN = -1 };

struct dating {
    const struct smp_profile *profile;
    const struct smp_node *nodes;
    int64_t from_ms;
    struct smp_since *rows;
    int64_t *calls; /* by node: its own calls */
};

/* Computes own calls from the tree's totals. */
static void find_calls(const struct dating *dating)
{
    const struct smp_column column = smp_tree_column(dating->profile->tree, SMP_MEASURE_CALLS);

    for (uint32_t node = 1; node < smp_tree_node_count(dating->profile->tree); node++) {
        const int64_t sum = smp_column_at(column, node);
        dating->calls[node] += sum;
        dating->calls[dating->nodes[node].parent] -= sum;
    }
}

/* Returns when the node's method got its probe; 0: before counting began. */
static int64_t own_since(const struct dating *dating, uint32_t node)
{
    struct smp_location_view view;

    smp_methods_view(dating->profile->methods, dating->nodes[node].location, &view);
    return view.since_ms > dating->from_ms ? view.since_ms : 0;
}

static int64_t times_clamped(int64_t calls, int64_t times)
{
    return calls > 0 && times > INT64_MAX / calls ? INT64_MAX : calls * times;
}

/* own: the result of own_since for the node. */
static int64_t missing_calls(const struct dating *dating, uint32_t node, int64_t own)
{
    const uint32_t caller = dating->nodes[node].parent;
    const struct smp_since *const above = &dating->rows[caller];
    /* If the caller's probe came no earlier, all counted calls of the caller found this one. */
    const bool is_first = own <= above->wall_ms;
    const int64_t before =
        is_first ? 0 : smp_caller_calls_find(dating->profile->counts.caller_calls, node);
    const int64_t after = dating->calls[caller] - before;

    if (smp_node_is_group(&dating->nodes[caller]) || above->missing < 0 || after <= 0 ||
        (!is_first && before == 0))
        return NOT_KNOWN;
    const int64_t each = dating->calls[node] / after + (dating->calls[node] % after != 0);
    return times_clamped(smp_add_clamped(before, above->missing), each);
}

static void date_row(const struct dating *dating, uint32_t node)
{
    const int64_t own = own_since(dating, node);
    const int64_t above = dating->rows[dating->nodes[node].parent].wall_ms;
    struct smp_since *const row = &dating->rows[node];

    row->wall_ms = own > above ? own : above;
    if (row->wall_ms != 0)
        row->missing = missing_calls(dating, node, own);
}

static bool is_counted_group(const struct dating *dating, uint32_t root)
{
    const struct smp_group group = { .index = smp_node_group(&dating->nodes[root]) };

    return smp_thread_groups_kind(dating->profile->groups, group) == SMP_GROUP_COUNTED;
}

/* Returns whether the node is outside counted trees, and so has no figures. */
static bool is_outside(const struct dating *dating, uint32_t node)
{
    const struct smp_since *const above = &dating->rows[dating->nodes[node].parent];

    if (smp_node_is_group(&dating->nodes[node]))
        return !is_counted_group(dating, node);
    return above->missing < 0 && above->wall_ms == 0;
}

/* Parents come before their children. */
static void date_rows(const struct dating *dating)
{
    const size_t count = smp_tree_node_count(dating->profile->tree);

    for (uint32_t node = 1; node < count; node++) {
        if (is_outside(dating, node))
            dating->rows[node].missing = NOT_KNOWN;
        else if (!smp_node_is_group(&dating->nodes[node]))
            date_row(dating, node);
    }
}

enum smp_status smp_row_since_init(struct smp_row_since *since, struct smp_quota *quota,
                                   const struct smp_profile *profile)
{
    const size_t count = smp_tree_node_count(profile->tree);
    struct dating dating = { .profile = profile,
                             .nodes = smp_tree_nodes(profile->tree),
                             .from_ms = smp_profile_counted_from(profile) };
    enum smp_status status = SMP_ENOMEM;

    *since = (struct smp_row_since){ .quota = quota };
    if (!smp_thread_groups_has(profile->groups, SMP_GROUP_COUNTED))
        return SMP_OK;
    since->rows = smp_alloc(quota, count * sizeof(*since->rows));
    dating.rows = since->rows;
    dating.calls = smp_alloc(quota, count * sizeof(*dating.calls));
    if (since->rows != NULL && dating.calls != NULL) {
        find_calls(&dating);
        date_rows(&dating);
        status = SMP_OK;
    } else {
        smp_row_since_fini(since);
    }
    smp_free(quota, dating.calls);
    return status;
}

void smp_row_since_fini(struct smp_row_since *since)
{
    smp_free(since->quota, since->rows);
    *since = (struct smp_row_since){ 0 };
}

void smp_since_time(int64_t wall_ms, char out[SMP_SINCE_BYTES])
{
    const time_t seconds = (time_t)(wall_ms / MS_PER_SECOND);
    struct tm at = { 0 };

    (void)localtime_r(&seconds, &at);
    (void)snprintf(out, SMP_SINCE_BYTES, "%02u:%02u:%02u", (unsigned)at.tm_hour % 100,
                   (unsigned)at.tm_min % 100, (unsigned)at.tm_sec % 100);
}

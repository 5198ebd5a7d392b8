/* SPDX-License-Identifier: Apache-2.0 */
#include "model/counted_times.h"

#include <string.h>

#include "base/hash_map.h"
#include "model/tree_fold.h"

/* By node. A sampled node has the counted row that its stack leads to; 0 if there is none. */
#define IS_COUNTED (UINT32_C(1) << 31) /* a counted node has its number, with this bit */

/* One call of set. Arrays are by node unless stated otherwise. */
struct projection {
    const struct smp_counted_times *times;
    const struct smp_counted_trees *trees;
    const struct smp_node *nodes;
    size_t node_count;
    uint32_t *reached;
    struct smp_memory_budget budget; /* of callees */
    struct smp_hash_map callees;     /* counted nodes, by their callers and methods */
    struct smp_amounts *sums;        /* by the number of a counted node */
    size_t counted;
};

/* --- methods --- */

static bool view_method(const struct projection *projection, uint32_t node,
                        struct smp_location_view *out)
{
    smp_methods_view(projection->trees->methods, projection->nodes[node].location, out);
    return !out->is_pseudo;
}

/* All texts are of one table, so equal texts have equal addresses. */
static bool has_same_texts(const struct smp_location_view *view,
                           const struct smp_location_view *other)
{
    return view->class_name == other->class_name && view->method_name == other->method_name &&
           (view->parameters == other->parameters || view->parameters == NULL ||
            other->parameters == NULL);
}

static uint32_t hash_of_callee(uint32_t caller, const struct smp_location_view *view)
{
    const uint32_t hash =
        smp_hash_u32(smp_hash_u32(SMP_HASH_START, caller), (uint32_t)(uintptr_t)view->class_name);

    return smp_hash_bytes(hash, view->method_name, strlen(view->method_name));
}

/* Returns the counted callee of this method, or 0. */
static uint32_t counted_callee(const struct projection *projection, uint32_t caller,
                               const struct smp_location_view *view)
{
    const uint32_t hash = hash_of_callee(caller, view);
    struct smp_location_view other;
    size_t step = 0;
    uint32_t node;

    while ((node = smp_hash_ids_next(&projection->callees, hash, &step)) != 0) {
        if (projection->nodes[node].parent == caller && view_method(projection, node, &other) &&
            has_same_texts(view, &other))
            break;
    }
    return node;
}

/* --- counted rows --- */

static enum smp_group_kind kind_of_root(const struct projection *projection, uint32_t root)
{
    return smp_thread_groups_kind(
        projection->trees->groups,
        (struct smp_group){ .index = smp_node_group(&projection->nodes[root]) });
}

/* Marks the counted nodes and numbers them. A node's parent comes before it. */
static void number_counted(struct projection *projection)
{
    for (uint32_t node = 1; node < projection->node_count; node++) {
        const bool is_counted =
            smp_node_is_group(&projection->nodes[node])
                ? kind_of_root(projection, node) == SMP_GROUP_COUNTED
                : (projection->reached[projection->nodes[node].parent] & IS_COUNTED) != 0;
        if (is_counted)
            projection->reached[node] = IS_COUNTED | (uint32_t)projection->counted++;
    }
}

/* Returns false without memory. */
static bool index_callees(struct projection *projection)
{
    if (!smp_hash_map_reserve(&projection->callees, &smp_hash_ids, &projection->budget,
                              projection->counted))
        return false;
    for (uint32_t node = 1; node < projection->node_count; node++) {
        const uint32_t caller = projection->nodes[node].parent;
        struct smp_location_view view;
        if ((projection->reached[node] & IS_COUNTED) == 0 ||
            smp_node_is_group(&projection->nodes[node]) || !view_method(projection, node, &view))
            continue;
        if (counted_callee(projection, caller, &view) == 0)
            smp_hash_ids_put(&projection->callees, hash_of_callee(caller, &view), node);
    }
    return true;
}

/* --- sampled rows --- */

/* Returns the root of the counted tree of the same threads, or 0. */
static uint32_t counted_root_of(const struct projection *projection, uint32_t root)
{
    struct smp_thread_groups *const groups = projection->trees->groups;
    struct smp_group group = { .index = smp_node_group(&projection->nodes[root]) };

    if (smp_thread_groups_kind(groups, group) != SMP_GROUP_SAMPLED ||
        !smp_thread_groups_of_same_name(groups, group, SMP_GROUP_COUNTED, &group))
        return 0;
    return smp_thread_groups_info(groups, group)->root;
}

static uint32_t follow_frame(const struct projection *projection, uint32_t node)
{
    const uint32_t caller = projection->reached[projection->nodes[node].parent];
    struct smp_location_view view;

    if (smp_node_is_call(&projection->nodes[node]))
        return projection->nodes[node].location & ~SMP_LOCATION_CALL;
    if (caller == 0 || !view_method(projection, node, &view))
        return caller;
    const uint32_t callee = counted_callee(projection, caller, &view);
    return callee != 0 ? callee : caller;
}

/* --- times --- */

/* Returns the node's own amounts of the measures that set computes; the tree is open. */
static struct smp_amounts time_of_node(const struct smp_tree *tree, uint32_t node)
{
    struct smp_amounts time = smp_tree_self_all(tree, node);

    smp_amounts_keep(&time, SMP_MEASURE_BIT(SMP_MEASURE_WALL) | SMP_MEASURE_BIT(SMP_MEASURE_CPU) |
                                SMP_STATE_MEASURES);
    return time;
}

static void subtract_amounts(struct smp_amounts *from, const struct smp_amounts *less)
{
    for (int i = 0; i < SMP_MEASURE_COUNT; i++)
        from->of[i] = smp_subtract_clamped(from->of[i], less->of[i]);
}

static void add_sampled_row(const struct projection *projection, uint32_t node, uint32_t to)
{
    struct smp_amounts time = time_of_node(projection->trees->tree, node);
    const uint32_t number = projection->reached[to] & ~IS_COUNTED;

    if (node < projection->times->before_count)
        subtract_amounts(&time, &projection->times->before[node]);
    smp_amounts_add(&projection->sums[number], &time);
}

static void project_sampled(const struct projection *projection)
{
    for (uint32_t node = 1; node < projection->node_count; node++) {
        if ((projection->reached[node] & IS_COUNTED) != 0)
            continue;
        if (smp_node_is_group(&projection->nodes[node])) {
            projection->reached[node] = counted_root_of(projection, node);
            continue;
        }
        const uint32_t to = follow_frame(projection, node);
        projection->reached[node] = to;
        if (to != 0 && (smp_node_is_call(&projection->nodes[node]) ||
                        !smp_node_is_group(&projection->nodes[to])))
            add_sampled_row(projection, node, to);
    }
}

static void set_time(struct smp_tree *tree, uint32_t node, const struct smp_amounts *time)
{
    (void)smp_tree_take_back_wall(tree, node, SMP_STATE_RUNNING, INT64_MAX);
    (void)smp_tree_take_back(tree, node, SMP_MEASURE_CPU, INT64_MAX);
    smp_tree_credit_all(tree, node, time);
}

static void set_hook_time(const struct projection *projection, uint32_t root, int64_t ns)
{
    const struct smp_group group = { .index = smp_node_group(&projection->nodes[root]) };

    smp_thread_groups_info(projection->trees->groups, group)->hook_ns = ns;
}

static void set_counted(const struct projection *projection, smp_on_counted_time *on_time,
                        void *context)
{
    for (uint32_t node = 1; node < projection->node_count; node++) {
        const uint32_t number = projection->reached[node];
        if ((number & IS_COUNTED) == 0)
            continue;
        const struct smp_amounts *const time = &projection->sums[number & ~IS_COUNTED];
        if (smp_node_is_group(&projection->nodes[node])) {
            set_hook_time(projection, node, time->of[SMP_MEASURE_WALL]);
            continue;
        }
        const struct smp_amounts old = time_of_node(projection->trees->tree, node);
        const int64_t more_ns = time->of[SMP_MEASURE_WALL] - old.of[SMP_MEASURE_WALL];
        if (memcmp(time, &old, sizeof(old)) == 0)
            continue;
        set_time(projection->trees->tree, node, time);
        if (on_time != NULL && more_ns != 0)
            on_time(context, projection->nodes[node].location, more_ns);
    }
}

static bool project_into(struct projection *projection, smp_on_counted_time *on_time, void *context)
{
    struct smp_quota *const quota = projection->trees->quota;

    projection->reached = smp_alloc(quota, projection->node_count * sizeof(*projection->reached));
    if (projection->reached == NULL)
        return false;
    number_counted(projection);
    if (projection->counted == 0)
        return true;
    projection->sums = smp_alloc(quota, projection->counted * sizeof(*projection->sums));
    if (projection->sums == NULL || !index_callees(projection))
        return false;
    project_sampled(projection);
    set_counted(projection, on_time, context);
    return true;
}

bool smp_counted_times_set(const struct smp_counted_times *times,
                           const struct smp_counted_trees *trees, smp_on_counted_time *on_time,
                           void *context)
{
    struct projection projection = {
        .times = times,
        .trees = trees,
        .nodes = smp_tree_nodes(trees->tree),
        .node_count = smp_tree_node_count(trees->tree),
        .budget = { .quota = trees->quota, .max_bytes = SIZE_MAX },
    };
    const bool is_set = !times->is_lost && project_into(&projection, on_time, context);

    smp_free(trees->quota, projection.reached);
    smp_hash_map_fini(&projection.callees, &smp_hash_ids, &projection.budget);
    smp_free(trees->quota, projection.sums);
    return is_set;
}

/* --- resets --- */

void smp_counted_times_fini(struct smp_counted_times *times, struct smp_quota *quota)
{
    smp_free(quota, times->before);
    *times = (struct smp_counted_times){ 0 };
}

/* A node's place is never higher than its number, and places first occur in ascending order. */
void smp_counted_times_renumber(struct smp_counted_times *times, const uint32_t *places)
{
    uint32_t next = 0;

    for (uint32_t node = 0; node < times->before_count; node++) {
        const uint32_t place = places[node] & ~SMP_PLACE_FOLDED;
        if (place >= next) {
            times->before[place] = times->before[node];
            next = place + 1;
        } else {
            smp_amounts_add(&times->before[place], &times->before[node]);
        }
    }
    times->before_count = next;
}

bool smp_counted_times_forget(struct smp_counted_times *times,
                              const struct smp_counted_trees *trees)
{
    const size_t count = smp_tree_node_count(trees->tree);

    smp_counted_times_fini(times, trees->quota);
    times->before = smp_alloc(trees->quota, count * sizeof(*times->before));
    times->is_lost = times->before == NULL;
    times->before_count = times->is_lost ? 0 : count;
    for (uint32_t node = 1; node < times->before_count; node++)
        times->before[node] = time_of_node(trees->tree, node);
    return !times->is_lost;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile_merge.c - the nodes of each profile are added to one new tree. Parents come before
 * children, so a node's parent has its place in the new tree already.
 *
 *   node ──► places[node]          location ──► adopted[location]     only where tables differ
 *
 * Within limits each group's root is added together with its [over memory limit], so that there is
 * always a place for nodes that do not fit, and for all below them.
 */
#include "model/profile_merge.h"

#include <stdbool.h>
#include <string.h>

#include "model/recursion.h"
#include "model/tree_fold.h"

enum {
    /* Maxima of a merged profile's tables, unless a quota is lower. Address space, not memory. */
    MAX_NAMES_BYTES = 256 * 1024 * 1024,
    MAX_GROUPS_BYTES = 256 * 1024 * 1024,
    /* Nodes, table, slots, two arrays of states, one of errors; one to spare. */
    TREE_STEPS_BYTES = 7 * 64 * 1024
};

/* Marks a place: the node did not fit or was folded. The place also gets the amounts of all nodes
 * below it. */
#define FOLDED SMP_PLACE_FOLDED

struct merger {
    struct smp_quota *quota;
    const struct smp_profile *const *profiles;
    size_t count;
    bool is_one_table;
    bool is_one_family; /* equal serials are one thread */
    struct smp_merge_limits limits;
    const bool *is_joined; /* groups of the only profile that go to [other threads]; NULL: none */
    /* The only profile's recursion; NULL: recursions are not folded */
    const struct smp_recursion *recursion;
    uint32_t *levels;     /* by node of the new tree; NULL likewise */
    size_t first_counted; /* earlier profiles were reset, so their counted trees are dropped */
    struct smp_methods *methods;
    struct smp_thread_groups *groups;
    struct smp_tree *tree;
    struct smp_profile_counts counts;
    struct smp_lock_times *lock_times;
    struct smp_second_times *seconds;
    uint64_t lost_seconds;
    uint64_t folded; /* nodes of the new tree that were folded */
    /* For the profile that is being added: */
    struct smp_group *group_of; /* its group's index in the new groups */
    uint32_t *places;           /* its node's index in the new tree */
    uint32_t placed;            /* nodes that have their place */
    uint32_t *adopted;          /* its location's id in the new names table, once known */
    int64_t *called;            /* by node of the new tree: calls before this profile; NULL: none */
    size_t called_count;
    uint64_t joined[SMP_GROUP_KINDS]; /* groups of each kind that went to [other threads] */
};

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Returns whether parts that do not fit go to overflow rows; otherwise the merge fails. */
static bool is_limited(const struct merger *merger)
{
    return merger->limits.tree_bytes != 0;
}

/* Returns limit, or at_most if there is none. */
static size_t bytes_within(const struct merger *merger, size_t limit, size_t at_most)
{
    const size_t bytes = is_limited(merger) ? limit : at_most;

    return merger->quota == NULL ? bytes : smaller(merger->quota->limit_bytes, bytes);
}

/* --- the new profile's parts --- */

static bool have_one_table(const struct merger *merger)
{
    for (size_t i = 1; i < merger->count; i++) {
        if (merger->profiles[i]->methods != merger->profiles[0]->methods)
            return false;
    }
    return true;
}

/* A sampler that makes a new names table continues its serials. */
static bool have_one_family(const struct merger *merger)
{
    for (size_t i = 1; i < merger->count; i++) {
        if (merger->profiles[i]->family != merger->profiles[0]->family)
            return false;
    }
    return merger->profiles[0]->family != 0;
}

static enum smp_status make_methods(struct merger *merger)
{
    if (merger->is_one_table) {
        merger->methods = smp_methods_hold(merger->profiles[0]->methods);
        return SMP_OK;
    }
    return smp_methods_create(merger->quota,
                              bytes_within(merger, merger->limits.names_bytes, MAX_NAMES_BYTES),
                              NULL, &merger->methods);
}

/* Without errors in one part, the sum has none. */
static uint32_t merged_measures(const struct merger *merger)
{
    uint32_t any = 0;
    uint32_t all = SMP_ALL_MEASURES;
    uint32_t errors = SMP_WITH_ERRORS;

    for (size_t i = 0; i < merger->count; i++) {
        const struct smp_tree *const tree = merger->profiles[i]->tree;
        any |= smp_tree_measures(tree);
        if (smp_tree_node_count(tree) <= 1) /* an empty tree lacks nothing */
            continue;
        all &= smp_tree_measures(tree);
        if (!smp_tree_has_errors(tree))
            errors = 0;
    }
    return smp_common_measures(any, all) | errors;
}

static enum smp_status make_merge_parts(struct merger *merger)
{
    size_t nodes = 0;
    const uint32_t measures = merged_measures(merger);
    enum smp_status status = make_methods(merger);

    if (status != SMP_OK)
        return status;
    for (size_t i = 0; i < merger->count; i++)
        nodes += smp_tree_node_count(merger->profiles[i]->tree);
    status = smp_thread_groups_create(
        merger->quota, bytes_within(merger, merger->limits.groups_bytes, MAX_GROUPS_BYTES),
        &merger->groups);
    if (status != SMP_OK)
        return status;
    return smp_tree_create(merger->quota, measures,
                           is_limited(merger)
                               ? merger->limits.tree_bytes
                               : nodes * smp_tree_node_bytes(measures) + TREE_STEPS_BYTES,
                           &merger->tree);
}

static enum smp_status make_merge_arrays(struct merger *merger)
{
    size_t groups = 1;
    size_t nodes = 1;
    size_t locations = 1;

    for (size_t i = 0; i < merger->count; i++) {
        const struct smp_profile *profile = merger->profiles[i];
        const size_t group_count = smp_thread_groups_count(profile->groups);
        const size_t node_count = smp_tree_node_count(profile->tree);
        groups = group_count > groups ? group_count : groups;
        nodes = node_count > nodes ? node_count : nodes;
        locations = profile->location_count > locations ? profile->location_count : locations;
    }
    merger->group_of = smp_alloc(merger->quota, groups * sizeof(*merger->group_of));
    merger->places = smp_alloc(merger->quota, nodes * sizeof(*merger->places));
    if (merger->group_of == NULL || merger->places == NULL)
        return SMP_ENOMEM;
    if (merger->recursion != NULL) {
        merger->levels = smp_alloc(merger->quota, nodes * sizeof(*merger->levels));
        if (merger->levels == NULL)
            return SMP_ENOMEM;
    }
    if (merger->is_one_table)
        return SMP_OK;
    merger->adopted = smp_alloc(merger->quota, locations * sizeof(*merger->adopted));
    return merger->adopted != NULL ? SMP_OK : SMP_ENOMEM;
}

/* --- adding one --- */

static enum smp_status merge_one_group(struct merger *merger, const struct smp_profile *from,
                                       uint32_t i)
{
    const struct smp_group_info *const info = smp_profile_group_info(from, i);
    const bool is_joined = merger->is_joined != NULL && merger->is_joined[i];
    const enum smp_status status = smp_thread_groups_add_group(
        merger->groups, from->groups, i, is_joined ? SMP_OTHER_THREADS_NAME : info->name,
        &merger->group_of[i]);

    if (is_joined)
        merger->joined[info->kind]++;
    return status != SMP_EQUOTA || !is_limited(merger) ? status : SMP_OK;
}

static void count_joined(struct merger *merger, enum smp_group_kind kind)
{
    const struct smp_group_key key = { .name = SMP_OTHER_THREADS_NAME, .kind = kind };
    struct smp_group_info *info = NULL;
    struct smp_group group;

    if (merger->joined[kind] == 0 || !smp_thread_groups_peek(merger->groups, key, &group))
        return;
    info = smp_thread_groups_info(merger->groups, group);
    if (merger->joined[kind] > info->joined_groups)
        info->joined_groups = merger->joined[kind];
}

static enum smp_status merge_groups(struct merger *merger, const struct smp_profile *from)
{
    const size_t count = smp_thread_groups_count(from->groups);

    for (uint32_t i = 0; i < count; i++) {
        if (merge_one_group(merger, from, i) != SMP_OK)
            return SMP_ENOMEM;
    }
    for (int kind = 0; kind < SMP_GROUP_KINDS; kind++)
        count_joined(merger, (enum smp_group_kind)kind);
    if (merger->is_one_family &&
        !smp_thread_groups_add_threads(merger->groups, from->groups, merger->group_of) &&
        !is_limited(merger))
        return SMP_ENOMEM;
    if (is_limited(merger) || merger->is_joined != NULL)
        smp_thread_groups_copy_living(merger->groups, from->groups);
    if (is_limited(merger))
        smp_thread_groups_forget_ended(merger->groups, 0);
    return SMP_OK;
}

/* Returns the node for amounts that do not fit. It was added together with the root. */
static uint32_t over_limit_of(struct merger *merger, uint32_t root)
{
    const uint32_t location = smp_methods_over_limit(merger->methods);
    uint32_t node = root;

    return smp_tree_add(merger->tree, root, &location, 1, &node) == SMP_OK ? node : root;
}

static enum smp_status make_root(struct merger *merger, struct smp_group group)
{
    const uint32_t location = smp_methods_over_limit(merger->methods);
    struct smp_group_info *info = smp_thread_groups_info(merger->groups, group);
    enum smp_status status = SMP_OK;
    uint32_t root = 0;
    uint32_t node = 0;

    if (info->root != 0)
        return SMP_OK;
    status = smp_tree_root(merger->tree, group.index, &root);
    if (status == SMP_OK && is_limited(merger))
        status = smp_tree_add(merger->tree, root, &location, 1, &node);
    if (status == SMP_OK)
        info->root = root;
    return status;
}

/* If the group's root does not fit, uses the root of the overflow group. That group must be of the
 * same kind, or time would be in sampled groups twice. */
static enum smp_status add_root(struct merger *merger, uint32_t location, uint32_t *place)
{
    struct smp_group group = merger->group_of[location & ~SMP_LOCATION_GROUP];
    const enum smp_status status = make_root(merger, group);

    if (status != SMP_OK && !is_limited(merger))
        return status;
    if (status != SMP_OK)
        group = smp_thread_groups_overflow(merger->groups,
                                           smp_thread_groups_info(merger->groups, group)->kind);
    *place = smp_thread_groups_info(merger->groups, group)->root;
    return SMP_OK;
}

static uint32_t adopt_location(struct merger *merger, const struct smp_profile *from,
                               uint32_t location)
{
    if (merger->adopted == NULL) /* the names table is shared, so numbers stay */
        return location;
    if (merger->adopted[location] == SMP_LOCATION_NONE)
        merger->adopted[location] = smp_methods_adopt(merger->methods, from->methods, location);
    return merger->adopted[location];
}

/* Returns the place of the parent. */
static uint32_t place_above(const struct merger *merger, const struct smp_node *nodes,
                            uint32_t node)
{
    const uint32_t repeated = merger->recursion == NULL ? 0 : merger->recursion->repeated[node];

    return repeated == 0 ? merger->places[nodes[node].parent]
                         : smp_tree_nodes(merger->tree)[merger->places[repeated]].parent;
}

/* Returns whether the node has its only child's total and no amount of its own. */
static bool is_between(const struct smp_node *nodes, uint32_t node)
{
    const uint32_t child = nodes[node].last_child;

    return child != 0 && nodes[node].row == nodes[child].row;
}

static enum smp_status merge_node(struct merger *merger, const struct smp_profile *from,
                                  uint32_t node, uint32_t *place)
{
    const struct smp_node *const nodes = smp_tree_nodes(from->tree);
    uint32_t location = nodes[node].location;
    uint32_t above;

    if (smp_node_is_group(&nodes[node]))
        return add_root(merger, location, place);
    above = place_above(merger, nodes, node);
    if ((above & FOLDED) != 0) {
        *place = above;
        return SMP_OK;
    }
    location = adopt_location(merger, from, location);
    if (location == SMP_LOCATION_NONE)
        return SMP_ENOMEM;
    return is_between(nodes, node) ? smp_tree_add_between(merger->tree, above, location, place)
                                   : smp_tree_add(merger->tree, above, &location, 1, place);
}

static void note_levels(const struct merger *merger, uint32_t node)
{
    uint32_t *const most = &merger->levels[merger->places[node]];

    if (merger->recursion->levels[node] > *most)
        *most = merger->recursion->levels[node];
}

/* Calls of a folded row belong to no caller. A node's place is never higher than its number, and
 * places first occur in ascending order. */
static void renumber_called(struct merger *merger, const uint32_t *places)
{
    uint32_t next = 0;

    for (uint32_t node = 0; node < merger->called_count; node++) {
        const uint32_t place = places[node] & ~FOLDED;
        if (place < next)
            continue;
        merger->called[place] = (places[node] & FOLDED) == 0 ? merger->called[node] : 0;
        next = place + 1;
    }
    merger->called_count = next;
}

static void renumber_places(void *context, const uint32_t *places)
{
    struct merger *const merger = context;

    for (uint32_t i = 0; i < merger->placed; i++)
        merger->places[i] = places[merger->places[i] & ~FOLDED] | (merger->places[i] & FOLDED);
    smp_thread_groups_renumber(merger->groups, places);
    smp_profile_counts_renumber(&merger->counts, places);
    renumber_called(merger, places);
}

/* Called before a chain of new nodes, not within it: they have no amounts until their leaf is
 * added, so a fold would remove them as small. */
static void fold_new_tree(struct merger *merger)
{
    const struct smp_tree_folding folding = {
        .folded = smp_methods_folded(merger->methods),
        .kept = smp_methods_over_limit(merger->methods),
        .renumber = renumber_places,
        .context = merger,
    };

    if (smp_tree_is_full(merger->tree))
        merger->folded += smp_tree_fold(merger->tree, &folding);
}

/* Returns the place of a node of from that does not fit. */
static uint32_t place_over_limit(struct merger *merger, const struct smp_profile *from,
                                 uint32_t node)
{
    const uint32_t root = smp_node_root(smp_tree_nodes(from->tree), node);

    return over_limit_of(merger, merger->places[root]) | FOLDED;
}

/* A node's variance includes all nodes below it. Several nodes share a row if they did not fit or
 * are levels of a recursion; then only the highest of them counts. */
static bool adds_variance(const struct merger *merger, uint32_t node, uint32_t parent)
{
    const uint32_t *const repeated = merger->recursion == NULL ? NULL : merger->recursion->repeated;

    if ((merger->places[parent] & FOLDED) != 0)
        return false;
    for (uint32_t above = repeated == NULL ? 0 : repeated[node]; above != 0;
         above = repeated[above]) {
        if (merger->places[above] == merger->places[node])
            return false;
    }
    return true;
}

/* Called after all nodes: only then is it known which of them have rows. */
static void merge_variances(struct merger *merger, const struct smp_profile *from)
{
    const struct smp_node *const nodes = smp_tree_nodes(from->tree);
    const size_t count = smp_tree_node_count(from->tree);

    for (uint32_t i = 1; i < count && smp_tree_has_errors(from->tree); i++) {
        if (adds_variance(merger, i, nodes[i].parent))
            smp_tree_add_variance(merger->tree, merger->places[i] & ~FOLDED,
                                  smp_tree_variance(from->tree, i));
    }
}

static enum smp_status find_merged_place(struct merger *merger, const struct smp_profile *from,
                                         uint32_t node)
{
    uint32_t *const place = &merger->places[node];
    const enum smp_status status = merge_node(merger, from, node, place);

    if (status == SMP_OK || !is_limited(merger))
        return status;
    *place = place_over_limit(merger, from, node);
    return SMP_OK;
}

/* is_reset: counted trees are dropped. */
static enum smp_status merge_nodes(struct merger *merger, const struct smp_profile *from,
                                   bool is_reset)
{
    const struct smp_node *nodes = smp_tree_nodes(from->tree);
    const size_t count = smp_tree_node_count(from->tree);
    enum smp_status status;

    merger->places[0] = 0;
    for (uint32_t i = 1; i < count; i++) {
        merger->placed = i;
        if (is_limited(merger) && nodes[i].parent + 1 != i)
            fold_new_tree(merger);
        status = find_merged_place(merger, from, i);
        if (status != SMP_OK)
            return status;
        if (!is_between(nodes, i) &&
            (!is_reset || smp_profile_node_kind(from, i) != SMP_GROUP_COUNTED)) {
            const struct smp_amounts self = smp_tree_self_all(from->tree, i);
            smp_tree_credit_all(merger->tree, merger->places[i] & ~FOLDED, &self);
        }
        if (merger->levels != NULL)
            note_levels(merger, i);
    }
    merge_variances(merger, from);
    return SMP_OK;
}

/* Root times of a node that did not fit, or beyond their maximum, are dropped; the time and calls
 * of the node are kept. */
static enum smp_status merge_root_times(struct merger *merger, const struct smp_profile *from)
{
    enum smp_status status = SMP_OK;

    for (size_t i = 0; i < smp_root_times_count(from->counts.root_times) && status == SMP_OK; i++) {
        struct smp_root_time time = *smp_root_times_at(from->counts.root_times, i);
        time.node = merger->places[time.node];
        if ((time.node & FOLDED) == 0)
            status = smp_profile_counts_add_root_time(&merger->counts, merger->quota, &time);
        if (status == SMP_EQUOTA)
            status = SMP_OK;
    }
    return status;
}

/* Returns whether the row above the node is its caller's. A call that repeats one above it has the
 * row of that call, and its caller's row is below. */
static bool keeps_caller(const struct merger *merger, const struct smp_profile *from, uint32_t node)
{
    const uint32_t caller = smp_tree_nodes(from->tree)[node].parent;

    return smp_tree_nodes(merger->tree)[merger->places[node]].parent == merger->places[caller];
}

/* Called before the profile's nodes are added. */
static enum smp_status note_called(struct merger *merger, const struct smp_profile *from)
{
    const size_t count = smp_tree_node_count(merger->tree);

    if (merger->count == 1 || smp_caller_calls_count(from->counts.caller_calls) == 0)
        return SMP_OK;
    merger->called = smp_alloc(merger->quota, count * sizeof(*merger->called));
    if (merger->called == NULL)
        return SMP_ENOMEM;
    for (uint32_t node = 1; node < count; node++)
        merger->called[node] = smp_tree_self(merger->tree, node, SMP_MEASURE_CALLS);
    merger->called_count = count;
    return SMP_OK;
}

static void forget_called(struct merger *merger)
{
    smp_free(merger->quota, merger->called);
    merger->called = NULL;
    merger->called_count = 0;
}

/* Returns the calls of the caller before the probe, including those of earlier profiles. */
static int64_t calls_before(const struct merger *merger, const struct smp_caller_call *call)
{
    const uint32_t caller = smp_tree_nodes(merger->tree)[call->node].parent;

    return caller < merger->called_count ? smp_add_clamped(merger->called[caller], call->calls)
                                         : call->calls;
}

static enum smp_status merge_caller_calls(struct merger *merger, const struct smp_profile *from)
{
    const struct smp_caller_calls *const table = from->counts.caller_calls;
    enum smp_status status = SMP_OK;

    for (size_t i = 0; i < smp_caller_calls_count(table) && status == SMP_OK; i++) {
        struct smp_caller_call call = *smp_caller_calls_at(table, i);
        const uint32_t node = call.node;
        call.node = merger->places[node];
        if ((call.node & FOLDED) != 0 || call.calls < 0 || !keeps_caller(merger, from, node))
            continue;
        call.calls = calls_before(merger, &call);
        if (call.calls > 0)
            status = smp_profile_counts_add_caller(&merger->counts, merger->quota, &call);
        if (status == SMP_EQUOTA)
            status = SMP_OK;
    }
    return status;
}

/* other: the location of the profile that is added. Its name cannot be added here: a shared table
 * has another writer, the sampler. */
static enum smp_status merge_lock_time(struct merger *merger, uint32_t other,
                                       struct smp_lock_time time)
{
    enum smp_status status = SMP_OK;

    if (other == SMP_LOCATION_NONE || time.lock == SMP_LOCATION_NONE ||
        time.waiting == SMP_LOCATION_NONE || time.holding == SMP_LOCATION_NONE)
        return SMP_ENOMEM;
    if (merger->lock_times == NULL)
        status = smp_lock_times_create(merger->quota, other, &merger->lock_times);
    return status == SMP_OK ? smp_lock_times_add(merger->lock_times, &time) : status;
}

static enum smp_status merge_lock_times(struct merger *merger, const struct smp_profile *from)
{
    enum smp_status status = SMP_OK;

    for (size_t i = 0; i < smp_lock_times_count(from->lock_times) && status == SMP_OK; i++) {
        const struct smp_lock_time *const time = smp_lock_times_at(from->lock_times, i);
        status = merge_lock_time(
            merger, adopt_location(merger, from, smp_lock_times_other(from->lock_times)),
            (struct smp_lock_time){ .lock = adopt_location(merger, from, time->lock),
                                    .waiting = adopt_location(merger, from, time->waiting),
                                    .holding = adopt_location(merger, from, time->holding),
                                    .ns = time->ns });
        if (is_limited(merger))
            status = SMP_OK; /* time without a row here is still in the holders' trees */
    }
    return status;
}

/* Finds the range of all profiles' seconds, with the widest slots of all. Returns false if no
 * profile has any. */
static bool range_of_seconds(const struct merger *merger, struct smp_second_range *range)
{
    bool is_first = true;

    for (size_t i = 0; i < merger->count; i++) {
        const struct smp_second_times *const seconds = merger->profiles[i]->seconds;
        struct smp_second_range more;
        if (seconds == NULL)
            continue;
        more = smp_second_times_range(seconds);
        if (is_first)
            *range = more;
        range->from = more.from < range->from ? more.from : range->from;
        range->till = more.till > range->till ? more.till : range->till;
        range->width = more.width > range->width ? more.width : range->width;
        is_first = false;
    }
    return !is_first;
}

/* Without states in the merged tree there are no times by second. */
static enum smp_status make_seconds(struct merger *merger)
{
    struct smp_second_range range;
    enum smp_status status;

    if ((merged_measures(merger) & SMP_STATE_MEASURES) == 0 || !range_of_seconds(merger, &range))
        return SMP_OK;
    status = smp_second_times_create(merger->quota, range, &merger->seconds);
    if (status == SMP_OK || !is_limited(merger))
        return status;
    merger->lost_seconds++;
    return SMP_OK;
}

static uint32_t merged_second_row(struct merger *merger, const struct smp_profile *from,
                                  uint32_t row)
{
    struct smp_group_info *info;
    struct smp_group group;

    if (row == 0)
        return 0;
    group = merger->group_of[smp_second_times_group(from->seconds, row)];
    info = smp_thread_groups_info(merger->groups, group);
    if (info->second_row == 0)
        info->second_row = smp_second_times_new_row(merger->seconds, group.index);
    return info->second_row;
}

static enum smp_status merge_seconds(struct merger *merger, const struct smp_profile *from)
{
    const uint64_t before = smp_second_times_lost(merger->seconds);

    if (merger->seconds == NULL || from->seconds == NULL)
        return SMP_OK;
    for (uint32_t row = 0; row < smp_second_times_rows(from->seconds); row++)
        smp_second_times_add_row(merger->seconds, merged_second_row(merger, from, row),
                                 from->seconds, row);
    return is_limited(merger) || smp_second_times_lost(merger->seconds) == before ? SMP_OK
                                                                                  : SMP_ENOMEM;
}

static enum smp_status merge_counting(struct merger *merger, const struct smp_profile *from)
{
    if (from->counts.account == NULL)
        return SMP_OK;
    return smp_profile_counts_add_account(&merger->counts, merger->quota, from->counts.account);
}

static enum smp_status add_profile(struct merger *merger, const struct smp_profile *from,
                                   bool is_reset)
{
    enum smp_status status = merge_groups(merger, from);

    if (status != SMP_OK)
        return status;
    if (is_reset)
        smp_thread_groups_forget_hook_time(merger->groups);
    for (uint32_t i = 0; merger->adopted != NULL && i < from->location_count; i++)
        merger->adopted[i] = SMP_LOCATION_NONE;
    status = is_reset ? SMP_OK : note_called(merger, from);
    if (status == SMP_OK)
        status = merge_nodes(merger, from, is_reset);
    if (status == SMP_OK && !is_reset)
        status = merge_root_times(merger, from);
    if (status == SMP_OK && !is_reset)
        status = merge_caller_calls(merger, from);
    forget_called(merger);
    if (status == SMP_OK)
        status = merge_lock_times(merger, from);
    if (status == SMP_OK)
        status = merge_seconds(merger, from);
    return status == SMP_OK && !is_reset ? merge_counting(merger, from) : status;
}

/* --- figures --- */

static void add_figures(struct smp_profile *to, const struct smp_profile *from, bool is_first)
{
    if (is_first || from->from_wall_ms < to->from_wall_ms)
        to->from_wall_ms = from->from_wall_ms;
    if (is_first || from->till_wall_ms > to->till_wall_ms)
        to->till_wall_ms = from->till_wall_ms;
    to->elapsed_ns += from->elapsed_ns;
    to->own_cpu_ns += from->own_cpu_ns;
    if (from->max_groups > to->max_groups)
        to->max_groups = from->max_groups;
    if (from->period_ns > to->period_ns)
        to->period_ns = from->period_ns;
    to->is_cpu_clock = from->is_cpu_clock;
    if (from->cpus > to->cpus)
        to->cpus = from->cpus;
    if (from->cpu_quota_milli > to->cpu_quota_milli)
        to->cpu_quota_milli = from->cpu_quota_milli;
    /* If the lists differ, the newest one is shown. Each frame records whether it is monitored. */
    if (from->packages[0] != '\0')
        memcpy(to->packages, from->packages, sizeof(to->packages));
    if (from->main_package[0] != '\0')
        memcpy(to->main_package, from->main_package, sizeof(to->main_package));
    if (from->longest_handshake_ns > to->longest_handshake_ns)
        to->longest_handshake_ns = from->longest_handshake_ns;
    if (from->longest_handler_ns > to->longest_handler_ns)
        to->longest_handler_ns = from->longest_handler_ns;
    if (from->signal_taker[0] != '\0')
        memcpy(to->signal_taker, from->signal_taker, sizeof(to->signal_taker));
    if (from->memory_used_bytes > to->memory_used_bytes)
        to->memory_used_bytes = from->memory_used_bytes;
    if (from->memory_limit_bytes > to->memory_limit_bytes)
        to->memory_limit_bytes = from->memory_limit_bytes;
    for (int i = 0; i < SMP_COUNTER_COUNT; i++)
        to->counters[i] += from->counters[i];
    if (smp_tree_has_errors(from->tree) && !smp_tree_has_errors(to->tree))
        to->counters[SMP_COUNTER_LOST_ERRORS]++;
    /* With a shared table, the result has the ids that the newest profile may read. */
    if (to->methods == from->methods && from->location_count > to->location_count)
        to->location_count = from->location_count;
}

static bool has_kind(const struct merger *merger, enum smp_group_kind kind)
{
    for (size_t i = 0; i < merger->count; i++) {
        if (smp_thread_groups_has(merger->profiles[i]->groups, kind))
            return true;
    }
    return false;
}

/* Within limits: adds the roots for groups that do not fit. */
static enum smp_status make_overflow_roots(struct merger *merger)
{
    enum smp_status status = SMP_OK;

    for (int i = 0; i < SMP_GROUP_KINDS && status == SMP_OK; i++) {
        const enum smp_group_kind kind = (enum smp_group_kind)i;
        if (has_kind(merger, kind))
            status = make_root(merger, smp_thread_groups_overflow(merger->groups, kind));
    }
    return status;
}

static enum smp_status make_profile(struct merger *merger, struct smp_profile **out)
{
    struct smp_profile *profile = NULL;
    enum smp_status status;

    /* Excludes locations that the writer of a shared table adds meanwhile, which must not be read
     * here. */
    status =
        smp_profile_create_for(merger->quota, merger->tree, merger->groups, merger->methods,
                               merger->is_one_table ? merger->profiles[0]->location_count
                                                    : smp_methods_location_count(merger->methods),
                               &profile);
    if (status != SMP_OK)
        return status;
    merger->tree = NULL; /* the profile owns them now */
    merger->groups = NULL;
    profile->family = merger->is_one_family ? merger->profiles[0]->family : 0;
    profile->counts = merger->counts;
    profile->counts.begin_ms = smp_profile_counted_from(merger->profiles[merger->first_counted]);
    merger->counts = (struct smp_profile_counts){ 0 };
    profile->lock_times = merger->lock_times;
    merger->lock_times = NULL;
    profile->seconds = merger->seconds;
    merger->seconds = NULL;
    profile->levels = merger->levels;
    merger->levels = NULL;
    for (size_t i = 0; i < merger->count; i++)
        add_figures(profile, merger->profiles[i], i == 0);
    profile->counters[SMP_COUNTER_LOST_SECONDS] +=
        merger->lost_seconds + smp_second_times_lost(profile->seconds);
    profile->counters[SMP_COUNTER_LOST_STATES] += smp_tree_lost_states(profile->tree);
    profile->counters[SMP_COUNTER_FOLDED_ROWS] += merger->folded;
    *out = profile;
    return SMP_OK;
}

/* --- public --- */

static enum smp_status run_merger(struct merger *merger, struct smp_profile **out)
{
    enum smp_status status;

    merger->is_one_table = have_one_table(merger);
    merger->is_one_family = have_one_family(merger);
    status = make_merge_parts(merger);
    if (status == SMP_OK)
        status = make_merge_arrays(merger);
    if (status == SMP_OK && is_limited(merger))
        status = make_overflow_roots(merger);
    if (status == SMP_OK)
        status = make_seconds(merger);
    for (size_t i = 0; i < merger->count && status == SMP_OK; i++)
        status = add_profile(merger, merger->profiles[i], i < merger->first_counted);
    if (status == SMP_OK)
        status = make_profile(merger, out);
    smp_free(merger->quota, merger->levels);
    smp_free(merger->quota, merger->adopted);
    smp_free(merger->quota, merger->places);
    smp_free(merger->quota, merger->group_of);
    smp_profile_counts_fini(&merger->counts);
    smp_lock_times_destroy(merger->lock_times);
    smp_second_times_destroy(merger->seconds);
    smp_tree_destroy(merger->tree);
    smp_thread_groups_destroy(merger->groups);
    smp_methods_release(merger->methods);
    return status;
}

enum smp_status smp_profile_merge_within(struct smp_quota *quota,
                                         const struct smp_profile *const *profiles, size_t count,
                                         struct smp_merge_limits limits, struct smp_profile **out)
{
    struct merger merger = {
        .quota = quota, .profiles = profiles, .count = count, .limits = limits
    };

    for (size_t i = 0; i < count; i++) {
        if (profiles[i]->counts.is_anew) {
            merger.first_counted = i;
            merger.counts.is_anew = true;
        }
    }
    return run_merger(&merger, out);
}

enum smp_status smp_profile_merge(struct smp_quota *quota, const struct smp_profile *a,
                                  const struct smp_profile *b, struct smp_profile **out)
{
    const bool is_b_older = b->till_wall_ms < a->till_wall_ms;
    const struct smp_profile *const both[] = { is_b_older ? b : a, is_b_older ? a : b };
    struct merger merger = { .quota = quota, .profiles = both, .count = 2 };

    return run_merger(&merger, out);
}

enum smp_status smp_profile_join_groups(struct smp_quota *quota, const struct smp_profile *profile,
                                        const bool *is_joined, struct smp_profile **out)
{
    struct merger merger = { .quota = quota,
                             .profiles = &profile,
                             .count = 1,
                             .is_joined = is_joined,
                             .counts = { .is_anew = profile->counts.is_anew } };

    return run_merger(&merger, out);
}

enum smp_status smp_profile_fold_recursion(struct smp_quota *quota,
                                           const struct smp_profile *profile,
                                           struct smp_profile **out)
{
    struct smp_recursion recursion;
    struct merger merger = { .quota = quota,
                             .profiles = &profile,
                             .count = 1,
                             .recursion = &recursion,
                             .counts = { .is_anew = profile->counts.is_anew } };
    enum smp_status status = smp_recursion_find(&recursion, quota, profile);

    *out = NULL;
    if (status == SMP_OK && recursion.is_found)
        status = run_merger(&merger, out);
    smp_recursion_fini(&recursion);
    return status;
}

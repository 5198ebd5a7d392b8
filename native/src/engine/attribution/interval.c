/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/attribution/interval.h"

#include <string.h>

#include "model/tree_fold.h"

enum {
    NS_PER_MS = 1000000,
    MS_PER_SECOND = 1000,
    STEP_MS = 1000 /* smaller differences are not steps of the wall clock: the clocks are read one
                    * after the other */
};

static const char *const holder_frames[SMP_HOLDER_ROWS] = {
#define X(code, frame) [SMP_HOLDER_##code] = frame,
    SMP_HOLDER_ROW_MAP(X)
#undef X
};

static void find_pseudo_locations(struct smp_interval *interval)
{
    for (int i = 0; i < SMP_OUTCOME_COUNT; i++) {
        const char *frame = smp_outcome_frame((enum smp_outcome)i);
        if (frame != NULL)
            interval->locations[i] = smp_methods_pseudo(interval->methods, frame);
    }
    for (int i = 0; i < SMP_HOLDER_ROWS; i++)
        interval->holder_rows[i] = smp_methods_pseudo(interval->methods, holder_frames[i]);
    interval->locations[SMP_OUTCOME_OVER_MEMORY_LIMIT] = smp_methods_over_limit(interval->methods);
}

/* Makes the group's root and its [over memory limit] node. If either fails, the group is not
 * used. */
static enum smp_status ensure_root(struct smp_interval *interval, struct smp_group group)
{
    struct smp_group_info *info = smp_thread_groups_info(interval->groups, group);
    enum smp_status status = SMP_OK;
    uint32_t root;
    uint32_t node;

    if (info->root != 0)
        return SMP_OK;
    status = smp_tree_root(interval->tree, group.index, &root);
    if (status != SMP_OK)
        return status;
    status = smp_tree_add(interval->tree, root, &interval->locations[SMP_OUTCOME_OVER_MEMORY_LIMIT],
                          1, &node);
    if (status == SMP_OK)
        info->root = root;
    return status;
}

enum smp_status smp_interval_create(struct smp_quota *quota, struct smp_methods *methods,
                                    uint32_t measures, struct smp_interval **out)
{
    enum smp_status status;
    struct smp_interval *interval = smp_alloc(quota, sizeof(*interval));

    if (interval == NULL)
        return SMP_ENOMEM;
    interval->quota = quota;
    interval->methods = smp_methods_hold(methods);
    status = smp_tree_create(quota, measures, quota->limit_bytes / SMP_TREE_LIMIT_SHARE,
                             &interval->tree);
    if (status == SMP_OK)
        status = smp_thread_groups_create(quota, quota->limit_bytes / SMP_GROUPS_LIMIT_SHARE,
                                          &interval->groups);
    if (status == SMP_OK) {
        find_pseudo_locations(interval);
        status = ensure_root(interval, (struct smp_group){ .index = 0 });
    }
    if (status == SMP_OK)
        *out = interval;
    else
        smp_interval_destroy(interval);
    return status;
}

void smp_interval_destroy(struct smp_interval *interval)
{
    if (interval == NULL)
        return;
    smp_tree_destroy(interval->tree);
    smp_thread_groups_destroy(interval->groups);
    smp_profile_counts_fini(&interval->counts);
    smp_counted_times_fini(&interval->counted_times, interval->quota);
    smp_lock_times_destroy(interval->lock_times);
    smp_second_times_destroy(interval->seconds);
    smp_methods_release(interval->methods);
    smp_free(interval->quota, interval);
}

struct smp_group_tree smp_interval_find(struct smp_interval *interval, struct smp_group_key key,
                                        uint64_t serial, const char *raw_name)
{
    struct smp_group group = { .index = 0 };

    if (key.name != NULL)
        group = smp_thread_groups_find(interval->groups, key);
    if (ensure_root(interval, group) != SMP_OK)
        group.index = 0;
    smp_thread_groups_see(interval->groups, group, serial, raw_name != NULL ? raw_name : "");
    return (struct smp_group_tree){
        .group = group,
        .root = smp_thread_groups_info(interval->groups, group)->root,
    };
}

bool smp_interval_add(struct smp_interval *interval, struct smp_group_tree tree,
                      const uint32_t *locations, size_t count, uint32_t *node)
{
    return smp_tree_add(interval->tree, tree.root, locations, count, node) == SMP_OK;
}

uint32_t smp_interval_add_pseudo(struct smp_interval *interval, struct smp_group_tree tree,
                                 enum smp_outcome *outcome)
{
    uint32_t node = tree.root;

    if (smp_interval_add(interval, tree, &interval->locations[*outcome], 1, &node))
        return node;
    *outcome = SMP_OUTCOME_OVER_MEMORY_LIMIT;
    /* Succeeds: the node was made together with the group's root. */
    (void)smp_interval_add(interval, tree, &interval->locations[*outcome], 1, &node);
    return node;
}

/* --- seconds --- */

static bool holds_states(const struct smp_interval *interval)
{
    return (smp_tree_measures(interval->tree) & SMP_STATE_MEASURES) != 0;
}

static void begin_seconds(struct smp_interval *interval)
{
    const int64_t second = interval->from_wall_ms / MS_PER_SECOND;
    const struct smp_second_range range = { .from = second, .till = second + 1, .width = 1 };

    if (holds_states(interval) &&
        smp_second_times_create(interval->quota, range, &interval->seconds) != SMP_OK)
        interval->counters[SMP_COUNTER_LOST_SECONDS]++;
}

/* Converts a time of the monotonic clock to wall-clock time, ignoring changes of the wall clock
 * since the interval began. */
static int64_t wall_ns_at(const struct smp_interval *interval, int64_t at_ns)
{
    return interval->from_wall_ms * NS_PER_MS + (at_ns - interval->from_ns);
}

static uint32_t second_row_of(struct smp_interval *interval, struct smp_group_tree tree)
{
    struct smp_group_info *const info = smp_thread_groups_info(interval->groups, tree.group);

    if (info->second_row == 0)
        info->second_row = smp_second_times_new_row(interval->seconds, tree.group.index);
    return info->second_row;
}

static void add_to_seconds(struct smp_interval *interval, struct smp_group_tree tree,
                           enum smp_thread_state state, int64_t ns, struct smp_span span)
{
    if (interval->seconds == NULL || ns <= 0)
        return;
    smp_second_times_add(interval->seconds, second_row_of(interval, tree), state,
                         (struct smp_span){ .from_ns = wall_ns_at(interval, span.from_ns),
                                            .till_ns = wall_ns_at(interval, span.till_ns) },
                         ns);
}

static void take_from_seconds(struct smp_interval *interval, struct smp_group_tree tree,
                              enum smp_thread_state state, int64_t ns, int64_t till_ns)
{
    if (interval->seconds != NULL && ns > 0)
        smp_second_times_take(interval->seconds, second_row_of(interval, tree), state,
                              wall_ns_at(interval, till_ns), ns);
}

/* Makes the sums of seconds equal to those of the tree. They differ if the tree had no memory for a
 * state and credited another state. */
static void fit_seconds(const struct smp_profile *profile, struct smp_second_times *seconds)
{
    const uint32_t rows = smp_second_times_rows(seconds);
    const size_t groups = smp_thread_groups_count(profile->groups);

    for (int i = 0; i < SMP_THREAD_STATE_COUNT; i++) {
        const enum smp_thread_state state = (enum smp_thread_state)i;
        const struct smp_column column =
            smp_tree_column(profile->tree, smp_measure_of_state(state));
        int64_t totals[1 + SMP_MAX_SECOND_GROUPS] = { 0 };
        for (uint32_t group = 0; group < groups; group++) {
            const struct smp_group_info *const info =
                smp_thread_groups_info(profile->groups, (struct smp_group){ .index = group });
            int64_t *const total = &totals[info->second_row];
            if (info->kind == SMP_GROUP_SAMPLED && info->root != 0)
                *total = smp_add_clamped(*total, smp_column_at(column, info->root));
        }
        for (uint32_t row = 0; row < rows; row++)
            smp_second_times_fit(seconds, row, state, totals[row]);
    }
}

/* The seconds are dropped if the tree has no totals by state to check them against. */
static void finish_seconds(struct smp_interval *interval, struct smp_profile *profile)
{
    struct smp_second_times *const seconds = interval->seconds;

    interval->seconds = NULL;
    if (seconds == NULL)
        return;
    if ((smp_tree_measures(profile->tree) & SMP_STATE_MEASURES) == 0) {
        smp_second_times_destroy(seconds);
        interval->counters[SMP_COUNTER_LOST_SECONDS]++;
        return;
    }
    fit_seconds(profile, seconds);
    if (profile->from_wall_ms != interval->from_wall_ms)
        smp_second_times_shift(seconds,
                               (profile->from_wall_ms - interval->from_wall_ms) / MS_PER_SECOND);
    interval->counters[SMP_COUNTER_LOST_SECONDS] += smp_second_times_lost(seconds);
    profile->seconds = seconds;
}

/* --- time --- */

static int64_t blocked_at(const struct smp_interval *interval, uint32_t node)
{
    return smp_column_at(smp_tree_column(interval->tree, SMP_MEASURE_BLOCKED), node);
}

/* Without memory for a state, the tree credits another state. So the blocked time is read from the
 * node before and after. */
static void credit_wall(struct smp_interval *interval, struct smp_group_tree tree, uint32_t node,
                        enum smp_thread_state state, int64_t wall_ns, struct smp_span span)
{
    const int64_t before_ns = blocked_at(interval, node);

    smp_tree_credit_wall(interval->tree, node, state, wall_ns);
    interval->blocked_ns += blocked_at(interval, node) - before_ns;
    add_to_seconds(interval, tree, state, wall_ns, span);
}

void smp_interval_note(struct smp_interval *interval, struct smp_group_tree tree, uint32_t node,
                       enum smp_outcome outcome, enum smp_thread_state state, int64_t wall_ns,
                       struct smp_span span)
{
    struct smp_group_info *info = smp_thread_groups_info(interval->groups, tree.group);

    smp_tally_note(&info->tally, outcome);
    smp_tally_note(&interval->tally, outcome);
    credit_wall(interval, tree, node, state, wall_ns, span);
    smp_tree_credit(interval->tree, node, SMP_MEASURE_SAMPLES, smp_outcome_is_sample(outcome));
    info->unseen.fallback = node;
}

void smp_interval_skip(struct smp_interval *interval, struct smp_group_tree tree,
                       enum smp_outcome outcome, uint64_t count)
{
    smp_tally_note_all(&smp_thread_groups_info(interval->groups, tree.group)->tally, outcome,
                       count);
    smp_tally_note_all(&interval->tally, outcome, count);
}

void smp_interval_ran_unseen(struct smp_interval *interval, struct smp_group_tree tree,
                             int64_t cpu_ns)
{
    smp_thread_groups_info(interval->groups, tree.group)->unseen.amount += cpu_ns;
}

void smp_interval_spent(struct smp_interval *interval, struct smp_group_tree tree, uint32_t node,
                        enum smp_thread_state state, int64_t wall_ns, int64_t till_ns)
{
    credit_wall(interval, tree, node, state, wall_ns, smp_span_before(till_ns, wall_ns));
}

void smp_interval_measured(struct smp_interval *interval, struct smp_group_tree tree, uint32_t node,
                           int64_t wall_ns, int64_t cpu_ns)
{
    const struct smp_span span = { .from_ns = interval->from_ns,
                                   .till_ns = interval->is_covered ? interval->till_ns
                                                                   : interval->from_ns + 1 };

    smp_tree_credit_wall(interval->tree, node, SMP_STATE_RUNNING, wall_ns);
    add_to_seconds(interval, tree, SMP_STATE_RUNNING, wall_ns, span);
    smp_tree_credit(interval->tree, node, SMP_MEASURE_CPU, cpu_ns);
}

int64_t smp_interval_take_back(struct smp_interval *interval, struct smp_group_tree tree,
                               uint32_t node, enum smp_thread_state state, int64_t wall_ns,
                               int64_t till_ns)
{
    const int64_t before_ns = blocked_at(interval, node);
    const int64_t taken_ns = smp_tree_take_back_wall(interval->tree, node, state, wall_ns);

    interval->blocked_ns += blocked_at(interval, node) - before_ns;
    take_from_seconds(interval, tree, state, taken_ns, till_ns);
    return taken_ns;
}

int64_t smp_interval_change_state(struct smp_interval *interval, struct smp_group_tree tree,
                                  uint32_t node, enum smp_thread_state from,
                                  enum smp_thread_state to, int64_t wall_ns, int64_t till_ns)
{
    const int64_t before_ns = blocked_at(interval, node);
    const int64_t changed_ns = smp_tree_change_state(interval->tree, node, from, to, wall_ns);

    interval->blocked_ns += blocked_at(interval, node) - before_ns;
    take_from_seconds(interval, tree, from, changed_ns, till_ns);
    add_to_seconds(interval, tree, to, changed_ns, smp_span_before(till_ns, changed_ns));
    return changed_ns;
}

/* --- holders of locks --- */

int64_t smp_interval_take_blocked(struct smp_interval *interval)
{
    const int64_t blocked_ns = interval->blocked_ns;

    interval->blocked_ns = 0;
    return blocked_ns;
}

void smp_interval_charge(struct smp_interval *interval, uint32_t node, int64_t ns)
{
    int64_t correction_ns = interval->holder_correction_ns;

    if (node == 0) {
        interval->counters[SMP_COUNTER_LOST_HOLDERS] += ns != 0;
        return;
    }
    if (ns > 0 && correction_ns > 0) {
        const int64_t paid_ns = correction_ns < ns ? correction_ns : ns;
        correction_ns -= paid_ns;
        ns -= paid_ns;
    }
    if (ns > 0)
        smp_tree_credit_wall(interval->tree, node, SMP_STATE_BLOCKED, ns);
    else if (ns < 0)
        correction_ns +=
            -ns - smp_tree_take_back_wall(interval->tree, node, SMP_STATE_BLOCKED, -ns);
    interval->holder_correction_ns = correction_ns;
}

/* Returns the innermost line of the application or, without one, the innermost line. */
static uint32_t lock_line_of(const struct smp_interval *interval, uint32_t node)
{
    const struct smp_node *const nodes = smp_tree_nodes(interval->tree);

    if (smp_node_is_call(&nodes[node]))
        node = nodes[node].parent;
    for (uint32_t at = node; at != 0 && !smp_node_is_group(&nodes[at]); at = nodes[at].parent) {
        if (smp_methods_is_application(interval->methods, nodes[at].location))
            return nodes[at].location;
    }
    return nodes[node].location;
}

void smp_interval_note_lock(struct smp_interval *interval, const char *lock, uint32_t waiting,
                            uint32_t holding, int64_t ns)
{
    struct smp_lock_time time = { .ns = ns };
    enum smp_status status = SMP_OK;

    if (waiting == 0 || holding == 0 || ns == 0)
        return;
    time.lock =
        smp_methods_pseudo(interval->methods, lock[0] != '\0' ? lock : SMP_UNKNOWN_LOCK_NAME);
    time.waiting = lock_line_of(interval, waiting);
    time.holding = lock_line_of(interval, holding);
    if (interval->lock_times == NULL)
        status = smp_lock_times_create(interval->quota,
                                       smp_methods_pseudo(interval->methods, SMP_OTHER_LOCKS_NAME),
                                       &interval->lock_times);
    if (status == SMP_OK)
        status = smp_lock_times_add(interval->lock_times, &time);
    interval->counters[SMP_COUNTER_LOST_HOLDERS] += status != SMP_OK;
}

struct smp_group_tree smp_interval_find_holders(struct smp_interval *interval, const char *group)
{
    const struct smp_group_key key = { .name = group != NULL ? group : SMP_UNKNOWN_HOLDERS_NAME,
                                       .kind = SMP_GROUP_HOLDERS };
    const struct smp_group found = smp_thread_groups_find(interval->groups, key);

    if (smp_thread_groups_kind(interval->groups, found) != SMP_GROUP_HOLDERS ||
        ensure_root(interval, found) != SMP_OK)
        return (struct smp_group_tree){ .root = 0 };
    return (struct smp_group_tree){
        .group = found,
        .root = smp_thread_groups_info(interval->groups, found)->root,
    };
}

void smp_interval_see_blocked(struct smp_interval *interval, struct smp_group_tree tree,
                              uint64_t waiter, const char *lock)
{
    if (tree.root == 0)
        return;
    smp_thread_groups_see(interval->groups, tree.group, waiter, "");
    if (lock[0] != '\0')
        smp_thread_groups_see_lock(interval->groups, tree.group, lock);
}

uint32_t smp_interval_add_holder_row(struct smp_interval *interval, struct smp_group_tree tree,
                                     enum smp_holder_row row)
{
    enum smp_outcome outcome = SMP_OUTCOME_OVER_MEMORY_LIMIT;
    uint32_t node = 0;

    if (tree.root == 0 || smp_interval_add(interval, tree, &interval->holder_rows[row], 1, &node))
        return node;
    return smp_interval_add_pseudo(interval, tree, &outcome);
}

void smp_interval_charge_unknown(struct smp_interval *interval, int64_t ns)
{
    if (ns != 0)
        smp_interval_charge(interval,
                            smp_interval_add_holder_row(interval,
                                                        smp_interval_find_holders(interval, NULL),
                                                        SMP_HOLDER_UNREAD),
                            ns);
}

/* Charges the remaining blocked time and takes the correction from holders, so that both sums are
 * equal. */
static void charge_remaining(struct smp_interval *interval)
{
    smp_interval_charge_unknown(interval, smp_interval_take_blocked(interval));
    const struct smp_node *const nodes = smp_tree_nodes(interval->tree);
    const size_t count = smp_tree_node_count(interval->tree);
    for (uint32_t node = 1; node < count && interval->holder_correction_ns > 0; node++) {
        const int64_t correction_ns = interval->holder_correction_ns;
        if (smp_thread_groups_kind_of_node(interval->groups, nodes, node) != SMP_GROUP_HOLDERS)
            continue;
        interval->holder_correction_ns = 0;
        smp_interval_charge(interval, node, -correction_ns);
    }
    interval->holder_correction_ns = 0; /* the time is lost and must not affect the next interval */
}

void smp_interval_ran(struct smp_interval *interval, struct smp_group_tree tree, float change,
                      uint32_t tick)
{
    smp_error_sum_add(&smp_thread_groups_info(interval->groups, tree.group)->running, tick, change);
}

/* --- counted trees --- */

static struct smp_counted_trees counted_trees_of(const struct smp_interval *interval)
{
    return (struct smp_counted_trees){
        .quota = interval->quota,
        .tree = interval->tree,
        .groups = interval->groups,
        .methods = interval->methods,
    };
}

uint32_t smp_interval_add_call(struct smp_interval *interval, uint32_t node, uint32_t counted)
{
    uint32_t leaf = node;

    return smp_tree_add_call(interval->tree, node, counted, &leaf) == SMP_OK ? leaf : node;
}

static void set_counted_times(struct smp_interval *interval, smp_on_counted_time *on_time,
                              void *context)
{
    const struct smp_counted_trees trees = counted_trees_of(interval);

    if (!smp_counted_times_set(&interval->counted_times, &trees, on_time, context))
        interval->counters[SMP_COUNTER_LOST_COUNTED_TIMES]++;
}

void smp_interval_time_counted(struct smp_interval *interval, smp_on_counted_time *on_time,
                               void *context)
{
    interval->times_counted = true;
    set_counted_times(interval, on_time, context);
}

void smp_interval_in_hook(struct smp_interval *interval, struct smp_group_tree tree, int64_t ns)
{
    int64_t *const hook_ns = &smp_thread_groups_info(interval->groups, tree.group)->hook_ns;

    *hook_ns = smp_add_clamped(*hook_ns, ns);
}

void smp_interval_add_root_time(struct smp_interval *interval, const struct smp_root_time *time)
{
    /* If this is refused, the row shows the mean computed from its calls. */
    (void)!smp_profile_counts_add_root_time(&interval->counts, interval->quota, time);
}

static struct smp_caller_calls *late_callers(struct smp_interval *interval)
{
    if (interval->counts.caller_calls == NULL)
        (void)!smp_caller_calls_create(interval->quota, &interval->counts.caller_calls);
    return interval->counts.caller_calls;
}

/* If this is refused, the number of missing calls stays unknown. */
void smp_interval_counted_late(struct smp_interval *interval, uint32_t node, int64_t since_ms)
{
    struct smp_caller_calls *const callers = late_callers(interval);
    const uint32_t caller = smp_tree_nodes(interval->tree)[node].parent;

    if (callers != NULL)
        (void)!smp_caller_calls_add_late(callers, node, caller, since_ms);
}

void smp_interval_settle_counted(struct smp_interval *interval, bool is_marked, int64_t wall_ms)
{
    smp_caller_calls_settle(interval->counts.caller_calls, interval->tree);
    if (is_marked && late_callers(interval) != NULL)
        smp_caller_calls_mark(late_callers(interval), interval->tree, wall_ms);
}

int64_t smp_interval_counted_from(const struct smp_interval *interval)
{
    return interval->counts.begin_ms > interval->from_wall_ms ? interval->counts.begin_ms
                                                              : interval->from_wall_ms;
}

/* Without memory to do so, each later set of times counts as lost. */
static void forget_counted_times(struct smp_interval *interval)
{
    const struct smp_counted_trees trees = counted_trees_of(interval);

    interval->times_counted = true;
    (void)smp_counted_times_forget(&interval->counted_times, &trees);
}

void smp_interval_forget_counted(struct smp_interval *interval, bool is_timed, int64_t wall_ms)
{
    const struct smp_node *const nodes = smp_tree_nodes(interval->tree);

    interval->counts.is_anew = true;
    interval->counts.begin_ms = wall_ms;
    smp_caller_calls_destroy(interval->counts.caller_calls);
    interval->counts.caller_calls = NULL;
    if (is_timed)
        forget_counted_times(interval); /* needed even if there is no counted row yet */
    if (!smp_thread_groups_has(interval->groups, SMP_GROUP_COUNTED))
        return;
    for (uint32_t node = 1; node < smp_tree_node_count(interval->tree); node++) {
        if (smp_thread_groups_kind_of_node(interval->groups, nodes, node) != SMP_GROUP_COUNTED)
            continue;
        for (int i = 0; i < SMP_MEASURE_COUNT; i++)
            (void)smp_tree_take_back(interval->tree, node, (enum smp_measure)i, INT64_MAX);
    }
    smp_thread_groups_forget_hook_time(interval->groups);
    smp_root_times_destroy(interval->counts.root_times);
    interval->counts.root_times = NULL;
}

void smp_interval_saw_depth(struct smp_interval *interval, struct smp_group_tree tree,
                            uint64_t depth)
{
    struct smp_group_info *info = smp_thread_groups_info(interval->groups, tree.group);

    if (depth > info->max_depth)
        info->max_depth = depth;
}

void smp_interval_begin(struct smp_interval *interval, int64_t now_ns, int64_t wall_ms)
{
    if (interval->has_begun)
        return;
    interval->has_begun = true;
    interval->from_ns = now_ns;
    interval->from_wall_ms = wall_ms;
    begin_seconds(interval);
}

void smp_interval_cover(struct smp_interval *interval, int64_t now_ns, int64_t span_ns)
{
    interval->is_covered = true;
    interval->till_ns = now_ns;
    interval->elapsed_ns += span_ns;
}

static void renumber(void *context, const uint32_t *places)
{
    struct smp_interval *const interval = context;

    smp_thread_groups_renumber(interval->groups, places);
    smp_profile_counts_renumber(&interval->counts, places);
    smp_counted_times_renumber(&interval->counted_times, places);
}

bool smp_interval_fold(struct smp_interval *interval)
{
    const struct smp_tree_folding folding = {
        .folded = smp_methods_folded(interval->methods),
        .kept = smp_methods_over_limit(interval->methods),
        .renumber = renumber,
        .context = interval,
    };
    const size_t gone = smp_tree_fold(interval->tree, &folding);

    interval->counters[SMP_COUNTER_FOLDED_ROWS] += gone;
    return gone > 0;
}

void smp_interval_mark_used(const struct smp_interval *interval, bool *used, size_t count)
{
    const struct smp_node *nodes = smp_tree_nodes(interval->tree);
    const size_t node_count = smp_tree_node_count(interval->tree);

    /* Node 0 has no location; the locations of roots are groups. */
    for (size_t i = 1; i < node_count; i++) {
        const uint32_t location = nodes[i].location;
        if ((location & SMP_LOCATION_GROUP) == 0 && location < count)
            used[location] = true;
    }
}

/* Returns the wall clock at the begin of an interval that ends at till. If the clock was set back
 * meanwhile, the begin is computed from the end, or the interval would end before its begin. */
static int64_t begin_wall_ms(const struct smp_interval *interval, int64_t till_ns,
                             int64_t till_wall_ms)
{
    if (!interval->has_begun)
        return till_wall_ms - interval->elapsed_ns / NS_PER_MS;

    const int64_t passed_ms = (till_ns - interval->from_ns) / NS_PER_MS;
    const int64_t least_ms = passed_ms > STEP_MS ? passed_ms - STEP_MS : 0;

    return till_wall_ms - interval->from_wall_ms >= least_ms ? interval->from_wall_ms
                                                             : till_wall_ms - passed_ms;
}

/* The title shows the covered time, without a pause at the begin or end of the interval. */
static void set_profile_times(const struct smp_interval *interval, int64_t now_ns, int64_t wall_ms,
                              struct smp_profile *profile)
{
    const int64_t till_ns = interval->is_covered ? interval->till_ns : now_ns;

    profile->till_wall_ms = wall_ms - (now_ns - till_ns) / NS_PER_MS;
    profile->from_wall_ms = begin_wall_ms(interval, till_ns, profile->till_wall_ms);
    profile->elapsed_ns = interval->elapsed_ns;
}

static struct smp_tree_unseen *unseen_of(void *self, uint32_t group)
{
    struct smp_thread_groups *groups = self;

    return &smp_thread_groups_info(groups, (struct smp_group){ .index = group })->unseen;
}

bool smp_interval_forget_seconds(struct smp_interval *interval)
{
    if (interval->seconds == NULL)
        return false;
    smp_second_times_destroy(interval->seconds);
    interval->seconds = NULL;
    interval->counters[SMP_COUNTER_LOST_SECONDS]++;
    return true;
}

static enum smp_status profile_of_interval(struct smp_interval *interval, struct smp_profile **out)
{
    return smp_profile_create(interval->quota, interval->tree, interval->groups, interval->methods,
                              out);
}

enum smp_status smp_interval_finish(struct smp_interval *interval, int64_t now_ns, int64_t wall_ms,
                                    struct smp_profile **out)
{
    struct smp_profile *profile = NULL;
    enum smp_status status;

    charge_remaining(interval);
    /* May be repeated if the profile is refused: then nothing is left to spread. */
    smp_tree_spread(interval->tree, SMP_MEASURE_CPU, unseen_of, interval->groups);
    if (interval->times_counted)
        set_counted_times(interval, NULL, NULL);
    status = profile_of_interval(interval, &profile);
    if (status != SMP_OK && smp_interval_forget_seconds(interval))
        status = profile_of_interval(interval, &profile);
    if (status != SMP_OK)
        return status;
    smp_caller_calls_drop_mark(interval->counts.caller_calls);
    profile->counts = interval->counts;
    interval->tree = NULL; /* the profile owns them now */
    interval->groups = NULL;
    interval->counts = (struct smp_profile_counts){ 0 };
    profile->lock_times = interval->lock_times;
    interval->lock_times = NULL;
    set_profile_times(interval, now_ns, wall_ms, profile);
    finish_seconds(interval, profile);
    interval->counters[SMP_COUNTER_LOST_STATES] += smp_tree_lost_states(profile->tree);
    interval->counters[SMP_COUNTER_LOST_ERRORS] += smp_tree_lost_errors(profile->tree);
    memcpy(profile->counters, interval->counters, sizeof(profile->counters));
    profile->memory_used_bytes = smp_quota_used(interval->quota);
    profile->memory_limit_bytes = interval->quota->limit_bytes;
    *out = profile;
    return SMP_OK;
}

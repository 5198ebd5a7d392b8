/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json.c - a whole profile, for the page and for scripts. The format's name is "threads-sampler/1";
 * readers ignore unknown members.
 *
 *   {"format":"threads-sampler/1",
 *    "fromMillis":n, "tillMillis":n,            wall clock at both ends, since 1970
 *    "zone":"CET", "zoneOffsetSeconds":3600,    time zone of the process at the end, east of UTC,
 *                                               in which the text report prints times
 *    "elapsedNanos":n, "ownCpuNanos":n,         length without pauses; CPU time of the sampler's
 *                                               threads
 *    "clock":"CPU",                             only if wall is CPU time, too
 *    "memoryUsedBytes":n, "memoryLimitBytes":n,
 *    "account":{"polls":n, "samples":n,         outcome.h; samples of all nodes
 *               "outcomes":{"<CODE>":n, ...},   without those that are 0
 *               "counters":{"<CODE>":n, ...},
 *               "missedPackages":"com.acme, org.x"},    only if no frame of these was seen
 *    "countedFromMillis":n,                     when counting began or was reset, if that was
 *                                               within the interval
 *    "counting":{"<CODE>":{"text":"left alone, ...", "count":n, "names":["com.acme.A.run", ...]},
 *                ...},                          counting_account.h; only if calls are counted
 *    "summary":{...},                           summary_json.h
 *    "frames":[                                 each once; its index is its number
 *      {"class":"com.acme.A","method":"run","file":"A.java","line":12},
 *                                               without file or line if they are unknown
 *      {"class":"com.acme.A","method":"run0","native":true},
 *      {"pseudo":"[thread ended]"}, ...],
 *    "groups":[{                                in descending order of wall time
 *      "name":"main", "threads":3,              distinct threads
 *      "threadNames":["main-1", ...],           the first of them
 *      "joinedGroups":n,                        only in [other threads]: the groups it holds
 *      "maxDepth":12, "polls":n, "outcomes":{...},
 *      "parent":[-1,0,0,...],                   by node: index of its parent in these arrays; -1: a
 *                                               root frame. Parents come before their children.
 *      "frame":[0,5,6,...],                     by node: number of its frame
 *      "wall":[0,1200,...], "cpu":[...],        by node: own time in nanoseconds, without children
 *      "samples":[...],                         by node: own samples; likewise each measure
 *      "error95":{"wall":[[1100,1400],null, ...], "cpu":[...]},
 *                                               by node: the range of its total time that is right
 *                                               in 95 of 100 intervals; both ends are the time
 *                                               itself if it is exact, and null means not known
 *                                               (error_range.h). Only with errorBars, and not in
 *                                               "counted"
 *      "recursion":[[node,depth], ...],         only if recursions are folded (profile_merge.h):
 *                                               how deep the node's calls were nested
 *      "rowCalls":[[node,calls,paths], ...]},   only if calls are counted: how often the node's
 *                                               method was called there, according to the counted
 *                                               group of the same name, and from how many nodes
 *                                               (row_calls.h). If several lines of a method are
 *                                               below one node, the one with the most wall time
 *                                               has the figure
 *     ...],
 *    "counted":[{                               only if calls are counted: the counted groups, as
 *                                               above. The groups above repeat their time. Their
 *                                               frames are methods.
 *      ...
 *      "hookNanos":n,                           time in the counting itself, which no node has;
 *                                               only if it is known
 *      "parent":[...], "frame":[...], "wall":[...], "cpu":[...], "samples":[...], "calls":[...],
 *      "rootTimes":[[node,calls,total,min,max], ...],
 *                                               of finished calls, in nanoseconds: with EXACT of
 *                                               all nodes, otherwise of roots; node: an index
 *      "countedSince":[[node,millis,missing], ...]},
 *                                               for nodes counted later than fromMillis, or
 *                                               countedFromMillis: since when, and at most how
 *                                               many calls they lack; -1: not known (row_since.h)
 *     ...],
 *    "lockHolders":[{                           only if threads were blocked: by group, where its
 *                                               threads were while others waited for their locks
 *      "name":"main", "blockedThreads":9,       distinct threads that waited for them
 *      "locks":1, "lockNames":["com.acme.Cart"],   their classes; the first of them
 *      "parent":[...], "frame":[...],           as above
 *      "wall":[0,1200,...]},                    nanoseconds for which other threads were blocked
 *     ...],
 *    "locks":[{"lock":"com.acme.Cart",          the same time, by the class of the lock, the line
 *      "waiting":"a.B.c(B.java:1)",             of the application that waited for it, and the one
 *      "holding":"a.B.d(B.java:2)",             that held it, in descending order. Omitted if one
 *      "wall":1200},                            of the two lines is not known
 *     ...],
 *    "seconds":{                                the states of each group over time; only if states
 *                                               are known
 *      "from":n, "width":1, "count":20,         the second since 1970 at which the first slot
 *                                               begins; seconds per slot; number of slots
 *      "groups":[{"name":"main",                "[other threads]": all groups without an entry
 *        "running":[0,812,...], "idle":[...]},  milliseconds of thread time by slot, for each state
 *       ...]}}                                  with time. Later slots are 0
 *
 * A group of "groups" has no "calls". Without nodes there is no "frames"; a group ends with
 * "outcomes", and a counted one with "hookNanos".
 *
 * Numbers are plain integers and may exceed 2^53. The document can be embedded in an HTML script
 * element (json_text.h).
 */
#include <time.h>

#include "base/sort.h"
#include "export/export_writers.h"
#include "export/json_text.h"
#include "export/row_calls.h"
#include "export/row_since.h"
#include "export/summary_json.h"
#include "export/used_frames.h"
#include "model/error_range.h"

enum { LOCK_TEXT_BYTES = 1024 * 1024, MS_PER_SECOND = 1000, MOST_FIGURES = 4 };

struct writer {
    const struct smp_export_job *job;
    struct smp_writer *out;
    struct smp_used_frames frames;
    struct smp_tree_walk walk;
    struct smp_row_calls calls;
    struct smp_row_since since;
    uint32_t *order;  /* nodes of a group, parents first */
    uint32_t *places; /* by node: its index in order */
    size_t count;     /* of order */
};

/* --- account --- */

static void put_named_count(struct smp_writer *out, const char *name, uint64_t value,
                            bool *is_first)
{
    if (value == 0)
        return;
    smp_json_put_key(out, name, *is_first);
    smp_writer_put_u64(out, value);
    *is_first = false;
}

static void put_outcomes(struct writer *writer, const struct smp_tally *tally)
{
    bool is_first = true;

    smp_json_put_key(writer->out, "outcomes", false);
    smp_writer_put_byte(writer->out, '{');
    for (int i = 0; i < SMP_OUTCOME_COUNT; i++)
        put_named_count(writer->out, smp_outcome_code((enum smp_outcome)i), tally->outcomes[i],
                        &is_first);
    smp_writer_put_byte(writer->out, '}');
}

static void put_json_account(struct writer *writer)
{
    const struct smp_profile *const profile = writer->job->profile;
    bool is_first = true;

    smp_json_put_key(writer->out, "account", false);
    smp_writer_puts(writer->out, "{\"polls\":");
    smp_writer_put_u64(writer->out, profile->tally.polls);
    smp_json_put_count(writer->out, "samples", smp_tally_samples(&profile->tally));
    put_outcomes(writer, &profile->tally);
    smp_json_put_key(writer->out, "counters", false);
    smp_writer_put_byte(writer->out, '{');
    for (int i = 0; i < SMP_COUNTER_COUNT; i++)
        put_named_count(writer->out, smp_counter_code((enum smp_counter)i), profile->counters[i],
                        &is_first);
    smp_writer_put_byte(writer->out, '}');
    if (smp_profile_misses_packages(profile)) {
        smp_json_put_member(writer->out, "missedPackages", profile->packages);
    }
    if (profile->signal_taker[0] != '\0') {
        smp_json_put_member(writer->out, "signalTaken", profile->signal_taker);
    }
    smp_writer_put_byte(writer->out, '}');
}

static void put_counting(struct writer *writer, const struct smp_counting_account *account)
{
    struct smp_writer *const out = writer->out;
    bool is_first = true;

    smp_json_put_key(out, "counting", false);
    smp_writer_put_byte(out, '{');
    for (int i = 0; i < SMP_COUNTING_COUNT; i++) {
        const enum smp_counting counting = (enum smp_counting)i;
        const size_t listed = smp_counting_account_listed(account, counting);
        if (smp_counting_account_figure(account, counting) == 0)
            continue;
        smp_json_put_key(out, smp_counting_code(counting), is_first);
        is_first = false;
        smp_writer_puts(out, "{\"text\":");
        smp_json_put_string(out, smp_counting_text(counting));
        smp_json_put_count(out, "count", smp_counting_account_figure(account, counting));
        smp_json_put_key(out, "names", false);
        smp_writer_put_byte(out, '[');
        for (size_t at = 0; at < listed; at++) {
            if (at > 0)
                smp_writer_put_byte(out, ',');
            smp_json_put_string(out, smp_counting_account_name_at(account, counting, at));
        }
        smp_writer_puts(out, "]}");
    }
    smp_writer_put_byte(out, '}');
}

static void put_zone(struct writer *writer, int64_t wall_ms)
{
    const time_t seconds = (time_t)(wall_ms / MS_PER_SECOND);
    struct tm at = { 0 };

    if (localtime_r(&seconds, &at) == NULL || at.tm_zone == NULL)
        return;
    smp_json_put_member(writer->out, "zone", at.tm_zone);
    smp_json_put_number(writer->out, "zoneOffsetSeconds", at.tm_gmtoff);
}

static void put_json_head(struct writer *writer)
{
    const struct smp_profile *const profile = writer->job->profile;

    smp_writer_puts(writer->out, "{\"format\":\"threads-sampler/1\"");
    smp_json_put_number(writer->out, "fromMillis", profile->from_wall_ms);
    smp_json_put_number(writer->out, "tillMillis", profile->till_wall_ms);
    put_zone(writer, profile->till_wall_ms);
    smp_json_put_number(writer->out, "elapsedNanos", profile->elapsed_ns);
    if (profile->is_cpu_clock)
        smp_writer_puts(writer->out, ",\"clock\":\"CPU\"");
    smp_json_put_number(writer->out, "ownCpuNanos", profile->own_cpu_ns);
    smp_json_put_count(writer->out, "memoryUsedBytes", profile->memory_used_bytes);
    smp_json_put_count(writer->out, "memoryLimitBytes", profile->memory_limit_bytes);
    put_json_account(writer);
    if (profile->counts.account == NULL)
        return;
    if (smp_profile_counted_from(profile) > profile->from_wall_ms)
        smp_json_put_number(writer->out, "countedFromMillis", smp_profile_counted_from(profile));
    put_counting(writer, profile->counts.account);
}

/* --- frames --- */

static void put_json_frame(struct writer *writer, uint32_t location)
{
    struct smp_writer *const out = writer->out;
    struct smp_location_view view;

    smp_profile_view(writer->job->profile, location, &view);
    smp_writer_puts(out, view.is_pseudo ? "{\"pseudo\":" : "{\"class\":");
    smp_json_put_string(out, view.class_name);
    if (view.method_name != NULL) {
        smp_json_put_member(out, "method", view.method_name);
    }
    if (view.file != NULL) {
        smp_json_put_member(out, "file", view.file);
    }
    if (view.line > 0)
        smp_json_put_number(writer->out, "line", view.line);
    if (view.is_native)
        smp_writer_puts(out, ",\"native\":true");
    smp_writer_put_byte(out, '}');
}

static void put_json_frames(struct writer *writer)
{
    smp_writer_puts(writer->out, ",\n\"frames\":[");
    for (uint32_t i = 0; i < writer->frames.count && !writer->out->has_failed; i++) {
        if (i > 0)
            smp_writer_puts(writer->out, ",\n");
        put_json_frame(writer, writer->frames.locations[i]);
    }
    smp_writer_put_byte(writer->out, ']');
}

/* --- groups --- */

static enum smp_status order_nodes(struct writer *writer, uint32_t root)
{
    struct smp_tree_walk *const walk = &writer->walk;

    writer->count = 0;
    smp_tree_walk_begin(walk, root);
    while (smp_tree_walk_next(walk)) {
        const uint32_t node = smp_tree_walk_node(walk);
        writer->places[node] = (uint32_t)writer->count;
        writer->order[writer->count++] = node;
    }
    return walk->status;
}

static int64_t parent_of(const struct writer *writer, uint32_t node, int measure)
{
    const struct smp_node *const nodes = writer->walk.nodes;
    const uint32_t parent = nodes[node].parent;

    (void)measure;
    return smp_node_is_group(&nodes[parent]) ? -1 : (int64_t)writer->places[parent];
}

static int64_t frame_of(const struct writer *writer, uint32_t node, int measure)
{
    (void)measure;
    return smp_used_frames_number(&writer->frames, writer->walk.nodes[node].location);
}

static int64_t amount_of(const struct writer *writer, uint32_t node, int measure)
{
    return smp_tree_self(writer->walk.tree, node, (enum smp_measure)measure);
}

/* measure: passed to value_of. */
static void put_json_column(struct writer *writer, const char *name,
                            int64_t (*value_of)(const struct writer *writer, uint32_t node,
                                                int measure),
                            int measure)
{
    struct smp_writer *const out = writer->out;

    smp_writer_puts(out, ",\n\"");
    smp_writer_puts(out, name);
    smp_writer_puts(out, "\":[");
    for (size_t i = 0; i < writer->count && !out->has_failed; i++) {
        if (i > 0)
            smp_writer_put_byte(out, ',');
        smp_writer_put_i64(out, value_of(writer, writer->order[i], measure));
    }
    smp_writer_put_byte(out, ']');
}

static void put_names(struct writer *writer, const char *key, const struct smp_group_info *group)
{
    smp_json_put_key(writer->out, key, false);
    smp_writer_put_byte(writer->out, '[');
    for (uint32_t i = 0; i < group->listed; i++) {
        if (i > 0)
            smp_writer_put_byte(writer->out, ',');
        smp_json_put_string(writer->out, group->names[i]);
    }
    smp_writer_put_byte(writer->out, ']');
}

/* A state that no node of the group has is omitted: its column would be all 0. */
static bool shows_measure(const struct writer *writer, const struct smp_group_info *group,
                          enum smp_measure measure)
{
    const struct smp_tree *const tree = writer->walk.tree;

    if (!smp_export_holds(writer->job, measure))
        return false;
    if (group->kind == SMP_GROUP_HOLDERS)
        return measure == SMP_MEASURE_WALL;
    if ((SMP_MEASURE_BIT(measure) & SMP_STATE_MEASURES) != 0)
        return smp_column_at(smp_tree_column(tree, measure), group->root) > 0;
    return group->kind == SMP_GROUP_COUNTED || smp_profile_kind_of(measure) == SMP_GROUP_SAMPLED;
}

static void put_json_columns(struct writer *writer, const struct smp_group_info *group)
{
    put_json_column(writer, "parent", parent_of, 0);
    put_json_column(writer, "frame", frame_of, 0);
    for (int i = 0; i < SMP_MEASURE_COUNT; i++) {
        if (shows_measure(writer, group, (enum smp_measure)i))
            put_json_column(writer, smp_measure_info((enum smp_measure)i)->name, amount_of, i);
    }
}

static void put_error_column(struct writer *writer, const struct smp_group_errors *errors,
                             enum smp_measure measure, bool is_first)
{
    struct smp_writer *const out = writer->out;

    smp_json_put_key(out, smp_measure_info(measure)->name, is_first);
    smp_writer_put_byte(out, '[');
    for (size_t i = 0; i < writer->count && !out->has_failed; i++) {
        struct smp_error_range range;
        if (i > 0)
            smp_writer_put_byte(out, ',');
        if (!smp_group_errors_range(errors, writer->order[i], measure, &range)) {
            smp_writer_puts(out, "null");
            continue;
        }
        smp_json_put_pair(out, range.lower, range.upper);
    }
    smp_writer_put_byte(out, ']');
}

static void put_errors(struct writer *writer, const struct smp_group_info *group)
{
    const struct smp_profile *const profile = writer->job->profile;
    struct smp_group_errors errors;

    if (group->kind != SMP_GROUP_SAMPLED || !smp_tree_has_errors(profile->tree))
        return;
    errors = smp_group_errors_of(profile, group->root);
    smp_writer_puts(writer->out, ",\n\"error95\":{");
    put_error_column(writer, &errors, SMP_MEASURE_WALL, true);
    put_error_column(writer, &errors, SMP_MEASURE_CPU, false);
    smp_writer_put_byte(writer->out, '}');
}

/* Reads figures that only some nodes have, and returns how many a node has. */
typedef size_t figures_of(const struct writer *writer, uint32_t node, int64_t *figures);

static size_t root_time_of(const struct writer *writer, uint32_t node, int64_t *figures)
{
    const struct smp_root_times *const times = writer->job->profile->counts.root_times;
    const struct smp_root_time *const time =
        smp_root_times_count(times) == 0 ? NULL : smp_root_times_find(times, node);

    if (time == NULL)
        return 0;
    figures[0] = time->calls;
    figures[1] = time->total_ns;
    figures[2] = time->min_ns;
    figures[3] = time->max_ns;
    return 4;
}

static size_t counted_since_of(const struct writer *writer, uint32_t node, int64_t *figures)
{
    const struct smp_since since = smp_row_since_get(&writer->since, node);

    figures[0] = since.wall_ms;
    figures[1] = since.missing;
    return since.wall_ms == 0 ? 0 : 2;
}

static size_t row_calls_of(const struct writer *writer, uint32_t node, int64_t *figures)
{
    const uint32_t counted = smp_row_calls_node(&writer->calls, node);

    if (counted == 0)
        return 0;
    figures[0] = smp_tree_self(writer->walk.tree, counted, SMP_MEASURE_CALLS);
    figures[1] = writer->calls.paths[counted];
    return figures[0] == 0 ? 0 : 2;
}

static size_t levels_of(const struct writer *writer, uint32_t node, int64_t *figures)
{
    figures[0] = smp_profile_levels(writer->job->profile, node);
    return figures[0] == 0 ? 0 : 1;
}

/* Writes "key":[[node,figure,...], ...] for the nodes in order; nothing if no node has figures. */
static void put_figures(struct writer *writer, const char *key, figures_of *of)
{
    struct smp_writer *const out = writer->out;
    int64_t figures[MOST_FIGURES];
    bool is_first = true;

    for (size_t i = 0; i < writer->count && !out->has_failed; i++) {
        const size_t count = of(writer, writer->order[i], figures);
        if (count == 0)
            continue;
        if (is_first) {
            smp_writer_puts(out, ",\n");
            smp_json_put_key(out, key, true);
        }
        smp_writer_puts(out, is_first ? "[[" : ",[");
        is_first = false;
        smp_writer_put_u64(out, i);
        for (size_t f = 0; f < count; f++) {
            smp_writer_put_byte(out, ',');
            smp_writer_put_i64(out, figures[f]);
        }
        smp_writer_put_byte(out, ']');
    }
    if (!is_first)
        smp_writer_put_byte(out, ']');
}

static void put_json_holders(struct writer *writer, const struct smp_group_info *group)
{
    smp_json_put_count(writer->out, "blockedThreads", group->thread_count);
    smp_json_put_count(writer->out, "locks", group->lock_count);
    put_names(writer, "lockNames", group);
}

static void put_json_threads(struct writer *writer, const struct smp_group_info *group)
{
    smp_json_put_count(writer->out, "threads", group->thread_count);
    put_names(writer, "threadNames", group);
    if (group->joined_groups > 0)
        smp_json_put_count(writer->out, "joinedGroups", group->joined_groups);
    smp_json_put_count(writer->out, "maxDepth", group->max_depth);
    smp_json_put_count(writer->out, "polls", group->tally.polls);
    put_outcomes(writer, &group->tally);
    if (group->hook_ns > 0)
        smp_json_put_number(writer->out, "hookNanos", group->hook_ns);
}

static enum smp_status put_json_group(struct writer *writer, const struct smp_group_info *group)
{
    const bool with_nodes = !writer->job->style->without_nodes;
    const enum smp_status status = with_nodes ? order_nodes(writer, group->root) : SMP_OK;

    if (status != SMP_OK)
        return status;
    smp_writer_puts(writer->out, "{\"name\":");
    smp_json_put_string(writer->out, group->name);
    if (group->kind == SMP_GROUP_HOLDERS)
        put_json_holders(writer, group);
    else
        put_json_threads(writer, group);
    if (with_nodes) {
        put_json_columns(writer, group);
        put_errors(writer, group);
        put_figures(writer, "recursion", levels_of);
    }
    if (with_nodes && group->kind == SMP_GROUP_COUNTED) {
        put_figures(writer, "rootTimes", root_time_of);
        put_figures(writer, "countedSince", counted_since_of);
    } else if (with_nodes && group->kind == SMP_GROUP_SAMPLED) {
        put_figures(writer, "rowCalls", row_calls_of);
    }
    smp_writer_put_byte(writer->out, '}');
    return SMP_OK;
}

static enum smp_status put_json_groups(struct writer *writer, const char *key,
                                       const struct smp_hot_groups *groups)
{
    enum smp_status status = SMP_OK;

    smp_writer_puts(writer->out, ",\n\"");
    smp_writer_puts(writer->out, key);
    smp_writer_puts(writer->out, "\":[");
    for (size_t i = 0; i < groups->count && status == SMP_OK; i++) {
        if (i > 0)
            smp_writer_puts(writer->out, ",\n");
        status = put_json_group(writer, smp_export_group(writer->job, groups, i));
    }
    smp_writer_put_byte(writer->out, ']');
    return status;
}

/* --- locks --- */

static bool is_longer_lock(const void *context, uint32_t a, uint32_t b)
{
    const struct smp_lock_times *const times = context;

    return smp_lock_times_at(times, a)->ns > smp_lock_times_at(times, b)->ns;
}

static void put_lock_text(struct writer *writer, const char *key, uint32_t location, bool is_first,
                          struct smp_bytes *text)
{
    smp_bytes_restart(text);
    smp_profile_frame_text(writer->job->profile, location, text);
    smp_json_put_key(writer->out, key, is_first);
    smp_json_put_string(writer->out, smp_bytes_text(text));
}

static void put_locks(struct writer *writer, const uint32_t *order, size_t count,
                      struct smp_bytes *text)
{
    const struct smp_lock_times *const times = writer->job->profile->lock_times;

    smp_writer_puts(writer->out, ",\n\"locks\":[");
    for (size_t i = 0; i < count; i++) {
        const struct smp_lock_time *const time = smp_lock_times_at(times, order[i]);
        if (time->ns <= 0)
            break;
        smp_writer_puts(writer->out, i == 0 ? "{" : ",\n{");
        put_lock_text(writer, "lock", time->lock, true, text);
        put_lock_text(writer, "waiting", time->waiting, false, text);
        put_lock_text(writer, "holding", time->holding, false, text);
        smp_json_put_number(writer->out, "wall", time->ns);
        smp_writer_put_byte(writer->out, '}');
    }
    smp_writer_put_byte(writer->out, ']');
}

static enum smp_status put_json_locks(struct writer *writer)
{
    const struct smp_lock_times *const times = writer->job->profile->lock_times;
    const size_t count = smp_lock_times_count(times);
    struct smp_bytes text;
    uint32_t *order;
    enum smp_status status = SMP_ENOMEM;

    if (count == 0)
        return SMP_OK;
    order = smp_alloc(writer->job->quota, 2 * count * sizeof(*order));
    if (order == NULL)
        return SMP_ENOMEM;
    smp_bytes_init(&text, writer->job->quota, LOCK_TEXT_BYTES);
    for (size_t i = 0; i < count; i++)
        order[i] = (uint32_t)i;
    smp_sort(order, order + count, count, is_longer_lock, times);
    put_locks(writer, order, count, &text);
    status = text.status;
    smp_bytes_fini(&text);
    smp_free(writer->job->quota, order);
    return status;
}

/* --- seconds --- */

/* Returns false, with nothing written, if the row has no time. */
static bool put_second_row(struct writer *writer, uint32_t row, bool is_first)
{
    const struct smp_profile *const profile = writer->job->profile;
    struct smp_writer *const out = writer->out;
    bool is_empty = true;

    for (int i = 0; i < SMP_THREAD_STATE_COUNT; i++) {
        const enum smp_thread_state state = (enum smp_thread_state)i;
        size_t count = 0;
        const uint32_t *const slots = smp_second_times_slots(profile->seconds, row, state, &count);
        if (count == 0)
            continue;
        if (is_empty) {
            smp_writer_puts(out, is_first ? "{\"name\":" : ",\n{\"name\":");
            smp_json_put_string(
                out, row == 0 ? SMP_OTHER_THREADS_NAME
                              : smp_profile_group_info(
                                    profile, smp_second_times_group(profile->seconds, row))
                                    ->name);
        }
        is_empty = false;
        smp_json_put_key(out, smp_measure_info(smp_measure_of_state(state))->name, false);
        for (size_t slot = 0; slot < count && !out->has_failed; slot++) {
            smp_writer_put_byte(out, slot == 0 ? '[' : ',');
            smp_writer_put_u64(out, slots[slot]);
        }
        smp_writer_put_byte(out, ']');
    }
    if (!is_empty)
        smp_writer_put_byte(out, '}');
    return !is_empty;
}

static void put_json_seconds(struct writer *writer)
{
    const struct smp_second_times *const seconds = writer->job->profile->seconds;
    struct smp_second_range range;
    bool is_first = true;

    if (seconds == NULL || writer->job->style->without_nodes)
        return;
    range = smp_second_times_range(seconds);
    if (range.from == range.till)
        return;
    smp_writer_puts(writer->out, ",\n\"seconds\":{\"from\":");
    smp_writer_put_i64(writer->out, range.from);
    smp_json_put_number(writer->out, "width", range.width);
    smp_json_put_number(writer->out, "count", (range.till - range.from) / range.width);
    smp_json_put_key(writer->out, "groups", false);
    smp_writer_put_byte(writer->out, '[');
    for (uint32_t row = 1; row <= smp_second_times_rows(seconds); row++) {
        /* The row of all other groups is last. */
        if (put_second_row(writer, row < smp_second_times_rows(seconds) ? row : 0, is_first))
            is_first = false;
    }
    smp_writer_puts(writer->out, "]}");
}

static enum smp_status make_json_arrays(struct writer *writer)
{
    const struct smp_export_job *const job = writer->job;
    const size_t node_count = smp_tree_node_count(job->profile->tree);

    writer->order = smp_alloc(job->quota, node_count * sizeof(*writer->order));
    writer->places = smp_alloc(job->quota, node_count * sizeof(*writer->places));
    if (writer->order == NULL || writer->places == NULL)
        return SMP_ENOMEM;
    return smp_used_frames_init(&writer->frames, job->quota, job->profile);
}

enum smp_status smp_export_json(const struct smp_export_job *job)
{
    struct writer writer = { .job = job, .out = job->out };
    enum smp_status status = make_json_arrays(&writer);

    smp_tree_walk_init(&writer.walk, job->quota, job->profile->tree);
    if (status == SMP_OK && !job->style->without_nodes)
        status = smp_row_calls_init(&writer.calls, job->quota, job->profile);
    if (status == SMP_OK && !job->style->without_nodes)
        status = smp_row_since_init(&writer.since, job->quota, job->profile);
    smp_row_calls_choose(&writer.calls, job->profile);
    if (status == SMP_OK) {
        put_json_head(&writer);
        if (job->style->summary)
            status = smp_summary_put_json(job);
        if (!job->style->without_nodes)
            put_json_frames(&writer);
        if (status == SMP_OK)
            status = put_json_groups(&writer, "groups", &job->groups[SMP_GROUP_SAMPLED]);
        if (status == SMP_OK && smp_export_has_counted(job))
            status = put_json_groups(&writer, "counted", &job->groups[SMP_GROUP_COUNTED]);
        if (status == SMP_OK && job->groups[SMP_GROUP_HOLDERS].count > 0)
            status = put_json_groups(&writer, "lockHolders", &job->groups[SMP_GROUP_HOLDERS]);
        if (status == SMP_OK)
            status = put_json_locks(&writer);
        if (status == SMP_OK)
            put_json_seconds(&writer);
        smp_writer_puts(writer.out, "}\n");
    }
    smp_row_since_fini(&writer.since);
    smp_row_calls_fini(&writer.calls);
    smp_tree_walk_fini(&writer.walk);
    smp_used_frames_fini(&writer.frames);
    smp_free(job->quota, writer.places);
    smp_free(job->quota, writer.order);
    return status;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hot_spots.c - one pass over the nodes, parents first, finds the place and the callee of each.
 * What nodes have themselves is added up in parts, one for each {place, state, callee, group}.
 * Sorted, the parts of one spot are neighbours. Then the chosen spots get what is known of them.
 */
#include "export/hot_spots.h"

#include <string.h>

#include "base/bytes.h"
#include "base/hash_map.h"
#include "base/memory_budget.h"
#include "base/sort.h"
#include "export/hot_groups.h"
#include "export/tree_walk.h"
#include "model/measure.h"

enum {
    FIRST_PARTS = 64,
    MAX_PACKAGES = 64,
    NAME_PARTS = 2 /* of a package's name */
};

#define MAX_PART_BYTES ((size_t)1 << 32)

/* Where the time of a node goes. */
struct spot_place {
    uint32_t place;  /* a location; 0: no row of the user's code up to the node */
    uint32_t callee; /* the first location below the place; 0: the node is the place itself */
    uint32_t group;
};

struct spot_part {
    uint32_t place;
    uint32_t measure;
    uint32_t method; /* of the callee; 0: none */
    uint32_t group;
    uint32_t callee; /* a location of the method */
    int64_t ns;
};

/* The parts of one spot, which are neighbours in order. */
struct spot_range {
    size_t from;
    size_t till;
    const struct spot_part *first;
    int64_t ns;
};

struct spot_search {
    const struct smp_spot_choice *choice;
    struct smp_quota *quota;
    const struct smp_profile *profile;
    const struct smp_node *nodes;
    size_t node_count;
    struct spot_place *places; /* by node */
    struct smp_memory_budget budget;
    struct smp_hash_map by_key; /* id is the part's index + 1 */
    struct spot_part *parts;
    size_t count;
    size_t capacity;
    uint32_t *order;    /* of parts; the second half is for sorting */
    struct smp_bytes a; /* texts that are compared */
    struct smp_bytes b;
    struct smp_hot_spots *out;
    struct spot_range top[SMP_MAX_HOT_SPOTS];
    struct smp_hot_package packages[MAX_PACKAGES];
    size_t package_count;
};

/* --- places --- */

static void find_spot_places(struct spot_search *search)
{
    for (size_t i = 1; i < search->node_count; i++) {
        const struct smp_node *const node = &search->nodes[i];
        struct spot_place *const at = &search->places[i];
        struct smp_location_view view;
        if (smp_node_is_group(node)) {
            at->group = smp_node_group(node);
            continue;
        }
        *at = search->places[node->parent];
        smp_methods_view(search->profile->methods, node->location, &view);
        if (view.is_application) {
            at->place = node->location;
            at->callee = 0;
        } else if (at->place != 0 && at->callee == 0) {
            at->callee = node->location;
        }
    }
}

/* --- parts --- */

static uint32_t hash_of_part(const struct spot_part *part)
{
    const uint32_t key[] = { part->place, part->measure, part->method, part->group };

    return smp_hash_bytes(SMP_HASH_START, (const char *)key, sizeof(key));
}

static bool is_part(const struct spot_part *a, const struct spot_part *b)
{
    return a->place == b->place && a->measure == b->measure && a->method == b->method &&
           a->group == b->group;
}

static bool reserve_part(struct spot_search *search)
{
    const size_t capacity = search->capacity == 0 ? FIRST_PARTS : 2 * search->capacity;
    struct spot_part *grown;

    if (!smp_hash_map_reserve(&search->by_key, &smp_hash_ids, &search->budget, 1))
        return false;
    if (search->count < search->capacity)
        return true;
    grown = smp_memory_budget_grow(&search->budget, search->parts,
                                   search->capacity * sizeof(*grown), capacity * sizeof(*grown));
    if (grown == NULL)
        return false;
    search->parts = grown;
    search->capacity = capacity;
    return true;
}

static enum smp_status add_part(struct spot_search *search, const struct spot_part *part)
{
    const uint32_t hash = hash_of_part(part);
    size_t step = 0;
    uint32_t id;

    while ((id = smp_hash_ids_next(&search->by_key, hash, &step)) != 0) {
        struct spot_part *const known = &search->parts[id - 1];
        if (!is_part(known, part))
            continue;
        known->ns = smp_add_clamped(known->ns, part->ns);
        return SMP_OK;
    }
    if (!reserve_part(search))
        return SMP_ENOMEM;
    search->parts[search->count++] = *part;
    smp_hash_ids_put(&search->by_key, hash, (uint32_t)search->count);
    return SMP_OK;
}

static int64_t active_of(const struct spot_search *search, const struct smp_amounts *self)
{
    const int64_t wall_ns = self->of[SMP_MEASURE_WALL];

    return search->out->has_states ? smp_subtract_clamped(wall_ns, self->of[SMP_MEASURE_IDLE])
                                   : wall_ns;
}

/* A stack outside of the user's code is one of a single spot: its method is the callee. */
static enum smp_status add_spot_node(struct spot_search *search, uint32_t node)
{
    const struct smp_amounts self = smp_tree_self_all(search->profile->tree, node);
    const struct spot_place *const at = &search->places[node];
    struct spot_part part = { .place = at->place, .group = at->group, .callee = at->callee };
    struct smp_location_view view;
    enum smp_status status = SMP_OK;

    if (part.place == 0)
        part.callee = search->nodes[node].location;
    if (part.callee != 0) {
        smp_methods_view(search->profile->methods, part.callee, &view);
        part.method = view.method;
    }
    if (part.place == 0 || !search->out->has_states) {
        part.measure = SMP_MEASURE_WALL;
        part.ns = active_of(search, &self);
        return part.ns > 0 ? add_part(search, &part) : SMP_OK;
    }
    for (int state = 0; state < SMP_THREAD_STATE_COUNT && status == SMP_OK; state++) {
        part.measure = smp_measure_of_state((enum smp_thread_state)state);
        part.ns = self.of[part.measure];
        if (state != SMP_STATE_IDLE && part.ns > 0)
            status = add_part(search, &part);
    }
    return status;
}

static bool is_sampled_group(const struct spot_search *search, uint32_t index)
{
    return smp_hot_group_info(search->profile, index)->kind == SMP_GROUP_SAMPLED &&
           !smp_hot_group_is_jvm(search->profile, index);
}

static enum smp_status add_up_parts(struct spot_search *search)
{
    const struct smp_tree *const tree = search->profile->tree;
    enum smp_status status = SMP_OK;

    for (uint32_t i = 1; i < search->node_count && status == SMP_OK; i++) {
        if (smp_node_is_group(&search->nodes[i]) || smp_tree_self(tree, i, SMP_MEASURE_WALL) == 0 ||
            !is_sampled_group(search, search->places[i].group))
            continue;
        status = add_spot_node(search, i);
    }
    return status;
}

/* --- order --- */

/* < 0, 0 or > 0, by the texts of two frames; 0 stands before all. */
static int compare_locations(struct spot_search *search, uint32_t a, uint32_t b)
{
    smp_bytes_restart(&search->a);
    smp_bytes_restart(&search->b);
    if (a != 0)
        smp_methods_frame_text(search->profile->methods, a, &search->a);
    if (b != 0)
        smp_methods_frame_text(search->profile->methods, b, &search->b);
    return strcmp(smp_bytes_text(&search->a), smp_bytes_text(&search->b));
}

/* Is the group of a part one of the things that make its spot? What is outside is one spot. */
static bool is_split_by_group(const struct spot_search *search, const struct spot_part *part)
{
    return search->choice->by_group && part->place != 0;
}

static bool is_part_before(const void *context, uint32_t a, uint32_t b)
{
    const struct spot_search *const search = context;
    const struct spot_part *const left = &search->parts[a];
    const struct spot_part *const right = &search->parts[b];

    if (left->place != right->place)
        return left->place < right->place;
    if (left->measure != right->measure)
        return left->measure < right->measure;
    if (is_split_by_group(search, left) && left->group != right->group)
        return left->group < right->group;
    return left->method < right->method;
}

static bool is_group_before(const void *context, uint32_t a, uint32_t b)
{
    const struct spot_part *const parts = context;

    return parts[a].group < parts[b].group;
}

static bool is_hotter_spot(struct spot_search *search, const struct spot_range *a,
                           const struct spot_range *b)
{
    int order;

    if (a->ns != b->ns)
        return a->ns > b->ns;
    order = compare_locations(search, a->first->place, b->first->place);
    return order != 0 ? order < 0 : a->first->measure < b->first->measure;
}

/* --- choosing --- */

static struct spot_range next_range(const struct spot_search *search, size_t from)
{
    struct spot_range range = { .from = from,
                                .till = from,
                                .first = &search->parts[search->order[from]] };

    for (; range.till < search->count; range.till++) {
        const struct spot_part *const part = &search->parts[search->order[range.till]];
        if (part->place != range.first->place || part->measure != range.first->measure ||
            (is_split_by_group(search, part) && part->group != range.first->group))
            break;
        range.ns = smp_add_clamped(range.ns, part->ns);
    }
    return range;
}

static void note_spot(struct spot_search *search, const struct spot_range *range)
{
    struct smp_hot_spots *const out = search->out;
    size_t at = out->count;

    if (range->ns < out->active_ns / search->choice->share)
        return;
    for (; at > 0 && is_hotter_spot(search, range, &search->top[at - 1]); at--) {
        if (at < search->choice->most)
            search->top[at] = search->top[at - 1];
    }
    if (at < search->choice->most)
        search->top[at] = *range;
    out->count += out->count < search->choice->most;
}

/* The length of the first parts of the name of a class's package; 0: it has none. */
static size_t first_parts_length(const char *class_name)
{
    const char *const last = strrchr(class_name, '.');
    const char *at = class_name;

    if (last == NULL)
        return 0;
    for (int parts = 0; parts < NAME_PARTS && at < last; parts++)
        at = strchr(at + (parts > 0), '.');
    return (size_t)(at - class_name);
}

static void note_package(struct spot_search *search, const struct spot_range *range)
{
    struct smp_location_view view;
    size_t i = 0;

    smp_methods_view(search->profile->methods, range->first->place, &view);
    const size_t length = first_parts_length(view.class_name);
    while (i < search->package_count &&
           (search->packages[i].length != length ||
            memcmp(search->packages[i].class_name, view.class_name, length) != 0))
        i++;
    if (i == MAX_PACKAGES)
        return;
    if (i == search->package_count)
        search->packages[search->package_count++] =
            (struct smp_hot_package){ .class_name = view.class_name, .length = length };
    search->packages[i].ns = smp_add_clamped(search->packages[i].ns, range->ns);
}

/* --- what is known of a spot --- */

/* The parts of a callee are neighbours. */
static void choose_callee(struct spot_search *search, const struct spot_range *range,
                          struct smp_hot_spot *spot)
{
    int64_t best_ns = 0;
    uint32_t best = 0;
    size_t next;

    for (size_t i = range->from; i < range->till; i = next) {
        const struct spot_part *const first = &search->parts[search->order[i]];
        int64_t ns = 0;
        for (next = i; next < range->till; next++) {
            const struct spot_part *const part = &search->parts[search->order[next]];
            if (part->method != first->method)
                break;
            ns = smp_add_clamped(ns, part->ns);
        }
        if (ns > best_ns || (ns == best_ns && compare_locations(search, first->callee, best) < 0)) {
            best_ns = ns;
            best = first->callee;
        }
    }
    spot->callee = best;
}

/* The whole that the time of a spot is a part of. */
static void add_group_time(const struct spot_search *search, uint32_t group,
                           struct smp_hot_spot *spot)
{
    const uint32_t root = smp_hot_group_info(search->profile, group)->root;
    const int64_t wall_ns = smp_group_errors_of(search->profile, root).wall_ns;

    spot->all_ns = spot->all_ns < 0 || wall_ns < 0 ? -1 : smp_add_clamped(spot->all_ns, wall_ns);
}

static void choose_group(struct spot_search *search, const struct spot_range *range,
                         struct smp_hot_spot *spot)
{
    uint32_t *const order = search->order + range->from;
    const size_t count = range->till - range->from;
    int64_t best_ns = 0;
    size_t next;

    smp_sort(order, search->order + search->count, count, is_group_before, search->parts);
    for (size_t i = 0; i < count; i = next) {
        const uint32_t group = search->parts[order[i]].group;
        int64_t ns = 0;
        for (next = i; next < count && search->parts[order[next]].group == group; next++)
            ns = smp_add_clamped(ns, search->parts[order[next]].ns);
        spot->group_count++;
        add_group_time(search, group, spot);
        if (ns > best_ns ||
            (ns == best_ns && strcmp(smp_hot_group_info(search->profile, group)->name,
                                     smp_hot_group_info(search->profile, spot->group)->name) < 0)) {
            best_ns = ns;
            spot->group = group;
        }
    }
}

static struct smp_hot_spot make_spot(struct spot_search *search, const struct spot_range *range)
{
    struct smp_hot_spot spot = { .place = range->first->place,
                                 .measure = (enum smp_measure)range->first->measure,
                                 .ns = range->ns,
                                 .error = { .variance = -1 } };

    choose_callee(search, range, &spot);
    choose_group(search, range, &spot);
    return spot;
}

static void choose_spots(struct spot_search *search)
{
    struct smp_hot_spots *const out = search->out;
    size_t spots = 0;

    for (size_t i = 0; i < search->count; i++)
        out->active_ns = smp_add_clamped(out->active_ns, search->parts[i].ns);
    for (size_t i = 0; i < search->count;) {
        const struct spot_range range = next_range(search, i);
        i = range.till;
        if (range.first->place == 0) {
            out->outside = make_spot(search, &range);
            continue;
        }
        spots++;
        out->others_ns = smp_add_clamped(out->others_ns, range.ns);
        note_package(search, &range);
        note_spot(search, &range);
    }
    for (size_t i = 0; i < out->count; i++) {
        out->others_ns = smp_subtract_clamped(out->others_ns, search->top[i].ns);
        out->list[i] = make_spot(search, &search->top[i]);
    }
    out->others = spots - out->count;
}

/* In descending time, ties in the order of their names. */
static void choose_packages(struct spot_search *search)
{
    struct smp_hot_spots *const out = search->out;

    while (out->package_count < SMP_MAX_HOT_PACKAGES &&
           out->package_count < search->package_count) {
        struct smp_hot_package *best = &search->packages[out->package_count];
        struct smp_hot_package first = *best;
        for (size_t i = out->package_count + 1; i < search->package_count; i++) {
            struct smp_hot_package *const other = &search->packages[i];
            if (other->ns > best->ns ||
                (other->ns == best->ns && strcmp(other->class_name, best->class_name) < 0))
                best = other;
        }
        out->packages[out->package_count++] = *best;
        *best = first;
    }
    out->other_packages = search->package_count - out->package_count;
}

/* --- error bars --- */

/* What is known of the place of a spot, in all its states. */
struct place_time {
    int64_t ns;
    struct smp_error error;
};

/* Is the time of a place in a group part of what a spot is a part of? */
static bool is_of_spot(const struct spot_search *search, const struct smp_hot_spot *spot,
                       uint32_t place, uint32_t group)
{
    return spot->place == place && (!search->choice->by_group || spot->group == group);
}

static void add_place_error(const struct spot_search *search, struct place_time *times,
                            uint32_t place, uint32_t group, struct smp_error error)
{
    for (size_t i = 0; i < search->out->count; i++) {
        if (is_of_spot(search, &search->out->list[i], place, group))
            smp_error_add(&times[i].error, error);
    }
}

/* The time of a place is the total of its row, less the totals of rows of the user's code below:
 * the error of each of these is one of the place. */
static void add_place_errors(const struct spot_search *search, struct place_time *times)
{
    struct smp_group_errors errors = { 0 };
    uint32_t group = UINT32_MAX;

    for (uint32_t i = 1; i < search->node_count; i++) {
        const struct spot_place *const at = &search->places[i];
        const uint32_t above = search->places[search->nodes[i].parent].place;
        if (smp_node_is_group(&search->nodes[i]) || at->place == 0 || at->callee != 0 ||
            above == at->place || !is_sampled_group(search, at->group))
            continue;
        if (at->group != group)
            errors = smp_group_errors_of(search->profile,
                                         smp_hot_group_info(search->profile, at->group)->root);
        group = at->group;
        const struct smp_error error = smp_group_errors_total(&errors, i, SMP_MEASURE_WALL);
        add_place_error(search, times, at->place, group, error);
        if (above != 0)
            add_place_error(search, times, above, group, error);
    }
}

static void add_place_times(const struct spot_search *search, struct place_time *times)
{
    const struct smp_hot_spots *const out = search->out;

    for (uint32_t i = 1; i < search->node_count; i++) {
        const uint32_t place = search->places[i].place;
        const uint32_t group = search->places[i].group;
        for (size_t at = 0; place != 0 && at < out->count; at++) {
            if (is_of_spot(search, &out->list[at], place, group) && is_sampled_group(search, group))
                times[at].ns = smp_add_clamped(
                    times[at].ns, smp_tree_self(search->profile->tree, i, SMP_MEASURE_WALL));
        }
    }
}

/* Of a place with several states each poll has found one: how they share its time is a matter of
 * chance, too. */
static struct smp_error error_of_part(const struct smp_profile *profile, int64_t ns,
                                      const struct place_time *place)
{
    struct smp_error error = place->error;
    const double part = (double)ns / (double)place->ns;
    const double poll_ns = (double)profile->period_ns;

    if (ns == place->ns || error.variance < 0)
        return error;
    if (poll_ns <= 0)
        return (struct smp_error){ .variance = -1 };
    error.variance = error.variance * part * part + poll_ns * (double)ns * (1 - part);
    if (error.find_ns < poll_ns)
        error.find_ns = poll_ns;
    return error;
}

static void add_spot_errors(struct spot_search *search)
{
    struct place_time times[SMP_MAX_HOT_SPOTS] = { 0 };
    struct smp_hot_spots *const out = search->out;

    if (!smp_tree_has_errors(search->profile->tree))
        return;
    add_place_errors(search, times);
    add_place_times(search, times);
    for (size_t i = 0; i < out->count; i++)
        out->list[i].error = error_of_part(search->profile, out->list[i].ns, &times[i]);
}

/* --- calls --- */

static void add_spot_calls(struct spot_search *search)
{
    const struct smp_profile *const profile = search->profile;
    struct smp_hot_spots *const out = search->out;
    uint32_t methods[SMP_MAX_HOT_SPOTS];
    struct smp_location_view view;

    if ((smp_tree_measures(profile->tree) & SMP_MEASURE_BIT(SMP_MEASURE_CALLS)) == 0)
        return;
    for (size_t at = 0; at < out->count; at++) {
        smp_methods_view(profile->methods, out->list[at].place, &view);
        methods[at] = view.method;
    }
    for (uint32_t i = 1; i < search->node_count; i++) {
        const int64_t calls = smp_node_is_group(&search->nodes[i])
                                  ? 0
                                  : smp_tree_self(profile->tree, i, SMP_MEASURE_CALLS);
        if (calls == 0)
            continue;
        smp_methods_view(profile->methods, search->nodes[i].location, &view);
        for (size_t at = 0; at < out->count; at++) {
            if (methods[at] == view.method)
                out->list[at].calls = smp_add_clamped(out->list[at].calls, calls);
        }
    }
}

/* --- locks --- */

static bool is_longer_wait(struct spot_search *search, const struct smp_lock_time *a,
                           const struct smp_lock_time *b)
{
    int order;

    if (b == NULL || a->ns != b->ns)
        return b == NULL || a->ns > b->ns;
    order = compare_locations(search, a->lock, b->lock);
    return order != 0 ? order < 0 : compare_locations(search, a->holding, b->holding) < 0;
}

/* Did any spot get a lock? */
static bool find_spot_locks(struct spot_search *search)
{
    const struct smp_lock_times *const times = search->profile->lock_times;
    struct smp_hot_spots *const out = search->out;
    bool has_any = false;

    for (size_t at = 0; at < out->count; at++) {
        const struct smp_lock_time *longest = NULL;
        struct smp_hot_spot *const spot = &out->list[at];
        for (size_t i = 0; i < smp_lock_times_count(times); i++) {
            const struct smp_lock_time *const time = smp_lock_times_at(times, i);
            if (spot->measure == SMP_MEASURE_BLOCKED && time->waiting == spot->place &&
                time->ns > 0 && is_longer_wait(search, time, longest))
                longest = time;
        }
        if (longest == NULL)
            continue;
        spot->lock = longest->lock;
        spot->holding = longest->holding;
        has_any = true;
    }
    return has_any;
}

/* The line that smp_interval_note_lock found for a holder's stack. */
static uint32_t holding_line(const struct spot_search *search, uint32_t node)
{
    const uint32_t place = search->places[node].place;

    return place != 0 ? place : search->nodes[node].location;
}

static enum smp_status add_up_holders(struct spot_search *search, struct smp_tree_walk *walk,
                                      uint32_t group, int64_t best_ns[SMP_MAX_HOT_SPOTS])
{
    int64_t sums[SMP_MAX_HOT_SPOTS] = { 0 };
    struct smp_hot_spots *const out = search->out;

    smp_tree_walk_begin(walk, smp_hot_group_info(search->profile, group)->root);
    while (smp_tree_walk_next(walk)) {
        const uint32_t node = smp_tree_walk_node(walk);
        const uint32_t line = holding_line(search, node);
        const int64_t ns = smp_tree_self(walk->tree, node, SMP_MEASURE_WALL);
        for (size_t i = 0; i < out->count && ns > 0; i++) {
            if (out->list[i].holding == line)
                sums[i] = smp_add_clamped(sums[i], ns);
        }
    }
    for (size_t i = 0; i < out->count; i++) {
        if (sums[i] <= best_ns[i])
            continue;
        best_ns[i] = sums[i];
        out->list[i].holder = group;
        out->list[i].has_holder = true;
    }
    return walk->status;
}

/* Of groups with the same time the one that stands first in a report. */
static enum smp_status find_spot_holders(struct spot_search *search)
{
    int64_t best_ns[SMP_MAX_HOT_SPOTS] = { 0 };
    struct smp_hot_groups groups;
    struct smp_tree_walk walk;
    enum smp_status status;

    if (!find_spot_locks(search))
        return SMP_OK;
    status = smp_hot_groups_init(&groups, search->quota, search->profile, SMP_GROUP_HOLDERS);
    if (status != SMP_OK)
        return status;
    smp_tree_walk_init(&walk, search->quota, search->profile->tree);
    for (size_t i = 0; i < groups.count && status == SMP_OK; i++)
        status = add_up_holders(search, &walk, groups.indices[i], best_ns);
    smp_tree_walk_fini(&walk);
    smp_hot_groups_fini(&groups);
    return status;
}

/* --- all of it --- */

static enum smp_status sort_spot_parts(struct spot_search *search)
{
    /* One more than needed, because there may be none and nothing cannot be allocated. */
    search->order = smp_alloc(search->quota, (2 * search->count + 1) * sizeof(*search->order));
    if (search->order == NULL)
        return SMP_ENOMEM;
    for (size_t i = 0; i < search->count; i++)
        search->order[i] = (uint32_t)i;
    smp_sort(search->order, search->order + search->count, search->count, is_part_before, search);
    return SMP_OK;
}

static enum smp_status find_spots(struct spot_search *search)
{
    enum smp_status status;

    search->places = smp_alloc(search->quota, search->node_count * sizeof(*search->places));
    if (search->places == NULL)
        return SMP_ENOMEM;
    find_spot_places(search);
    status = add_up_parts(search);
    if (status == SMP_OK)
        status = sort_spot_parts(search);
    if (status != SMP_OK)
        return status;
    choose_spots(search);
    choose_packages(search);
    add_spot_errors(search);
    add_spot_calls(search);
    status = find_spot_holders(search);
    if (status == SMP_OK)
        status = search->a.status != SMP_OK ? search->a.status : search->b.status;
    return status;
}

enum smp_status smp_hot_spots_init(struct smp_hot_spots *spots, struct smp_quota *quota,
                                   const struct smp_profile *profile)
{
    const struct smp_spot_choice choice = { .most = SMP_SUMMARY_SPOTS,
                                            .share = SMP_HOT_SPOT_SHARE };

    return smp_hot_spots_choose(spots, quota, profile, &choice);
}

enum smp_status smp_hot_spots_choose(struct smp_hot_spots *spots, struct smp_quota *quota,
                                     const struct smp_profile *profile,
                                     const struct smp_spot_choice *choice)
{
    const uint32_t measures = smp_tree_measures(profile->tree);
    struct spot_search search = { .choice = choice,
                                  .quota = quota,
                                  .profile = profile,
                                  .nodes = smp_tree_nodes(profile->tree),
                                  .node_count = smp_tree_node_count(profile->tree),
                                  .budget = { .quota = quota, .max_bytes = MAX_PART_BYTES },
                                  .out = spots };
    enum smp_status status;

    *spots = (struct smp_hot_spots){ .has_states =
                                         !profile->is_cpu_clock &&
                                         (measures & SMP_STATE_MEASURES) == SMP_STATE_MEASURES };
    smp_bytes_init(&search.a, quota, SMP_MAX_FRAME_TEXT_BYTES);
    smp_bytes_init(&search.b, quota, SMP_MAX_FRAME_TEXT_BYTES);
    status = find_spots(&search);
    smp_bytes_fini(&search.b);
    smp_bytes_fini(&search.a);
    smp_free(quota, search.order);
    smp_memory_budget_give(&search.budget, search.parts, search.capacity * sizeof(*search.parts));
    smp_hash_map_fini(&search.by_key, &smp_hash_ids, &search.budget);
    smp_free(quota, search.places);
    return status;
}

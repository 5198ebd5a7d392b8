/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hot_spots.c - own amounts of nodes are summed in parts, one for each {place, callee, group}.
 * After a sort the parts of one place are neighbours, which form a range; each state of a range is
 * a spot. Then details are added to the chosen spots.
 */
#include "export/hot_spots.h"

#include <string.h>

#include "base/hash_map.h"
#include "base/memory_budget.h"
#include "base/sort.h"
#include "export/hot_groups.h"
#include "export/spot_details.h"
#include "export/spot_places.h"

enum {
    MAX_PACKAGES = 64,
    NAME_PARTS = 2,    /* parts of a package's name */
    ONLY_WAITS = 9,    /* waits for others are not spots if a group spends */
    ONLY_WAITS_OF = 10 /* ONLY_WAITS of ONLY_WAITS_OF parts of its active time in them */
};

#define MAX_PART_BYTES ((size_t)1 << 32)

enum part_kind { PART_OF_SPOT, PART_OUTSIDE, PART_WAITS };

struct spot_part {
    uint32_t kind;
    uint32_t place;
    uint32_t callee; /* a location in the called method */
    uint32_t method; /* the callee's; 0: none */
    uint32_t group;
    struct smp_amounts amounts;
};

/* The parts of one spot; neighbours in order. */
struct spot_range {
    size_t from;
    size_t till;
    const struct spot_part *first;
    uint32_t measures; /* a set: the measures that are the spot's */
    int64_t ns;
};

struct spot_search {
    const struct smp_spot_choice *choice;
    struct smp_quota *quota;
    const struct smp_profile *profile;
    struct smp_spot_places places;
    int64_t *waits_ns; /* by group: waits for others to finish */
    struct smp_memory_budget budget;
    struct smp_hash_map by_key; /* id: the part's index + 1 */
    struct smp_grown grown;     /* the memory of parts */
    struct spot_part *parts;
    size_t count;
    uint32_t *order; /* of parts; the second half is scratch memory */
    struct smp_hot_spots *out;
    struct spot_range top[SMP_MAX_HOT_SPOTS];
    struct smp_hot_package packages[MAX_PACKAGES];
    size_t package_count;
};

/* --- parts --- */

static uint32_t hash_of_part(const struct spot_part *part)
{
    const uint32_t key[] = { part->kind, part->place, part->method, part->group };

    return smp_hash_bytes(SMP_HASH_START, (const char *)key, sizeof(key));
}

static bool is_part(const struct spot_part *a, const struct spot_part *b)
{
    return a->kind == b->kind && a->place == b->place && a->method == b->method &&
           a->group == b->group;
}

static bool reserve_part(struct spot_search *search)
{
    if (!smp_hash_map_reserve(&search->by_key, &smp_hash_ids, &search->budget, 1) ||
        !smp_memory_budget_fit(&search->budget, &search->grown,
                               (search->count + 1) * sizeof(*search->parts)))
        return false;
    search->parts = search->grown.items;
    return true;
}

static enum smp_status add_part(struct spot_search *search, struct spot_part *part)
{
    const enum smp_spot_key key = search->choice->key;

    /* A table needs neither groups nor callees, and without them there are far fewer parts. */
    part->group = key == SMP_SPOT_STATE ? part->group : 0;
    part->method = key == SMP_SPOT_PLACE ? 0 : part->method;
    const uint32_t hash = hash_of_part(part);
    size_t step = 0;
    uint32_t id;

    while ((id = smp_hash_ids_next(&search->by_key, hash, &step)) != 0) {
        struct spot_part *const known = &search->parts[id - 1];
        if (!is_part(known, part))
            continue;
        smp_amounts_add(&known->amounts, &part->amounts);
        return SMP_OK;
    }
    if (!reserve_part(search))
        return SMP_ENOMEM;
    search->parts[search->count++] = *part;
    smp_hash_ids_put(&search->by_key, hash, (uint32_t)search->count);
    return SMP_OK;
}

/* Returns the measures by which a spot without a state is weighed. */
static uint32_t weighed_measures(const struct spot_search *search)
{
    return search->choice->measure == SMP_MEASURE_WALL && search->out->has_states
               ? SMP_ACTIVE_STATES
               : SMP_MEASURE_BIT(search->choice->measure);
}

/* --- waits for others --- */

/* Returns whether the stack contains, below its place, a wait for other threads to finish. */
static bool waits_for_others(const struct spot_search *search, uint32_t node)
{
    const struct smp_spot_places *const places = &search->places;
    bool is_wait = false;

    for (; places->list[node].callee != 0 && !is_wait; node = places->nodes[node].parent) {
        struct smp_location_view view;
        smp_methods_view(search->profile->methods, places->nodes[node].location, &view);
        is_wait = view.method_name != NULL &&
                  smp_wait_rules_is_for_others(view.class_name, view.method_name);
    }
    return is_wait;
}

static enum smp_status add_up_waits(struct spot_search *search)
{
    const struct smp_tree *const tree = search->profile->tree;
    /* One more than needed, because 0 bytes cannot be allocated. */
    const size_t groups = smp_thread_groups_count(search->profile->groups) + 1;

    if (search->choice->by_group || search->choice->key == SMP_SPOT_METHOD)
        return SMP_OK;
    search->waits_ns = smp_alloc(search->quota, groups * sizeof(*search->waits_ns));
    if (search->waits_ns == NULL)
        return SMP_ENOMEM;
    for (uint32_t i = 1; i < search->places.count && search->out->has_states; i++) {
        const int64_t ns =
            search->places.list[i].callee == 0 ? 0 : smp_tree_self(tree, i, SMP_MEASURE_WAITING);
        int64_t *const sum = &search->waits_ns[search->places.list[i].group];
        if (ns > 0 && waits_for_others(search, i))
            *sum = smp_add_clamped(*sum, ns);
    }
    return SMP_OK;
}

/* In floating point, so that the products cannot overflow. */
static bool only_waits(const struct spot_search *search, uint32_t group)
{
    const int64_t active_ns = smp_profile_group_active(search->profile, group);

    return search->waits_ns != NULL && search->waits_ns[group] > 0 &&
           (double)search->waits_ns[group] * ONLY_WAITS_OF >= (double)active_ns * ONLY_WAITS;
}

/* Moves the node's time from the part of its place to waits, if it is spent in such a wait. */
static enum smp_status add_wait(struct spot_search *search, uint32_t node, struct spot_part *part)
{
    struct spot_part wait = { .kind = PART_WAITS,
                              .callee = part->place,
                              .method = part->place, /* lines stay apart */
                              .group = part->group };
    int64_t *const ns = &part->amounts.of[SMP_MEASURE_WAITING];

    if (part->place == 0 || *ns == 0 || !only_waits(search, part->group) ||
        !waits_for_others(search, node))
        return SMP_OK;
    wait.amounts.of[SMP_MEASURE_WAITING] = *ns;
    *ns = 0;
    return add_part(search, &wait);
}

/* --- adding up --- */

/* Nodes without any of these measures are skipped. */
static uint32_t shown_measures(const struct spot_search *search)
{
    return weighed_measures(search) |
           (SMP_ALL_MEASURES &
            ~(SMP_MEASURE_BIT(SMP_MEASURE_SAMPLES) | SMP_MEASURE_BIT(SMP_MEASURE_IDLE) |
              (search->out->has_states ? SMP_MEASURE_BIT(SMP_MEASURE_WALL) : 0)));
}

/* All stacks outside the user's code form one spot, whose callee is the innermost method; if spots
 * are methods, each method is a spot. Calls are ignored, because only counted trees have all of
 * them (measure.h). */
static enum smp_status add_spot_node(struct spot_search *search, uint32_t node)
{
    const struct smp_spot_place *const at = &search->places.list[node];
    const bool by_method = search->choice->key == SMP_SPOT_METHOD;
    struct spot_part part = { .place = by_method ? 0 : at->place,
                              .callee = at->callee,
                              .group = at->group,
                              .amounts = smp_tree_self_all(search->profile->tree, node) };
    struct smp_location_view view;
    enum smp_status status;

    smp_amounts_keep(&part.amounts, ~(uint32_t)SMP_OWN_MEASURES);
    if (part.place == 0) {
        part.kind = by_method ? PART_OF_SPOT : PART_OUTSIDE;
        part.callee = search->places.nodes[node].location;
    }
    if (part.callee != 0) {
        smp_profile_view(search->profile, part.callee, &view);
        part.method = view.method;
    }
    status = add_wait(search, node, &part);
    if (status != SMP_OK || smp_amounts_sum(&part.amounts, shown_measures(search)) == 0)
        return status;
    return add_part(search, &part);
}

static enum smp_status add_up_parts(struct spot_search *search)
{
    const struct smp_spot_places *const places = &search->places;
    enum smp_status status = add_up_waits(search);

    for (uint32_t i = 1; i < places->count && status == SMP_OK; i++) {
        if (!smp_node_is_group(&places->nodes[i]) &&
            smp_spot_places_is_sampled(places, places->list[i].group))
            status = add_spot_node(search, i);
    }
    return status;
}

/* --- order --- */

/* Returns whether each group is a spot of its own; false outside the user's code, which is one
 * spot. */
static bool is_split_by_group(const struct spot_search *search, const struct spot_part *part)
{
    return search->choice->by_group && part->kind == PART_OF_SPOT;
}

static bool is_part_before(const void *context, uint32_t a, uint32_t b)
{
    const struct spot_search *const search = context;
    const struct spot_part *const left = &search->parts[a];
    const struct spot_part *const right = &search->parts[b];

    if (left->kind != right->kind)
        return left->kind < right->kind;
    if (left->place != right->place)
        return left->place < right->place;
    if (is_split_by_group(search, left) && left->group != right->group)
        return left->group < right->group;
    return left->method < right->method;
}

static bool is_group_before(const void *context, uint32_t a, uint32_t b)
{
    const struct spot_search *const search = context;

    return search->parts[a].group < search->parts[b].group;
}

static uint32_t named_location(const struct spot_part *part)
{
    return part->place != 0 ? part->place : part->callee;
}

static bool is_hotter_spot(struct spot_search *search, const struct spot_range *a,
                           const struct spot_range *b)
{
    int order;

    if (a->ns != b->ns)
        return a->ns > b->ns;
    order = smp_spot_places_compare(&search->places, named_location(a->first),
                                    named_location(b->first));
    return order != 0 ? order < 0 : a->measures < b->measures;
}

/* --- choosing --- */

static bool is_in_range(const struct spot_search *search, const struct spot_range *range,
                        const struct spot_part *part)
{
    const struct spot_part *const first = range->first;

    return part->kind == first->kind && part->place == first->place &&
           (!is_split_by_group(search, part) || part->group == first->group) &&
           (search->choice->key != SMP_SPOT_METHOD || part->method == first->method);
}

static struct spot_range next_range(const struct spot_search *search, size_t from)
{
    struct spot_range range = { .from = from,
                                .till = from,
                                .first = &search->parts[search->order[from]] };

    while (range.till < search->count &&
           is_in_range(search, &range, &search->parts[search->order[range.till]]))
        range.till++;
    return range;
}

/* Sums some measures over the parts of a range. */
static void weigh_range(const struct spot_search *search, struct spot_range *range,
                        uint32_t measures)
{
    range->measures = measures;
    range->ns = 0;
    for (size_t i = range->from; i < range->till; i++)
        range->ns = smp_add_clamped(
            range->ns, smp_amounts_sum(&search->parts[search->order[i]].amounts, measures));
}

static void note_spot(struct spot_search *search, const struct spot_range *range)
{
    struct smp_hot_spots *const out = search->out;
    size_t at = out->count;

    if (range->ns == 0)
        return;
    out->others++;
    out->others_ns = smp_add_clamped(out->others_ns, range->ns);
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

static void note_states(struct spot_search *search, struct spot_range *range)
{
    static const uint32_t states[] = {
        SMP_MEASURE_BIT(SMP_MEASURE_RUNNING) | SMP_MEASURE_BIT(SMP_MEASURE_RUNNABLE),
        SMP_MEASURE_BIT(SMP_MEASURE_BLOCKED),
        SMP_MEASURE_BIT(SMP_MEASURE_IO),
        SMP_MEASURE_BIT(SMP_MEASURE_WAITING),
    };

    for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
        weigh_range(search, range, states[i]);
        note_spot(search, range);
    }
}

/* Returns the length of the first parts of a package's name; 0 without a package. */
static size_t first_parts_length(const char *name, size_t length)
{
    size_t at = 0;

    for (int parts = 0; parts < NAME_PARTS && at < length; parts++) {
        const char *const dot = memchr(name + at + (parts > 0), '.', length - at - (parts > 0));
        at = dot == NULL ? length : (size_t)(dot - name);
    }
    return at;
}

static void note_package(struct spot_search *search, uint32_t location, int64_t ns)
{
    struct smp_location_view view;
    size_t i = 0;

    smp_profile_view(search->profile, location, &view);
    const size_t length = first_parts_length(view.class_name, smp_location_package_length(&view));
    while (i < search->package_count &&
           (search->packages[i].length != length ||
            memcmp(search->packages[i].class_name, view.class_name, length) != 0))
        i++;
    if (i == MAX_PACKAGES)
        return;
    if (i == search->package_count)
        search->packages[search->package_count++] =
            (struct smp_hot_package){ .class_name = view.class_name, .length = length };
    search->packages[i].ns = smp_add_clamped(search->packages[i].ns, ns);
}

/* --- details of a spot --- */

/* Adds a group's time to the total of which the spot's time is a part. */
static void add_group_time(const struct spot_search *search, uint32_t group,
                           struct smp_hot_spot *spot)
{
    const uint32_t root = smp_profile_group_info(search->profile, group)->root;
    const int64_t wall_ns = smp_group_errors_of(search->profile, root).wall_ns;

    spot->group_count++;
    spot->all_ns = spot->all_ns < 0 || wall_ns < 0 ? -1 : smp_add_clamped(spot->all_ns, wall_ns);
}

static bool is_named_before(struct spot_search *search, bool by_group, const struct spot_part *a,
                            const struct spot_part *b)
{
    return by_group ? strcmp(smp_profile_group_info(search->profile, a->group)->name,
                             smp_profile_group_info(search->profile, b->group)->name) < 0
                    : smp_spot_places_compare(&search->places, a->callee, b->callee) < 0;
}

/* Finds the callee or group with most of a spot's time, after sorting its parts by it. */
static const struct spot_part *choose_most(struct spot_search *search,
                                           const struct spot_range *range, bool by_group,
                                           struct smp_hot_spot *spot)
{
    uint32_t *const order = search->order + range->from;
    const size_t count = range->till - range->from;
    const struct spot_part *best = range->first;
    int64_t best_ns = 0;
    size_t next;

    smp_sort(order, search->order + search->count, count,
             by_group ? is_group_before : is_part_before, search);
    for (size_t i = 0; i < count; i = next) {
        const struct spot_part *const first = &search->parts[order[i]];
        int64_t ns = 0;
        for (next = i; next < count; next++) {
            const struct spot_part *const part = &search->parts[order[next]];
            if (by_group ? part->group != first->group : part->method != first->method)
                break;
            ns = smp_add_clamped(ns, smp_amounts_sum(&part->amounts, range->measures));
        }
        if (by_group && ns > 0)
            add_group_time(search, first->group, spot);
        if (ns > best_ns ||
            (ns == best_ns && ns > 0 && is_named_before(search, by_group, first, best))) {
            best_ns = ns;
            best = first;
        }
    }
    return best;
}

static enum smp_measure state_with_most(const struct smp_amounts *amounts, uint32_t measures)
{
    enum smp_measure most = (enum smp_measure)__builtin_ctz(measures);

    for (; measures != 0; measures &= measures - 1) {
        const enum smp_measure measure = (enum smp_measure)__builtin_ctz(measures);
        if (amounts->of[measure] > amounts->of[most])
            most = measure;
    }
    return most;
}

static struct smp_hot_spot make_spot(struct spot_search *search, const struct spot_range *range)
{
    struct smp_hot_spot spot = { .place = range->first->place,
                                 .ns = range->ns,
                                 .error = { .variance = -1 } };

    for (size_t i = range->from; i < range->till; i++)
        smp_amounts_add(&spot.amounts, &search->parts[search->order[i]].amounts);
    spot.measure = state_with_most(&spot.amounts, range->measures);
    if (search->choice->key == SMP_SPOT_STATE) {
        spot.callee = choose_most(search, range, false, &spot)->callee;
        spot.group = choose_most(search, range, true, &spot)->group;
    } else if (search->choice->key == SMP_SPOT_METHOD) {
        spot.place = range->first->callee;
    }
    return spot;
}

static void choose_spots(struct spot_search *search)
{
    struct smp_hot_spots *const out = search->out;

    for (size_t i = 0; i < search->count; i++) {
        const struct spot_part *const part = &search->parts[search->order[i]];
        const int64_t ns = smp_amounts_sum(&part->amounts, weighed_measures(search));
        out->active_ns = smp_add_clamped(out->active_ns, ns);
        if (ns > 0 && search->choice->key == SMP_SPOT_STATE && part->kind != PART_OUTSIDE)
            note_package(search, named_location(part), ns);
    }
    for (size_t i = 0; i < search->count;) {
        struct spot_range range = next_range(search, i);
        i = range.till;
        weigh_range(search, &range, weighed_measures(search));
        if (range.first->kind != PART_OF_SPOT) {
            *(range.first->kind == PART_WAITS ? &out->waits : &out->outside) =
                make_spot(search, &range);
            continue;
        }
        if (search->choice->key == SMP_SPOT_STATE && out->has_states)
            note_states(search, &range);
        else
            note_spot(search, &range);
    }
    for (size_t i = 0; i < out->count; i++) {
        out->others_ns = smp_subtract_clamped(out->others_ns, search->top[i].ns);
        out->list[i] = make_spot(search, &search->top[i]);
    }
    out->others -= out->count;
}

static bool is_main_package(const struct spot_search *search, const struct smp_hot_package *package)
{
    const char *const name = search->profile->main_package;
    const size_t length = first_parts_length(name, strlen(name));

    return length > 0 && package->length == length &&
           memcmp(package->class_name, name, length) == 0;
}

static bool is_hotter_package(const struct spot_search *search, const struct smp_hot_package *a,
                              const struct smp_hot_package *b)
{
    if (is_main_package(search, a) || is_main_package(search, b))
        return is_main_package(search, a);
    return a->ns != b->ns ? a->ns > b->ns : strcmp(a->class_name, b->class_name) < 0;
}

static void choose_packages(struct spot_search *search)
{
    struct smp_hot_spots *const out = search->out;

    while (out->package_count < SMP_MAX_HOT_PACKAGES &&
           out->package_count < search->package_count) {
        struct smp_hot_package *best = &search->packages[out->package_count];
        struct smp_hot_package first = *best;
        for (size_t i = out->package_count + 1; i < search->package_count; i++) {
            if (is_hotter_package(search, &search->packages[i], best))
                best = &search->packages[i];
        }
        out->packages[out->package_count++] = *best;
        *best = first;
    }
    out->other_packages = search->package_count - out->package_count;
}

/* --- all of it --- */

static enum smp_status find_spots(struct spot_search *search)
{
    enum smp_status status = add_up_parts(search);

    if (status != SMP_OK)
        return status;
    /* One more than needed, because 0 bytes cannot be allocated. */
    search->order = smp_alloc(search->quota, (2 * search->count + 1) * sizeof(*search->order));
    if (search->order == NULL)
        return SMP_ENOMEM;
    for (size_t i = 0; i < search->count; i++)
        search->order[i] = (uint32_t)i;
    smp_sort(search->order, search->order + search->count, search->count, is_part_before, search);
    choose_spots(search);
    choose_packages(search);
    status = smp_spot_details_add(search->out, &search->places, search->choice);
    if (status == SMP_OK)
        status = search->places.a.status;
    return status == SMP_OK ? search->places.b.status : status;
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
                                  .budget = { .quota = quota, .max_bytes = MAX_PART_BYTES },
                                  .out = spots };
    enum smp_status status = smp_spot_places_init(&search.places, quota, profile);

    if (status != SMP_OK)
        return status;
    *spots = (struct smp_hot_spots){ .has_states =
                                         !profile->is_cpu_clock &&
                                         (measures & SMP_STATE_MEASURES) == SMP_STATE_MEASURES };
    status = find_spots(&search);
    smp_free(quota, search.order);
    smp_memory_budget_give(&search.budget, search.grown.items, search.grown.bytes);
    smp_hash_map_fini(&search.by_key, &smp_hash_ids, &search.budget);
    smp_free(quota, search.waits_ns);
    smp_spot_places_fini(&search.places);
    return status;
}

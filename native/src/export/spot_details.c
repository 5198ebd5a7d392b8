/* SPDX-License-Identifier: Apache-2.0 */
#include "export/spot_details.h"

#include "export/hot_groups.h"
#include "export/tree_walk.h"

struct spot_details {
    struct smp_hot_spots *out;
    struct smp_spot_places *places;
    const struct smp_profile *profile;
    const struct smp_spot_choice *choice;
    uint32_t methods[SMP_MAX_HOT_SPOTS]; /* methods of the spots' places */
};

static uint32_t method_of_frame(const struct spot_details *details, uint32_t location)
{
    struct smp_location_view view;

    smp_profile_view(details->profile, location, &view);
    return view.method;
}

/* --- error bars --- */

/* The time of a spot's place or method, in all states. */
struct place_time {
    int64_t ns;
    struct smp_error error;
};

static bool is_by_method(const struct spot_details *details)
{
    return details->choice->key == SMP_SPOT_METHOD;
}

/* Returns the node's method if spots are methods, otherwise its place. */
static uint32_t subject_of(const struct spot_details *details, uint32_t node)
{
    return is_by_method(details) ? method_of_frame(details, details->places->nodes[node].location)
                                 : details->places->list[node].place;
}

/* Returns whether the time of a subject in a group belongs to the place or method of a spot. */
static bool is_of_spot(const struct spot_details *details, size_t at, uint32_t subject,
                       uint32_t group)
{
    const struct smp_hot_spot *const spot = &details->out->list[at];

    return (is_by_method(details) ? details->methods[at] : spot->place) == subject &&
           (!details->choice->by_group || spot->group == group);
}

static void add_subject_error(const struct spot_details *details, struct place_time *times,
                              uint32_t subject, uint32_t group, struct smp_error error)
{
    for (size_t i = 0; i < details->out->count; i++) {
        if (is_of_spot(details, i, subject, group))
            smp_error_add(&times[i].error, error);
    }
}

/* The time of a place is the total of its row, less the totals of rows of the user's code below it,
 * so the errors of all these rows are errors of the place. */
static void add_place_error(const struct spot_details *details, struct place_time *times,
                            uint32_t node, const struct smp_group_errors *errors)
{
    const struct smp_spot_place *const at = &details->places->list[node];
    const uint32_t above = details->places->list[details->places->nodes[node].parent].place;
    struct smp_error error;

    if (at->place == 0 || at->callee != 0 || above == at->place)
        return;
    error = smp_group_errors_total(errors, node, SMP_MEASURE_WALL);
    add_subject_error(details, times, at->place, at->group, error);
    if (above != 0)
        add_subject_error(details, times, above, at->group, error);
}

static void add_subject_time(const struct spot_details *details, struct place_time *times,
                             uint32_t node, const struct smp_group_errors *errors)
{
    const uint32_t subject = subject_of(details, node);
    const uint32_t group = details->places->list[node].group;
    const int64_t ns = smp_tree_self(details->profile->tree, node, SMP_MEASURE_WALL);

    if (subject == 0 || ns == 0)
        return;
    for (size_t i = 0; i < details->out->count; i++) {
        if (is_of_spot(details, i, subject, group))
            times[i].ns = smp_add_clamped(times[i].ns, ns);
    }
    if (is_by_method(details))
        add_subject_error(details, times, subject, group,
                          smp_group_errors_own(errors, node, SMP_MEASURE_WALL));
}

static void add_subject_times(const struct spot_details *details, struct place_time *times)
{
    const struct smp_spot_places *const places = details->places;
    struct smp_group_errors errors = { 0 };
    uint32_t group = UINT32_MAX;

    for (uint32_t i = 1; i < places->count; i++) {
        if (smp_node_is_group(&places->nodes[i]) ||
            !smp_spot_places_is_sampled(places, places->list[i].group))
            continue;
        if (places->list[i].group != group) {
            group = places->list[i].group;
            errors = smp_group_errors_of(details->profile,
                                         smp_profile_group_info(details->profile, group)->root);
        }
        add_subject_time(details, times, i, &errors);
        if (!is_by_method(details))
            add_place_error(details, times, i, &errors);
    }
}

/* Each poll finds a place in one state, so the division of its time among states is also a matter
 * of chance. */
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

static void add_spot_errors(const struct spot_details *details)
{
    struct place_time times[SMP_MAX_HOT_SPOTS] = { 0 };
    struct smp_hot_spots *const out = details->out;

    if (!smp_tree_has_errors(details->profile->tree) ||
        details->choice->measure != SMP_MEASURE_WALL)
        return;
    add_subject_times(details, times);
    for (size_t i = 0; i < out->count; i++)
        out->list[i].error = error_of_part(details->profile, out->list[i].ns, &times[i]);
}

/* --- calls --- */

static void add_spot_calls(const struct spot_details *details)
{
    const struct smp_tree *const tree = details->profile->tree;
    const struct smp_spot_places *const places = details->places;
    struct smp_hot_spots *const out = details->out;

    if ((smp_tree_measures(tree) & SMP_MEASURE_BIT(SMP_MEASURE_CALLS)) == 0)
        return;
    for (uint32_t i = 1; i < places->count; i++) {
        if (smp_node_is_group(&places->nodes[i]) ||
            smp_profile_group_info(details->profile, places->list[i].group)->kind !=
                SMP_GROUP_COUNTED)
            continue;
        const uint32_t method = method_of_frame(details, places->nodes[i].location);
        for (size_t at = 0; at < out->count; at++) {
            struct smp_hot_spot *const spot = &out->list[at];
            if (details->methods[at] == method)
                spot->calls =
                    smp_add_clamped(spot->calls, smp_tree_self(tree, i, SMP_MEASURE_CALLS));
        }
    }
}

/* --- locks --- */

static bool is_longer_wait(struct smp_spot_places *places, const struct smp_lock_time *a,
                           const struct smp_lock_time *b)
{
    int order;

    if (b == NULL || a->ns != b->ns)
        return b == NULL || a->ns > b->ns;
    order = smp_spot_places_compare(places, a->lock, b->lock);
    return order != 0 ? order < 0 : smp_spot_places_compare(places, a->holding, b->holding) < 0;
}

/* Finds the locks of blocked spots. Returns false if there are none. */
static bool find_spot_locks(const struct spot_details *details)
{
    const struct smp_lock_times *const times = details->profile->lock_times;
    struct smp_hot_spots *const out = details->out;
    bool has_any = false;

    for (size_t at = 0; at < out->count; at++) {
        const struct smp_lock_time *longest = NULL;
        struct smp_hot_spot *const spot = &out->list[at];
        for (size_t i = 0; i < smp_lock_times_count(times); i++) {
            const struct smp_lock_time *const time = smp_lock_times_at(times, i);
            if (spot->measure == SMP_MEASURE_BLOCKED && time->waiting == spot->place &&
                time->ns > 0 && is_longer_wait(details->places, time, longest))
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

/* Returns the line that smp_interval_note_lock finds for a holder's stack. */
static uint32_t holding_line(const struct spot_details *details, uint32_t node)
{
    const uint32_t place = details->places->list[node].place;

    return place != 0 ? place : details->places->nodes[node].location;
}

static enum smp_status add_up_holders(const struct spot_details *details,
                                      struct smp_tree_walk *walk, uint32_t group,
                                      int64_t best_ns[SMP_MAX_HOT_SPOTS])
{
    int64_t sums[SMP_MAX_HOT_SPOTS] = { 0 };
    struct smp_hot_spots *const out = details->out;

    smp_tree_walk_begin(walk, smp_profile_group_info(details->profile, group)->root);
    while (smp_tree_walk_next(walk)) {
        const uint32_t node = smp_tree_walk_node(walk);
        const uint32_t line = holding_line(details, node);
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

/* Finds the holding groups. Among groups with the same time, takes the first one in a report. */
static enum smp_status find_spot_holders(const struct spot_details *details)
{
    int64_t best_ns[SMP_MAX_HOT_SPOTS] = { 0 };
    struct smp_quota *const quota = details->places->quota;
    struct smp_hot_groups groups;
    struct smp_tree_walk walk;
    enum smp_status status;

    status = smp_hot_groups_init(&groups, quota, details->profile, SMP_GROUP_HOLDERS);
    if (status != SMP_OK)
        return status;
    smp_tree_walk_init(&walk, quota, details->profile->tree);
    for (size_t i = 0; i < groups.count && status == SMP_OK; i++)
        status = add_up_holders(details, &walk, groups.indices[i], best_ns);
    smp_tree_walk_fini(&walk);
    smp_hot_groups_fini(&groups);
    return status;
}

enum smp_status smp_spot_details_add(struct smp_hot_spots *spots, struct smp_spot_places *places,
                                     const struct smp_spot_choice *choice)
{
    struct spot_details details = {
        .out = spots, .places = places, .profile = places->profile, .choice = choice
    };
    const bool by_state = choice->key == SMP_SPOT_STATE;

    for (size_t at = 0; at < spots->count; at++)
        details.methods[at] = method_of_frame(&details, spots->list[at].place);
    add_spot_errors(&details);
    add_spot_calls(&details);
    return by_state && find_spot_locks(&details) ? find_spot_holders(&details) : SMP_OK;
}

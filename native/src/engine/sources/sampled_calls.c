/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/sources/sampled_calls.h"

#include "base/alloc.h"

enum { FIRST_NODES = 4096 };

/* The meaning of a node for the nodes below it. PLACE_WAITING: the nearest counted method above
 * them has not been followed yet. */
enum place { PLACE_OUTSIDE, PLACE_WAITING, PLACE_FOLLOWED };

void smp_sampled_calls_fini(struct smp_sampled_calls *sampled)
{
    smp_free(sampled->quota, sampled->places);
    *sampled = (struct smp_sampled_calls){ .quota = sampled->quota };
}

static bool reserve_nodes(struct smp_sampled_calls *sampled, size_t count)
{
    size_t capacity = sampled->capacity > 0 ? sampled->capacity : FIRST_NODES;
    uint8_t *grown = NULL;

    if (count <= sampled->capacity)
        return true;
    while (capacity < count)
        capacity *= 2;
    grown = smp_realloc(sampled->quota, sampled->places, capacity);
    if (grown == NULL)
        return false;
    sampled->places = grown;
    sampled->capacity = capacity;
    return true;
}

static enum place look_at(const struct smp_methods *methods, const struct smp_call_counter *counter,
                          uint32_t location, enum place caller)
{
    struct smp_location_view view;
    struct smp_sampled_method seen;

    smp_methods_view(methods, location, &view);
    if (view.is_pseudo || view.method_name == NULL)
        return caller;
    seen = counter->sampled(counter->self, view.class_name, view.method_name,
                            caller == PLACE_FOLLOWED);
    if (caller == PLACE_OUTSIDE && !seen.is_root)
        return PLACE_OUTSIDE;
    if (!seen.is_inside)
        return caller;
    return seen.is_followed ? PLACE_FOLLOWED : PLACE_WAITING;
}

void smp_sampled_calls_look(struct smp_sampled_calls *sampled,
                            const struct smp_attribution *attribution,
                            const struct smp_call_counter *counter)
{
    const struct smp_node *const nodes = smp_interval_tree_nodes(attribution->interval);
    size_t end = smp_interval_nodes(attribution->interval);

    if (sampled->epoch != attribution->tree_epoch || sampled->next >= end)
        sampled->next = 0;
    sampled->epoch = attribution->tree_epoch;
    if (end > sampled->next + SMP_SAMPLED_CALLS_MOST)
        end = sampled->next + SMP_SAMPLED_CALLS_MOST;
    if (!reserve_nodes(sampled, end))
        return;
    for (size_t n = sampled->next; n < end; n++) {
        /* Node 0 is above the groups. A leaf that refers to a counted call is not a frame. */
        const bool is_frame =
            n > 0 && !smp_node_is_group(&nodes[n]) && !smp_node_is_call(&nodes[n]);
        sampled->places[n] =
            is_frame ? (uint8_t)look_at(attribution->methods, counter, nodes[n].location,
                                        sampled->places[nodes[n].parent])
                     : PLACE_OUTSIDE;
    }
    sampled->next = end;
}

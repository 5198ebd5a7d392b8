/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/sources/sampled_calls.h"

#include "base/alloc.h"

enum { FIRST_NODES = 4096 };

void smp_sampled_calls_fini(struct smp_sampled_calls *sampled)
{
    smp_free(sampled->quota, sampled->is_inside);
    *sampled = (struct smp_sampled_calls){ .quota = sampled->quota };
}

static bool reserve_nodes(struct smp_sampled_calls *sampled, size_t count)
{
    size_t capacity = sampled->capacity > 0 ? sampled->capacity : FIRST_NODES;
    bool *grown = NULL;

    if (count <= sampled->capacity)
        return true;
    while (capacity < count)
        capacity *= 2;
    grown = smp_realloc(sampled->quota, sampled->is_inside, capacity);
    if (grown == NULL)
        return false;
    sampled->is_inside = grown;
    sampled->capacity = capacity;
    return true;
}

static bool look_at(const struct smp_methods *methods, const struct smp_call_counter *counter,
                    uint32_t location, bool is_below)
{
    struct smp_location_view view;

    smp_methods_view(methods, location, &view);
    if (view.is_pseudo || view.method_name == NULL)
        return is_below;
    return counter->sampled(counter->self, view.class_name, view.method_name, is_below) || is_below;
}

void smp_sampled_calls_look(struct smp_sampled_calls *sampled,
                            const struct smp_attribution *attribution,
                            const struct smp_call_counter *counter)
{
    const struct smp_node *const nodes = smp_interval_tree_nodes(attribution->interval);
    size_t end = smp_interval_nodes(attribution->interval);

    if (sampled->epoch != attribution->tree_epoch)
        sampled->count = 0;
    sampled->epoch = attribution->tree_epoch;
    if (end > sampled->count + SMP_SAMPLED_CALLS_MOST)
        end = sampled->count + SMP_SAMPLED_CALLS_MOST;
    if (!reserve_nodes(sampled, end))
        return;
    for (size_t n = sampled->count; n < end; n++) {
        /* Node 0 is above the groups. */
        sampled->is_inside[n] = n > 0 && !smp_node_is_group(&nodes[n]) &&
                                look_at(attribution->methods, counter, nodes[n].location,
                                        sampled->is_inside[nodes[n].parent]);
    }
    sampled->count = end;
}

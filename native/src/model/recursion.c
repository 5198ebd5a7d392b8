/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recursion.c - one pass downwards: how many calls from a node upwards repeat those above them
 * follows from the same number of its parent.
 */
#include "model/recursion.h"

enum { RUN_BITS = 4, RUN_MASK = (1 << RUN_BITS) - 1 };

_Static_assert((int)SMP_MAX_TURN *RUN_BITS <= 32, "a run of each length has its bits");
_Static_assert((int)SMP_MAX_TURN <= RUN_MASK, "a run counts up to its length");

/* One call of find. */
struct turn_search {
    struct smp_recursion *out;
    const struct smp_node *nodes;
    size_t node_count;
    uint32_t *methods; /* by node: its method, 0: none */
    /* For each node, RUN_BITS per length of a turn: how many calls from the node upwards equal the
     * calls one turn above, at most the length of the turn. */
    uint32_t *runs;
};

/* A leaf without amounts is not a call: finished trees have such leaves for recorded calls. */
static void note_methods(const struct turn_search *search, const struct smp_profile *profile)
{
    for (uint32_t node = 1; node < search->node_count; node++) {
        struct smp_location_view view;
        if (smp_node_is_group(&search->nodes[node]) || !smp_tree_has_any(profile->tree, node))
            continue;
        smp_methods_view(profile->methods, search->nodes[node].location, &view);
        search->methods[node] = view.is_pseudo ? 0 : view.overload;
    }
}

static void find_turn(const struct turn_search *search, uint32_t node)
{
    const uint32_t parent = search->nodes[node].parent;
    uint32_t above = parent;
    uint32_t repeated = 0;

    search->out->levels[node] = 1;
    for (unsigned turn = 1; turn <= SMP_MAX_TURN && search->methods[above] != 0; turn++) {
        const unsigned shift = (turn - 1) * RUN_BITS;
        uint32_t run = 0;
        if (search->methods[above] == search->methods[node]) {
            run = ((search->runs[parent] >> shift) & RUN_MASK) + 1;
            run = run > turn ? turn : run;
        }
        search->runs[node] |= run << shift;
        if (run == turn && repeated == 0)
            repeated = above;
        above = search->nodes[above].parent;
    }
    if (repeated == 0)
        return;
    search->out->repeated[node] = repeated;
    search->out->levels[node] = search->out->levels[repeated] + 1;
    search->out->is_found = true;
}

enum smp_status smp_recursion_find(struct smp_recursion *recursion, struct smp_quota *quota,
                                   const struct smp_profile *profile)
{
    struct turn_search search = { .out = recursion,
                                  .nodes = smp_tree_nodes(profile->tree),
                                  .node_count = smp_tree_node_count(profile->tree) };
    enum smp_status status = SMP_ENOMEM;

    *recursion = (struct smp_recursion){ .quota = quota };
    search.methods = smp_alloc(quota, search.node_count * sizeof(*search.methods));
    search.runs = smp_alloc(quota, search.node_count * sizeof(*search.runs));
    recursion->repeated = smp_alloc(quota, search.node_count * sizeof(*recursion->repeated));
    recursion->levels = smp_alloc(quota, search.node_count * sizeof(*recursion->levels));
    if (search.methods != NULL && search.runs != NULL && recursion->repeated != NULL &&
        recursion->levels != NULL) {
        note_methods(&search, profile);
        for (uint32_t node = 1; node < search.node_count; node++) {
            if (search.methods[node] != 0)
                find_turn(&search, node);
        }
        status = SMP_OK;
    }
    smp_free(quota, search.runs);
    smp_free(quota, search.methods);
    if (status != SMP_OK)
        smp_recursion_fini(recursion);
    return status;
}

void smp_recursion_fini(struct smp_recursion *recursion)
{
    smp_free(recursion->quota, recursion->levels);
    smp_free(recursion->quota, recursion->repeated);
    *recursion = (struct smp_recursion){ 0 };
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "model/overloads.h"

#include <string.h>

#define MANY UINT32_MAX /* stored instead of an overload if several were counted */

/* One call of init. */
struct overload_search {
    struct smp_overloads *out;
    const struct smp_methods *methods;
    struct smp_thread_groups *groups;
    const struct smp_node *nodes;
    size_t node_count;
    uint32_t count;    /* of overloads */
    uint32_t *counted; /* by plain: the counted overload; 0: none; MANY */
    bool *is_counted;  /* by node */
};

static bool view_frame(const struct overload_search *search, uint32_t node,
                       struct smp_location_view *out)
{
    if (smp_node_is_group(&search->nodes[node]) || smp_node_is_call(&search->nodes[node]))
        return false;
    smp_methods_view(search->methods, search->nodes[node].location, out);
    return !out->is_pseudo;
}

static uint32_t highest_overload(const struct overload_search *search)
{
    struct smp_location_view view;
    uint32_t highest = 0;

    for (uint32_t node = 1; node < search->node_count; node++) {
        if (view_frame(search, node, &view) && view.overload > highest)
            highest = view.overload;
    }
    return highest;
}

/* Parents come before children. Returns whether methods are to be shown with their parameters. */
static bool find_counted(const struct overload_search *search)
{
    struct smp_location_view view;
    bool has_many = false;

    for (uint32_t node = 1; node < search->node_count; node++) {
        const struct smp_node *const at = &search->nodes[node];
        search->is_counted[node] =
            smp_node_is_group(at)
                ? smp_thread_groups_kind(search->groups,
                                         (struct smp_group){ .index = smp_node_group(at) }) ==
                      SMP_GROUP_COUNTED
                : search->is_counted[at->parent];
        if (!search->is_counted[node] || !view_frame(search, node, &view) ||
            view.parameters == NULL)
            continue;
        uint32_t *const counted = &search->counted[view.plain];
        if (*counted != 0 && *counted != view.overload) {
            *counted = MANY;
            has_many = true;
        } else {
            *counted = view.overload;
        }
    }
    return has_many;
}

static enum smp_status make_texts(const struct overload_search *search)
{
    struct smp_overloads *const out = search->out;
    struct smp_location_view view;

    out->starts = smp_alloc(out->quota, search->count * sizeof(*out->starts));
    out->locations = smp_alloc(out->quota, search->count * sizeof(*out->locations));
    if (out->starts == NULL || out->locations == NULL)
        return SMP_ENOMEM;
    out->count = search->count;
    for (uint32_t node = 1; node < search->node_count && out->texts.status == SMP_OK; node++) {
        if (!view_frame(search, node, &view) || search->counted[view.plain] != MANY ||
            out->starts[view.overload] != 0)
            continue;
        out->starts[view.overload] = out->texts.length + 1;
        out->locations[out->shown++] = search->nodes[node].location;
        smp_bytes_puts(&out->texts, view.method_name);
        if (view.parameters != NULL)
            smp_bytes_puts(&out->texts, view.parameters);
        smp_bytes_put(&out->texts, "", 1);
    }
    return out->texts.status;
}

enum smp_status smp_overloads_init(struct smp_overloads *overloads, struct smp_quota *quota,
                                   const struct smp_tree *tree, struct smp_thread_groups *groups,
                                   const struct smp_methods *methods)
{
    struct overload_search search = { .out = overloads,
                                      .methods = methods,
                                      .groups = groups,
                                      .nodes = smp_tree_nodes(tree),
                                      .node_count = smp_tree_node_count(tree) };
    enum smp_status status = SMP_OK;

    *overloads = (struct smp_overloads){ .quota = quota };
    if (!smp_thread_groups_has(groups, SMP_GROUP_COUNTED))
        return SMP_OK;
    smp_bytes_init(&overloads->texts, quota, SMP_MAX_OVERLOAD_TEXTS_BYTES);
    search.count = highest_overload(&search) + 1;
    search.counted = smp_alloc(quota, search.count * sizeof(*search.counted));
    search.is_counted = smp_alloc(quota, search.node_count * sizeof(*search.is_counted));
    if (search.counted == NULL || search.is_counted == NULL)
        status = SMP_ENOMEM;
    else if (find_counted(&search))
        status = make_texts(&search);
    smp_free(quota, search.is_counted);
    smp_free(quota, search.counted);
    if (status != SMP_OK)
        smp_overloads_fini(overloads);
    return status;
}

void smp_overloads_fini(struct smp_overloads *overloads)
{
    smp_free(overloads->quota, overloads->locations);
    smp_free(overloads->quota, overloads->starts);
    smp_bytes_fini(&overloads->texts);
    *overloads = (struct smp_overloads){ 0 };
}

void smp_overloads_view(const struct smp_overloads *overloads, const struct smp_methods *methods,
                        uint32_t location, struct smp_location_view *out)
{
    smp_methods_view(methods, location, out);
    if (overloads == NULL || out->overload >= overloads->count ||
        overloads->starts[out->overload] == 0)
        return;
    out->method = out->overload;
    out->method_name = overloads->texts.data + overloads->starts[out->overload] - 1;
}

const char *smp_overloads_find(const struct smp_overloads *overloads,
                               const struct smp_methods *methods,
                               const struct smp_location_view *other)
{
    for (uint32_t i = 0; other->parameters != NULL && i < overloads->shown; i++) {
        struct smp_location_view view;
        smp_methods_view(methods, overloads->locations[i], &view);
        if (view.parameters != NULL && strcmp(view.method_name, other->method_name) == 0 &&
            strcmp(view.parameters, other->parameters) == 0 &&
            strcmp(view.class_name, other->class_name) == 0)
            return overloads->texts.data + overloads->starts[view.overload] - 1;
    }
    return NULL;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "export/spot_places.h"

#include <string.h>

#include "export/hot_groups.h"

static void find_spot_places(struct smp_spot_places *places)
{
    for (uint32_t i = 1; i < places->count; i++) {
        const struct smp_node *const node = &places->nodes[i];
        struct smp_spot_place *const at = &places->list[i];
        struct smp_location_view view;
        if (smp_node_is_group(node)) {
            at->group = smp_node_group(node);
            continue;
        }
        *at = places->list[node->parent];
        smp_profile_view(places->profile, node->location, &view);
        if (view.is_application) {
            at->place = node->location;
            at->callee = 0;
        } else if (at->place != 0 && at->callee == 0) {
            at->callee = node->location;
        }
    }
}

enum smp_status smp_spot_places_init(struct smp_spot_places *places, struct smp_quota *quota,
                                     const struct smp_profile *profile)
{
    *places = (struct smp_spot_places){ .quota = quota,
                                        .profile = profile,
                                        .nodes = smp_tree_nodes(profile->tree),
                                        .count = (uint32_t)smp_tree_node_count(profile->tree) };
    places->list = smp_alloc(quota, places->count * sizeof(*places->list));
    if (places->list == NULL)
        return SMP_ENOMEM;
    smp_bytes_init(&places->a, quota, SMP_MAX_FRAME_TEXT_BYTES);
    smp_bytes_init(&places->b, quota, SMP_MAX_FRAME_TEXT_BYTES);
    find_spot_places(places);
    return SMP_OK;
}

void smp_spot_places_fini(struct smp_spot_places *places)
{
    smp_bytes_fini(&places->b);
    smp_bytes_fini(&places->a);
    smp_free(places->quota, places->list);
}

bool smp_spot_places_is_sampled(const struct smp_spot_places *places, uint32_t group)
{
    return smp_profile_group_info(places->profile, group)->kind == SMP_GROUP_SAMPLED &&
           !smp_profile_group_is_jvm(places->profile, group);
}

int smp_spot_places_compare(struct smp_spot_places *places, uint32_t a, uint32_t b)
{
    smp_bytes_restart(&places->a);
    smp_bytes_restart(&places->b);
    if (a != 0)
        smp_profile_frame_text(places->profile, a, &places->a);
    if (b != 0)
        smp_profile_frame_text(places->profile, b, &places->b);
    return strcmp(smp_bytes_text(&places->a), smp_bytes_text(&places->b));
}

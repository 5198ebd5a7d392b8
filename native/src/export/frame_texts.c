/* SPDX-License-Identifier: Apache-2.0 */
#include "export/frame_texts.h"

#include <string.h>

#include "base/bytes.h"
#include "base/utf8.h"

struct smp_frame_texts {
    uint32_t *index; /* by location: where its entry is, plus one; 0 = not in this report */
    struct smp_frame_text *entries;
    uint32_t entry_count;
    struct smp_bytes bytes;
    struct smp_quota *quota;
};

static uint32_t highest_location(const struct smp_node *nodes, const uint32_t *kept, size_t count)
{
    uint32_t highest = 0;

    for (size_t i = 0; i < count; i++) {
        if (nodes[kept[i]].location > highest)
            highest = nodes[kept[i]].location;
    }
    return highest;
}

/* Numbers the locations in the order in which the nodes show them. */
static void number_shown_locations(struct smp_frame_texts *texts, const struct smp_node *nodes,
                                   const uint32_t *kept, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t *const at = &texts->index[nodes[kept[i]].location];
        if (*at == 0)
            *at = ++texts->entry_count;
    }
}

static enum smp_status write_texts(struct smp_frame_texts *texts, const struct smp_profile *profile,
                                   uint32_t location_count)
{
    for (uint32_t location = 0; location < location_count; location++) {
        if (texts->index[location] == 0)
            continue;
        struct smp_frame_text *const entry = &texts->entries[texts->index[location] - 1];
        entry->offset = texts->bytes.length;
        smp_profile_frame_text(profile, location, &texts->bytes);
        if (texts->bytes.status != SMP_OK)
            return texts->bytes.status;
        entry->length = (uint32_t)(texts->bytes.length - entry->offset);
        entry->width =
            (uint32_t)smp_utf8_columns(smp_frame_texts_bytes(texts, entry), entry->length);
    }
    return SMP_OK;
}

enum smp_status smp_frame_texts_create(struct smp_quota *quota, const struct smp_profile *profile,
                                       const uint32_t *kept, size_t count,
                                       struct smp_frame_texts **out)
{
    const struct smp_node *const nodes = smp_tree_nodes(profile->tree);
    const uint32_t location_count = highest_location(nodes, kept, count) + 1;
    enum smp_status status = SMP_ENOMEM;
    struct smp_frame_texts *texts = smp_alloc(quota, sizeof(*texts));

    if (texts == NULL)
        goto done;
    texts->quota = quota;
    smp_bytes_init(&texts->bytes, quota, SMP_MAX_FRAME_TEXTS_BYTES);
    texts->index = smp_alloc(quota, location_count * sizeof(*texts->index));
    if (texts->index == NULL)
        goto done;
    number_shown_locations(texts, nodes, kept, count);
    /* One more than needed, because there may be none and nothing cannot be allocated. */
    texts->entries = smp_alloc(quota, ((size_t)texts->entry_count + 1) * sizeof(*texts->entries));
    if (texts->entries == NULL)
        goto done;
    status = write_texts(texts, profile, location_count);
    if (status != SMP_OK)
        goto done;
    *out = texts;
    texts = NULL;
done:
    smp_frame_texts_destroy(texts);
    return status;
}

void smp_frame_texts_destroy(struct smp_frame_texts *texts)
{
    if (texts == NULL)
        return;
    smp_bytes_fini(&texts->bytes);
    smp_free(texts->quota, texts->entries);
    smp_free(texts->quota, texts->index);
    smp_free(texts->quota, texts);
}

const struct smp_frame_text *smp_frame_texts_get(const struct smp_frame_texts *texts,
                                                 uint32_t location)
{
    return &texts->entries[texts->index[location] - 1];
}

const char *smp_frame_texts_bytes(const struct smp_frame_texts *texts,
                                  const struct smp_frame_text *text)
{
    return smp_bytes_text(&texts->bytes) + text->offset;
}

int smp_frame_texts_compare(const struct smp_frame_texts *texts, uint32_t a, uint32_t b)
{
    const struct smp_frame_text *const left = smp_frame_texts_get(texts, a);
    const struct smp_frame_text *const right = smp_frame_texts_get(texts, b);
    const uint32_t shorter = left->length < right->length ? left->length : right->length;

    if (left == right)
        return 0;
    const int order =
        memcmp(smp_frame_texts_bytes(texts, left), smp_frame_texts_bytes(texts, right), shorter);
    if (order != 0)
        return order;
    return (left->length > right->length) - (left->length < right->length);
}

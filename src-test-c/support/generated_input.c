/* SPDX-License-Identifier: Apache-2.0 */
#include "support/generated_input.h"
#include "support/must.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "model/tree.h"

enum {
    QUOTA_BYTES = 1024 * 1024 * 1024,
    METHODS_BYTES = 64 * 1024 * 1024,
    TEXT_BYTES = 4096 /* maximum text of a frame */
};

static void *must_calloc(size_t count, size_t size)
{
    void *piece = calloc(count, size);

    must(piece != NULL, "out of memory");
    return piece;
}

static void write_texts(struct generated_input *input)
{
    struct smp_bytes text;

    input->location_count = smp_methods_location_count(input->methods);
    input->location_texts = must_calloc(input->location_count, sizeof(char *));
    smp_bytes_init(&text, NULL, TEXT_BYTES);
    for (size_t i = 0; i < input->service->frame_count; i++) {
        char **cached = &input->location_texts[input->locations[i]];
        if (*cached == NULL) {
            smp_bytes_clear(&text);
            smp_methods_frame_text(input->methods, input->locations[i], &text);
            *cached = must_calloc(text.length + 1, 1);
            memcpy(*cached, smp_bytes_text(&text), text.length);
        }
        input->texts[i] = *cached;
    }
    smp_bytes_fini(&text);
}

void generated_input_init(struct generated_input *input, size_t nodes, bool own_methods)
{
    memset(input, 0, sizeof(*input));
    smp_quota_init(&input->quota, QUOTA_BYTES);
    input->service = generated_service_create(nodes, own_methods);
    input->locations = must_calloc(input->service->frame_count, sizeof(input->locations[0]));
    input->texts = must_calloc(input->service->frame_count, sizeof(input->texts[0]));
    must(smp_methods_create(&input->quota, METHODS_BYTES, NULL, &input->methods) == SMP_OK,
         "no methods");
    generated_input_locate(input);
    write_texts(input);
}

void generated_input_fini(struct generated_input *input)
{
    for (uint32_t i = 0; i < input->location_count; i++)
        free(input->location_texts[i]);
    free(input->location_texts);
    free(input->texts);
    free(input->locations);
    smp_methods_release(input->methods);
    generated_service_destroy(input->service);
}

void generated_input_locate(struct generated_input *input)
{
    const struct smp_name_source names = generated_service_names();
    uint32_t *location = input->locations;

    for (size_t i = 0; i < input->service->stack_count; i++) {
        const struct generated_stack *stack = &input->service->stacks[i];
        for (size_t at = 0; at < stack->count; at++)
            *location++ = smp_methods_locate(input->methods, &names, &stack->frames[at]);
    }
}

const char *generated_input_text(const struct generated_input *input, uint32_t location)
{
    if ((location & SMP_LOCATION_GROUP) != 0)
        return generated_group_name((location & ~SMP_LOCATION_GROUP) - generated_group(0).index);
    return input->location_texts[location];
}

struct smp_group generated_group(uint32_t group)
{
    return (struct smp_group){ .index = group + 1 };
}

const char *generated_group_name(uint32_t group)
{
    static const char *const names[MADE_GROUPS] = { "http-nio-exec-", "scheduling-", "kafka-",
                                                    "db-pool-",       "main",        "grpc-" };

    return names[group];
}

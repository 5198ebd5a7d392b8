/* SPDX-License-Identifier: Apache-2.0 */
/*
 * generated_input.h - the stacks of a made-up service in the forms that the stages of the sampler
 * take: raw frames, locations, texts.
 *
 * Owns     all of it.
 * Threads  one.
 * Errors   end the program.
 * Cost     init: a look-up of every frame.
 */
#ifndef SMP_TEST_GENERATED_INPUT_H
#define SMP_TEST_GENERATED_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"
#include "model/methods.h"
#include "model/thread_groups.h"
#include "support/generated_service.h"

struct generated_input {
    struct smp_quota quota;
    struct generated_service *service;
    struct smp_methods *methods;
    uint32_t *locations; /* of all frames of all stacks, stack by stack */
    const char **texts;  /* of the same frames, as the report prints them */
    char **location_texts;
    uint32_t location_count;
};

/* own_methods: see generated_service_create. */
void generated_input_init(struct generated_input *input, size_t nodes, bool own_methods);
void generated_input_fini(struct generated_input *input);

/* Looks up every frame; init has made all of them known. */
void generated_input_locate(struct generated_input *input);
/* Returns the text of a node's location: a frame or the name of a group. */
const char *generated_input_text(const struct generated_input *input, uint32_t location);

/* Returns the id that thread_groups gives to the group of a generated stack, in order after the
 * overflow group. */
struct smp_group generated_group(uint32_t group);
const char *generated_group_name(uint32_t group);

#endif

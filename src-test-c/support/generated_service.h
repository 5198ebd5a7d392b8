/* SPDX-License-Identifier: Apache-2.0 */
/*
 * generated_service.h - a made-up service: its methods and the stacks of its threads.
 *
 * Stacks share their outer frames as those of a server do: each one follows an earlier stack for
 * at least a third of its depth, then differs. They are 35 to 80 frames deep, 52 on average, in a
 * random but fixed order.
 *
 * Owns     the stacks.
 * Threads  one.
 * Errors   out of memory ends the program.
 * Cost     create: O(frames).
 */
#ifndef SMP_TEST_GENERATED_SERVICE_H
#define SMP_TEST_GENERATED_SERVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/sample.h"

enum {
    MADE_METHODS = 2000,
    MADE_LINES = 6, /* different lines of each method on the stacks */
    MADE_GROUPS = 6,
    MADE_MAX_DEPTH = 80
};

struct generated_stack {
    uint32_t group;
    size_t count;
    struct smp_frame frames[MADE_MAX_DEPTH]; /* leaf first */
};

struct generated_service {
    struct generated_stack *stacks;
    size_t stack_count;
    size_t frame_count; /* of all stacks */
    bool own_methods;
    size_t methods; /* with own_methods: methods used so far */
};

/* Generates as many different stacks as make about this many nodes. own_methods: each node has a
 * method that no other node has; otherwise MADE_METHODS methods are shared. */
struct generated_service *generated_service_create(size_t nodes, bool own_methods);
void generated_service_destroy(struct generated_service *service);

/* Knows the names of the methods. */
struct smp_name_source generated_service_names(void);

#endif

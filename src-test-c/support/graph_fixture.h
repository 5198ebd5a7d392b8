/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph_fixture.h - a call graph with its rules and filter, with queries by name.
 *
 * Owns     all of it until graph_fixture_end.
 */
#ifndef SMP_SUPPORT_GRAPH_FIXTURE_H
#define SMP_SUPPORT_GRAPH_FIXTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "counting/call_graph.h"

enum { GRAPH_AMPLE_BYTES = 64 * 1024 * 1024, REACH_IDS = 4 /* at most, for each method */ };

struct graph_fixture {
    struct smp_counting_plan *plan;
    struct smp_call_graph *graph;
};

/* max_methods and max_bytes 0: the default, and plenty. Looks ahead by one call. */
void graph_fixture_begin(struct graph_fixture *self, enum smp_instrumentation scheme,
                         const char *rules, const char *filter, uint32_t max_methods,
                         size_t max_bytes);
/* As graph_fixture_begin, LAZY and with the default limits. */
void graph_fixture_begin_ahead(struct graph_fixture *self, uint8_t look_ahead, const char *rules,
                               const char *filter);
void graph_fixture_end(struct graph_fixture *self);

/* Loads a class in the notation of class_text.h, by class loader 1 or another one. Returns its
 * index. */
uint32_t graph_load(struct graph_fixture *self, const char *line);
uint32_t graph_load_by(struct graph_fixture *self, uint64_t loader, const char *line);
uint32_t graph_find(struct graph_fixture *self, const char *class_name);
/* Returns the id of a method of loader 1, "com/acme/A.run()V"; -1: it has no probe, and gets
 * none. */
int32_t graph_id(struct graph_fixture *self, const char *method);
/* Returns the methods with probes, as "com/acme/A.run()V com/acme/B.go()V", ordered by id. */
const char *graph_wanted(struct graph_fixture *self, char *out, size_t size);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph_fixture.h - a call graph with its rules and filter, and questions to it by name.
 *
 * Owns     all of it until graph_fixture_end.
 */
#ifndef SMP_SUPPORT_GRAPH_FIXTURE_H
#define SMP_SUPPORT_GRAPH_FIXTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "counting/call_graph.h"

enum { GRAPH_AMPLE_BYTES = 64 * 1024 * 1024, REACH_IDS = 4 /* for each method at a time */ };

struct graph_fixture {
    struct smp_counting_plan *plan;
    struct smp_call_graph *graph;
};

/* max_methods and max_bytes 0: the default, and ample. Looks one call ahead. */
void graph_fixture_begin(struct graph_fixture *self, enum smp_instrumentation scheme,
                         const char *rules, const char *filter, uint32_t max_methods,
                         size_t max_bytes);
/* LAZY, with the default limits. */
void graph_fixture_begin_ahead(struct graph_fixture *self, uint8_t look_ahead, const char *rules,
                               const char *filter);
void graph_fixture_end(struct graph_fixture *self);

/* A class as class_text.h writes it, of loader 1 or another; its index. */
uint32_t graph_load(struct graph_fixture *self, const char *line);
uint32_t graph_load_by(struct graph_fixture *self, uint64_t loader, const char *line);
uint32_t graph_find(struct graph_fixture *self, const char *class_name);
/* The id of "com/acme/A.run()V" of loader 1; -1: it has no probe, and is not to get one. */
int32_t graph_id(struct graph_fixture *self, const char *method);
/* The methods with probes, as in "com/acme/A.run()V com/acme/B.go()V", in order of their ids. */
const char *graph_wanted(struct graph_fixture *self, char *out, size_t size);

#endif

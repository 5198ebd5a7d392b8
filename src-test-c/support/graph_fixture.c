/* SPDX-License-Identifier: Apache-2.0 */
#include "support/graph_fixture.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "counting/worklist.h"
#include "support/class_text.h"

static struct smp_counting_plan *plan_of(const char *rules, const char *filter)
{
    struct smp_counting_plan *plan = NULL;

    assert_int_equal(smp_counting_plan_create(NULL, rules, filter, &plan), SMP_OK);
    plan->max_bytes = GRAPH_AMPLE_BYTES;
    return plan;
}

void graph_fixture_begin(struct graph_fixture *self, enum smp_instrumentation scheme,
                         const char *rules, const char *filter, uint32_t max_methods,
                         size_t max_bytes)
{
    self->plan = plan_of(rules, filter);
    self->plan->instrumentation = scheme;
    self->plan->look_ahead = 1;
    if (max_bytes > 0)
        self->plan->max_bytes = max_bytes;
    if (max_methods > 0)
        self->plan->max_methods = max_methods;
    assert_int_equal(
        smp_call_graph_create(self->plan, REACH_IDS * self->plan->max_methods, &self->graph),
        SMP_OK);
}

void graph_fixture_begin_ahead(struct graph_fixture *self, uint8_t look_ahead, const char *rules,
                               const char *filter)
{
    self->plan = plan_of(rules, filter);
    self->plan->look_ahead = look_ahead;
    assert_int_equal(
        smp_call_graph_create(self->plan, REACH_IDS * self->plan->max_methods, &self->graph),
        SMP_OK);
}

void graph_fixture_end(struct graph_fixture *self)
{
    smp_call_graph_destroy(self->graph);
    smp_counting_plan_release(self->plan);
}

uint32_t graph_load_by(struct graph_fixture *self, uint64_t loader, const char *line)
{
    struct class_text text;
    uint32_t loaded = 0;

    assert_int_equal(
        smp_call_graph_load(self->graph, class_text_read(&text, loader, line), &loaded), SMP_OK);
    return loaded;
}

uint32_t graph_load(struct graph_fixture *self, const char *line)
{
    return graph_load_by(self, 1, line);
}

uint32_t graph_find(struct graph_fixture *self, const char *class_name)
{
    return smp_call_graph_find(self->graph, 1, slice_of(class_name));
}

static void write_method(const struct smp_method_ids *ids, int32_t id, char *out, size_t size)
{
    const struct smp_slice class_name = smp_method_ids_name(ids, id).class_name;
    const struct smp_slice name = smp_method_ids_name(ids, id).method_name;
    const struct smp_slice descriptor = smp_method_ids_name(ids, id).descriptor;

    (void)snprintf(out, size, "%.*s.%.*s%.*s", (int)class_name.length, class_name.bytes,
                   (int)name.length, name.bytes, (int)descriptor.length, descriptor.bytes);
}

int32_t graph_id(struct graph_fixture *self, const char *method)
{
    const struct smp_method_ids *const ids = smp_call_graph_ids(self->graph);

    for (int32_t id = 0; id < smp_method_ids_end(ids); id++) {
        const struct smp_method_record *const record = smp_method_ids_at(ids, id);
        char text[256];

        if (record == NULL || record->state != SMP_METHOD_INSTRUMENTED)
            continue;
        write_method(ids, id, text, sizeof(text));
        if (strcmp(text, method) == 0 &&
            smp_class_index_at(&self->graph->index, record->in_class)->loader == 1)
            return id;
    }
    return -1;
}

const char *graph_wanted(struct graph_fixture *self, char *out, size_t size)
{
    const struct smp_method_ids *const ids = smp_call_graph_ids(self->graph);
    size_t length = 0;

    out[0] = '\0';
    for (int32_t id = 0; id < smp_method_ids_end(ids); id++) {
        const struct smp_method_record *const record = smp_method_ids_at(ids, id);

        if (record == NULL || record->state != SMP_METHOD_INSTRUMENTED)
            continue;
        if (length > 0)
            out[length++] = ' ';
        write_method(ids, id, out + length, size - length);
        length = strlen(out);
    }
    return out;
}

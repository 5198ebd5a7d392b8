/* SPDX-License-Identifier: Apache-2.0 */
#include "support/reach_fixture.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "counting/wanted.h"
#include "support/outline_text.h"

static struct smp_counting_plan *plan_of(const char *rules, const char *filter)
{
    struct smp_counting_plan *plan = NULL;
    char message[SMP_PLAN_MESSAGE_BYTES];

    assert_int_equal(smp_counting_plan_create(NULL, rules, filter, &plan, message), SMP_OK);
    plan->max_bytes = REACH_AMPLE_BYTES;
    return plan;
}

void reach_fixture_begin(struct reach_fixture *self, enum smp_instrumentation scheme,
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
        smp_reach_create(self->plan, REACH_IDS * self->plan->max_methods, &self->reach), SMP_OK);
}

void reach_fixture_begin_ahead(struct reach_fixture *self, uint8_t look_ahead, const char *rules,
                               const char *filter)
{
    self->plan = plan_of(rules, filter);
    self->plan->look_ahead = look_ahead;
    assert_int_equal(
        smp_reach_create(self->plan, REACH_IDS * self->plan->max_methods, &self->reach), SMP_OK);
}

void reach_fixture_end(struct reach_fixture *self)
{
    smp_reach_destroy(self->reach);
    smp_counting_plan_release(self->plan);
}

uint32_t reach_load_by(struct reach_fixture *self, uint64_t loader, const char *line)
{
    struct outline_text text;
    uint32_t loaded = 0;

    assert_int_equal(smp_reach_load(self->reach, outline_text_read(&text, loader, line), &loaded),
                     SMP_OK);
    return loaded;
}

uint32_t reach_load(struct reach_fixture *self, const char *line)
{
    return reach_load_by(self, 1, line);
}

uint32_t reach_find(struct reach_fixture *self, const char *class_name)
{
    return smp_reach_find(self->reach, 1, slice_of(class_name));
}

static void write_method(const struct smp_method_ids *ids, int32_t id, char *out, size_t size)
{
    const struct smp_slice class_name = smp_method_ids_class(ids, id);
    const struct smp_slice name = smp_method_ids_name(ids, id);
    const struct smp_slice descriptor = smp_method_ids_descriptor(ids, id);

    (void)snprintf(out, size, "%.*s.%.*s%.*s", (int)class_name.length, class_name.bytes,
                   (int)name.length, name.bytes, (int)descriptor.length, descriptor.bytes);
}

int32_t reach_id(struct reach_fixture *self, const char *method)
{
    const struct smp_method_ids *const ids = smp_reach_ids(self->reach);

    for (int32_t id = 0; id < smp_method_ids_end(ids); id++) {
        const struct smp_method_record *const record = smp_method_ids_at(ids, id);
        char text[256];

        if (record == NULL || record->state != SMP_METHOD_WANTED)
            continue;
        write_method(ids, id, text, sizeof(text));
        if (strcmp(text, method) == 0 &&
            smp_class_index_at(&self->reach->index, record->in_class)->loader == 1)
            return id;
    }
    return -1;
}

const char *reach_wanted(struct reach_fixture *self, char *out, size_t size)
{
    const struct smp_method_ids *const ids = smp_reach_ids(self->reach);
    size_t length = 0;

    out[0] = '\0';
    for (int32_t id = 0; id < smp_method_ids_end(ids); id++) {
        const struct smp_method_record *const record = smp_method_ids_at(ids, id);

        if (record == NULL || record->state != SMP_METHOD_WANTED)
            continue;
        if (length > 0)
            out[length++] = ' ';
        write_method(ids, id, out + length, size - length);
        length = strlen(out);
    }
    return out;
}

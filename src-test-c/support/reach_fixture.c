/* SPDX-License-Identifier: Apache-2.0 */
#include "support/reach_fixture.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "counting/wanted.h"
#include "support/outline_text.h"

static void begin_with(struct reach_fixture *self, struct smp_reach_options options,
                       const char *rules, const char *filter)
{
    assert_int_equal(smp_root_rules_create(NULL, rules, &self->rules, NULL), SMP_OK);
    assert_int_equal(smp_call_filter_create(NULL, filter, &self->filter, NULL), SMP_OK);
    options.rules = self->rules;
    options.filter = self->filter;
    options.max_ids = SMP_PLACES_IDS * options.max_methods;
    assert_int_equal(smp_reach_create(NULL, &options, &self->reach), SMP_OK);
}

void reach_fixture_begin(struct reach_fixture *self, enum smp_scheme scheme, const char *rules,
                         const char *filter, uint32_t max_methods, size_t max_bytes)
{
    begin_with(self,
               (struct smp_reach_options){
                   .max_bytes = max_bytes > 0 ? max_bytes : REACH_AMPLE_BYTES,
                   .max_methods = max_methods > 0 ? max_methods : SMP_REACH_MAX_METHODS,
                   .scheme = scheme,
                   .look_ahead = 1 },
               rules, filter);
}

void reach_fixture_begin_ahead(struct reach_fixture *self, uint8_t look_ahead, const char *rules,
                               const char *filter)
{
    begin_with(self,
               (struct smp_reach_options){ .max_bytes = REACH_AMPLE_BYTES,
                                           .max_methods = SMP_REACH_MAX_METHODS,
                                           .scheme = SMP_SCHEME_LAZY,
                                           .look_ahead = look_ahead },
               rules, filter);
}

void reach_fixture_end(struct reach_fixture *self)
{
    smp_reach_destroy(self->reach);
    smp_call_filter_destroy(self->filter);
    smp_root_rules_destroy(self->rules);
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

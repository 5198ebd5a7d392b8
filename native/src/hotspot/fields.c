/* SPDX-License-Identifier: Apache-2.0 */
#include "hotspot/fields.h"

#include <string.h>

struct wanted {
    struct smp_field *fields;
    struct smp_constant *constants;
    size_t count;
};

static void take_field(void *self, const struct smp_export *entry)
{
    const struct wanted *wanted = self;

    if (entry->type == NULL || entry->name == NULL || entry->is_static)
        return;
    for (size_t i = 0; i < wanted->count; i++) {
        struct smp_field *field = &wanted->fields[i];
        if (strcmp(entry->type, field->type) == 0 && strcmp(entry->name, field->name) == 0) {
            field->offset = entry->value;
            field->found = field->offset < SMP_FIELD_MAX_OFFSET;
        }
    }
}

bool smp_fields_read(struct smp_field *fields, size_t count)
{
    struct wanted wanted = { .fields = fields, .count = count };
    bool all = smp_exports_visit(NULL, SMP_EXPORT_FIELDS, take_field, &wanted);

    for (size_t i = 0; i < count; i++)
        all = all && fields[i].found;
    return all;
}

static void take_constant(void *self, const struct smp_export *entry)
{
    const struct wanted *wanted = self;

    for (size_t i = 0; i < wanted->count; i++) {
        struct smp_constant *constant = &wanted->constants[i];
        if (entry->name != NULL && strcmp(entry->name, constant->name) == 0) {
            constant->value = (int32_t)entry->value;
            constant->found = true;
        }
    }
}

bool smp_constants_read(struct smp_constant *constants, size_t count)
{
    struct wanted wanted = { .constants = constants, .count = count };
    bool all = smp_exports_visit(NULL, SMP_EXPORT_INT_CONSTANTS, take_constant, &wanted);

    for (size_t i = 0; i < count; i++)
        all = all && constants[i].found;
    return all;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/hotspot/fields.h"

#include <string.h>

#include "jvm/agent/symbol.h"

enum { MAX_ENTRIES = 20000 }; /* the list ends in a zero entry; reading stops here without one */

/* How an entry of the list is laid out, as further exported numbers say. */
struct list {
    const char *at;
    uint64_t stride;
    uint64_t type_name;
    uint64_t field_name;
    uint64_t offset;
};

static bool read_field_number(const char *name, uint64_t *out)
{
    const uint64_t *number = smp_symbol(name);

    if (number == NULL)
        return false;
    *out = *number;
    return true;
}

static bool open_field_list(struct list *list)
{
    const char *const *at = smp_symbol("gHotSpotVMStructs");

    if (at == NULL || *at == NULL)
        return false;
    list->at = *at;
    return read_field_number("gHotSpotVMStructEntryArrayStride", &list->stride) &&
           read_field_number("gHotSpotVMStructEntryTypeNameOffset", &list->type_name) &&
           read_field_number("gHotSpotVMStructEntryFieldNameOffset", &list->field_name) &&
           read_field_number("gHotSpotVMStructEntryOffsetOffset", &list->offset);
}

static const char *entry_text(const char *entry, uint64_t offset)
{
    const char *text = NULL;

    memcpy(&text, entry + offset, sizeof(text));
    return text;
}

static void take_field_entry(const struct list *list, const char *entry, struct smp_field *fields,
                             size_t count)
{
    const char *type = entry_text(entry, list->type_name);
    const char *name = entry_text(entry, list->field_name);

    for (size_t i = 0; type != NULL && name != NULL && i < count; i++) {
        if (strcmp(type, fields[i].type) == 0 && strcmp(name, fields[i].name) == 0) {
            memcpy(&fields[i].offset, entry + list->offset, sizeof(fields[i].offset));
            fields[i].found = fields[i].offset < SMP_FIELD_MAX_OFFSET;
        }
    }
}

bool smp_fields_read(struct smp_field *fields, size_t count)
{
    struct list list = { 0 };
    bool all = true;

    if (!open_field_list(&list))
        return false;
    for (size_t i = 0; i < MAX_ENTRIES; i++) {
        const char *entry = list.at + i * list.stride;
        if (entry_text(entry, list.type_name) == NULL)
            break;
        take_field_entry(&list, entry, fields, count);
    }
    for (size_t i = 0; i < count; i++)
        all = all && fields[i].found;
    return all;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "hotspot/exports.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

enum {
    MAX_ENTRIES = 20000, /* a list ends in an entry without names; reading stops here without one */
    NAME_BYTES = 96,
    NOT_HERE = -1 /* the entries of this list do not have this part */
};

/* The parts of an entry. A number whose name ends like the part says where the part is. */
enum part { TYPE_NAME, NAME, TYPE_STRING, IS_STATIC, OFFSET, ADDRESS, VALUE, PART_COUNT };

struct description {
    const char *list;
    const char *prefix; /* of the numbers' names */
    const char *parts[PART_COUNT];
    size_t value_bytes;
};

static const struct description descriptions[] = {
    [SMP_EXPORT_FIELDS] = { "gHotSpotVMStructs",
                            "gHotSpotVMStructEntry",
                            { "TypeNameOffset", "FieldNameOffset", "TypeStringOffset",
                              "IsStaticOffset", "OffsetOffset", "AddressOffset", NULL },
                            sizeof(uint64_t) },
    [SMP_EXPORT_TYPES] = { "gHotSpotVMTypes",
                           "gHotSpotVMTypeEntry",
                           { "TypeNameOffset", NULL, NULL, NULL, NULL, NULL, "SizeOffset" },
                           sizeof(uint64_t) },
    [SMP_EXPORT_INT_CONSTANTS] = { "gHotSpotVMIntConstants",
                                   "gHotSpotVMIntConstantEntry",
                                   { NULL, "NameOffset", NULL, NULL, NULL, NULL, "ValueOffset" },
                                   sizeof(int32_t) },
    [SMP_EXPORT_LONG_CONSTANTS] = { "gHotSpotVMLongConstants",
                                    "gHotSpotVMLongConstantEntry",
                                    { NULL, "NameOffset", NULL, NULL, NULL, NULL, "ValueOffset" },
                                    sizeof(uint64_t) },
};

struct list {
    const struct description *description;
    const char *at;
    uint64_t stride;
    int64_t parts[PART_COUNT];
};

/*
 * RTLD_DEFAULT finds the symbol only if the launcher loaded libjvm globally. libjvm stays loaded as
 * long as there is a JVM, so the handle is closed at once.
 */
void *smp_symbol(const char *name)
{
    void *symbol = dlsym(RTLD_DEFAULT, name);

    if (symbol != NULL)
        return symbol;
    void *library = dlopen("libjvm.so", RTLD_NOLOAD | RTLD_LAZY);
    if (library == NULL)
        return NULL;
    symbol = dlsym(library, name);
    (void)dlclose(library);
    return symbol;
}

static const void *symbol_of(const struct smp_exports *exports, const char *name)
{
    return exports != NULL ? exports->symbol(exports->self, name) : smp_symbol(name);
}

static bool read_number(const struct smp_exports *exports, const char *prefix, const char *end,
                        uint64_t *out)
{
    char name[NAME_BYTES];
    const void *at = NULL;

    (void)snprintf(name, sizeof(name), "%s%s", prefix, end);
    at = symbol_of(exports, name);
    if (at != NULL)
        memcpy(out, at, sizeof(*out));
    return at != NULL;
}

static bool open_list(const struct smp_exports *exports, enum smp_export_list which,
                      struct list *list)
{
    const struct description *description = &descriptions[which];
    const void *pointer = symbol_of(exports, description->list);

    list->description = description;
    if (pointer == NULL || !read_number(exports, description->prefix, "ArrayStride", &list->stride))
        return false;
    memcpy(&list->at, pointer, sizeof(list->at));
    for (int part = 0; part < PART_COUNT; part++) {
        uint64_t offset = 0;
        list->parts[part] = NOT_HERE;
        if (description->parts[part] == NULL)
            continue;
        if (!read_number(exports, description->prefix, description->parts[part], &offset))
            return false;
        list->parts[part] = (int64_t)offset;
    }
    return list->at != NULL && list->stride != 0;
}

/* A part that the list's entries do not have is zero. */
static void read_part(const struct list *list, const char *entry, enum part part, void *to,
                      size_t size)
{
    memset(to, 0, size);
    if (list->parts[part] != NOT_HERE)
        memcpy(to, entry + list->parts[part], size);
}

static struct smp_export read_entry(const struct list *list, const char *entry)
{
    struct smp_export out = { 0 };
    int32_t is_static = 0;
    int32_t narrow = 0;

    read_part(list, entry, TYPE_NAME, &out.type, sizeof(out.type));
    read_part(list, entry, NAME, &out.name, sizeof(out.name));
    read_part(list, entry, TYPE_STRING, &out.type_string, sizeof(out.type_string));
    read_part(list, entry, IS_STATIC, &is_static, sizeof(is_static));
    out.is_static = is_static != 0;
    if (list->parts[VALUE] == NOT_HERE) {
        read_part(list, entry, out.is_static ? ADDRESS : OFFSET, &out.value, sizeof(out.value));
    } else if (list->description->value_bytes == sizeof(narrow)) {
        read_part(list, entry, VALUE, &narrow, sizeof(narrow));
        out.value = (uint64_t)(int64_t)narrow;
    } else {
        read_part(list, entry, VALUE, &out.value, sizeof(out.value));
    }
    return out;
}

bool smp_exports_visit(const struct smp_exports *exports, enum smp_export_list list,
                       void (*visit)(void *self, const struct smp_export *entry), void *self)
{
    struct list open = { 0 };

    if (!open_list(exports, list, &open))
        return false;
    for (size_t i = 0; i < MAX_ENTRIES; i++) {
        const struct smp_export entry = read_entry(&open, open.at + i * open.stride);
        if (entry.type == NULL && entry.name == NULL)
            break;
        visit(self, &entry);
    }
    return true;
}

/* --- entries by their names --- */

struct look_up {
    enum smp_export_list list;
    struct smp_wanted *wanted;
    size_t count;
};

static bool is_same_export(const char *one, const char *other)
{
    return one == other || (one != NULL && other != NULL && strcmp(one, other) == 0);
}

static bool is_plausible(const struct smp_wanted *wanted)
{
    switch (wanted->list) {
    case SMP_EXPORT_FIELDS:
        return wanted->is_static ? wanted->value != 0 : wanted->value < SMP_EXPORT_MAX_OFFSET;
    case SMP_EXPORT_TYPES:
        return wanted->value != 0 && wanted->value < SMP_EXPORT_MAX_OFFSET;
    default:
        return true;
    }
}

static void take_wanted(void *self, const struct smp_export *entry)
{
    const struct look_up *look_up = self;

    for (size_t i = 0; i < look_up->count; i++) {
        struct smp_wanted *wanted = &look_up->wanted[i];
        if (wanted->list != look_up->list || wanted->is_static != entry->is_static ||
            !is_same_export(wanted->type, entry->type) ||
            !is_same_export(wanted->name, entry->name) ||
            (wanted->type_string != NULL &&
             !is_same_export(wanted->type_string, entry->type_string)))
            continue;
        wanted->value = entry->value;
        wanted->type_string = entry->type_string;
        wanted->is_found = is_plausible(wanted);
    }
}

bool smp_exports_find(const struct smp_exports *exports, struct smp_wanted *wanted, size_t count)
{
    bool all = true;

    for (int list = SMP_EXPORT_FIELDS; list <= SMP_EXPORT_LONG_CONSTANTS; list++) {
        struct look_up look_up = { .list = (enum smp_export_list)list,
                                   .wanted = wanted,
                                   .count = count };
        bool is_used = false;
        for (size_t i = 0; i < count; i++)
            is_used = is_used || wanted[i].list == look_up.list;
        if (is_used)
            (void)smp_exports_visit(exports, look_up.list, take_wanted, &look_up);
    }
    for (size_t i = 0; i < count; i++)
        all = all && wanted[i].is_found;
    return all;
}

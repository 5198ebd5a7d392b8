/* SPDX-License-Identifier: Apache-2.0 */
#include "counting/summary_reader.h"

#include <string.h>

#include "classfile/call_sites.h"

_Static_assert((int)SMP_ACCESS_STATIC == (int)SMP_CLASS_STATIC, "static");
_Static_assert((int)SMP_ACCESS_NATIVE == (int)SMP_CLASS_NATIVE, "native");
_Static_assert((int)SMP_ACCESS_ABSTRACT == (int)SMP_CLASS_ABSTRACT, "abstract");

enum { FIRST_ITEMS_BYTES = 4096 };

void smp_class_summary_reader_fini(struct smp_class_summary_reader *reader)
{
    smp_free(reader->quota, reader->methods.items);
    smp_free(reader->quota, reader->calls.items);
    smp_free(reader->quota, reader->interfaces.items);
    *reader = (struct smp_class_summary_reader){ .quota = reader->quota };
}

/* What is there is kept. */
static bool grow_items(struct smp_class_summary_reader *reader,
                       struct smp_class_summary_items *items, size_t needed)
{
    size_t bytes = items->bytes > 0 ? items->bytes : FIRST_ITEMS_BYTES;
    void *grown = NULL;

    if (needed <= items->bytes)
        return true;
    while (bytes < needed)
        bytes *= 2;
    grown = smp_realloc(reader->quota, items->items, bytes);
    if (grown == NULL)
        return false;
    *items = (struct smp_class_summary_items){ .items = grown, .bytes = bytes };
    return true;
}

static struct smp_slice slice(struct smp_class_text text)
{
    return (struct smp_slice){ text.bytes, text.length };
}

static bool add_summary_call(struct smp_class_summary_reader *reader,
                             const struct smp_call_summary *call)
{
    struct smp_call_summary *calls = NULL;

    if (reader->call_count == SMP_CLASS_SUMMARY_MAX_CALLS ||
        !grow_items(reader, &reader->calls, (reader->call_count + 1) * sizeof(*calls))) {
        reader->is_full = true;
        return false;
    }
    calls = reader->calls.items;
    calls[reader->call_count++] = *call;
    return true;
}

/* --- lookups --- */

static void begin_lookup(struct smp_class_summary_reader *reader, const struct smp_class_file *file)
{
    reader->lookup.is_one = false;
    reader->lookup.string_count = 0;
    reader->lookup.class_count = 1;
    reader->lookup.classes[0] = slice(file->name);
}

/* Once, as far as there is room. */
static void add_text_once(struct smp_slice *texts, size_t *count, size_t most,
                          struct smp_class_text text)
{
    for (size_t i = 0; i < *count; i++) {
        if (texts[i].length == text.length && memcmp(texts[i].bytes, text.bytes, text.length) == 0)
            return;
    }
    if (*count < most)
        texts[(*count)++] = slice(text);
}

static void add_lookup_class(struct smp_class_summary_reader *reader, struct smp_class_text name)
{
    add_text_once(reader->lookup.classes, &reader->lookup.class_count,
                  SMP_CLASS_SUMMARY_LOOKUP_CLASSES, name);
}

/* (Lcom/acme/Order;I)V: a dynamic call has the object first. */
static void add_receiver(struct smp_class_summary_reader *reader, struct smp_class_text descriptor)
{
    const char *const end = memchr(descriptor.bytes, ';', descriptor.length);

    if (end != NULL && descriptor.length > 2 && descriptor.bytes[1] == 'L')
        add_lookup_class(reader,
                         (struct smp_class_text){ .bytes = descriptor.bytes + 2,
                                                  .length = (size_t)(end - descriptor.bytes) - 2 });
}

static void note_for_lookup(struct smp_class_summary_reader *reader,
                            const struct smp_class_call_site *site)
{
    if (site->kind == SMP_CALL_STRING || site->kind == SMP_CALL_BY_NAME)
        add_text_once(reader->lookup.strings, &reader->lookup.string_count,
                      SMP_CLASS_SUMMARY_LOOKUP_STRINGS, site->method.name);
    if (site->kind == SMP_CALL_BY_NAME) {
        add_receiver(reader, site->method.descriptor);
        reader->lookup.is_one = true;
    }
    if (site->kind == SMP_CALL_NEW)
        add_lookup_class(reader, site->method.owner);
    if (site->kind == SMP_CALL_VIRTUAL && !site->is_handle && site->method.name.length >= 4 &&
        memcmp(site->method.name.bytes, "find", 4) == 0)
        reader->lookup.is_one |=
            smp_class_text_is(site->method.owner, "java/lang/invoke/MethodHandles$Lookup");
}

/* Without a descriptor: all methods of the name. */
static bool add_lookup(struct smp_class_summary_reader *reader)
{
    for (size_t s = 0; reader->lookup.is_one && s < reader->lookup.string_count; s++) {
        for (size_t c = 0; c < reader->lookup.class_count; c++) {
            const struct smp_call_summary call = { .owner = reader->lookup.classes[c],
                                                   .name = reader->lookup.strings[s],
                                                   .is_made = true };

            if (!add_summary_call(reader, &call))
                return false;
        }
    }
    return true;
}

/* --- methods --- */

static bool add_call_site(void *self, const struct smp_class_call_site *site)
{
    struct smp_class_summary_reader *const reader = self;
    const struct smp_call_summary call = {
        .owner = slice(site->method.owner),
        .name = slice(site->method.name),
        .descriptor = slice(site->method.descriptor),
        .is_dispatched = site->kind == SMP_CALL_VIRTUAL || site->kind == SMP_CALL_INTERFACE,
        .is_made = site->is_handle || site->kind == SMP_CALL_NEW
    };

    note_for_lookup(reader, site);
    return site->kind == SMP_CALL_STRING || site->kind == SMP_CALL_BY_NAME ||
           add_summary_call(reader, &call);
}

/* The calls of a method are found by their number until all have been read: they move. */
static bool read_summary_method(struct smp_class_summary_reader *reader,
                                const struct smp_class_file *file, size_t number)
{
    const struct smp_class_method *const method = &file->methods[number];
    struct smp_method_summary *const methods = reader->methods.items;
    const size_t first = reader->call_count;

    begin_lookup(reader, file);
    if (!smp_class_each_call_site(file, method, add_call_site, reader) && reader->is_full)
        return false;
    if (!add_lookup(reader))
        return false;
    methods[number] =
        (struct smp_method_summary){ .name = slice(method->name),
                                     .descriptor = slice(method->descriptor),
                                     .call_count = reader->call_count - first,
                                     .access = method->access,
                                     .is_trivial = smp_class_method_is_trivial(file, method) };
    return true;
}

static void point_at_calls(struct smp_class_summary_reader *reader, size_t method_count)
{
    struct smp_method_summary *const methods = reader->methods.items;
    const struct smp_call_summary *calls = reader->calls.items;

    for (size_t i = 0; i < method_count; i++) {
        methods[i].calls = calls;
        calls += methods[i].call_count;
    }
}

enum smp_status smp_class_summary_reader_read(struct smp_class_summary_reader *reader,
                                              const struct smp_class_file *file, uint64_t loader,
                                              const struct smp_class_summary **out)
{
    struct smp_slice *interfaces = NULL;

    reader->call_count = 0;
    reader->is_full = false;
    if (!grow_items(reader, &reader->methods,
                    file->method_count * sizeof(struct smp_method_summary)) ||
        !grow_items(reader, &reader->interfaces, file->interface_count * sizeof(*interfaces)))
        return SMP_ENOMEM;
    for (size_t i = 0; i < file->method_count; i++) {
        if (!read_summary_method(reader, file, i))
            return SMP_ENOMEM;
    }
    point_at_calls(reader, file->method_count);
    interfaces = reader->interfaces.items;
    for (uint16_t i = 0; i < file->interface_count; i++)
        interfaces[i] = slice(smp_class_file_interface_name(file, i));
    reader->summary = (struct smp_class_summary){ .loader = loader,
                                                  .name = slice(file->name),
                                                  .super_name = slice(file->super_name),
                                                  .source_file = slice(file->source_file),
                                                  .interfaces = interfaces,
                                                  .interface_count = file->interface_count,
                                                  .methods = reader->methods.items,
                                                  .method_count = file->method_count };
    *out = &reader->summary;
    return SMP_OK;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "counting/class_summary.h"

#include <string.h>

#include "classfile/call_sites.h"
#include "counting/call_filter.h"

/* Limits for a method that looks up handles. Further combinations are found by samples, if at
 * all. */
enum { LOOKUP_STRINGS = 32, LOOKUP_CLASSES = 8 };

struct method_read {
    struct smp_class_summary_reader *reader;
    bool is_full;    /* a call did not fit */
    bool is_look_up; /* it looks methods up by their names */
    size_t string_count;
    size_t class_count;
    struct smp_slice strings[LOOKUP_STRINGS];
    struct smp_slice classes[LOOKUP_CLASSES]; /* its own first */
};

void smp_class_summary_reader_fini(struct smp_class_summary_reader *reader)
{
    smp_memory_budget_give(&reader->budget, reader->methods.items, reader->methods.bytes);
    smp_memory_budget_give(&reader->budget, reader->calls.items, reader->calls.bytes);
    smp_memory_budget_give(&reader->budget, reader->interfaces.items, reader->interfaces.bytes);
    *reader = (struct smp_class_summary_reader){ .budget.quota = reader->budget.quota };
}

static bool add_summary_call(struct method_read *read, const struct smp_call_summary *call)
{
    struct smp_class_summary_reader *const reader = read->reader;

    read->is_full |= reader->call_count == SMP_CLASS_SUMMARY_MAX_CALLS ||
                     !smp_memory_budget_fit(&reader->budget, &reader->calls,
                                            (reader->call_count + 1) * sizeof(*call));
    if (!read->is_full)
        ((struct smp_call_summary *)reader->calls.items)[reader->call_count++] = *call;
    return !read->is_full;
}

/* --- lookups --- */

/* Adds the text if it is new and there is room. */
static void add_text_once(struct smp_slice *texts, size_t *count, size_t most,
                          struct smp_slice text)
{
    for (size_t i = 0; i < *count; i++) {
        if (smp_slice_equals(texts[i], text))
            return;
    }
    if (*count < most)
        texts[(*count)++] = text;
}

static void add_lookup_class(struct method_read *read, struct smp_slice name)
{
    add_text_once(read->classes, &read->class_count, LOOKUP_CLASSES, name);
}

/* (Lcom/acme/Order;I)V: the receiver is the first parameter of a dynamic call. */
static void add_receiver(struct method_read *read, struct smp_slice descriptor)
{
    const char *const end = memchr(descriptor.bytes, ';', descriptor.length);

    if (end != NULL && smp_slice_begins(descriptor, "(L", 2))
        add_lookup_class(
            read, (struct smp_slice){ descriptor.bytes + 2, (size_t)(end - descriptor.bytes) - 2 });
}

static void note_for_lookup(struct method_read *read, const struct smp_class_call_site *site)
{
    const struct smp_slice name = site->method.name;

    if (site->kind == SMP_CALL_STRING || site->kind == SMP_CALL_BY_NAME)
        add_text_once(read->strings, &read->string_count, LOOKUP_STRINGS, name);
    if (site->kind == SMP_CALL_BY_NAME)
        add_receiver(read, site->method.descriptor);
    if (site->kind == SMP_CALL_NEW)
        add_lookup_class(read, site->method.owner);
    read->is_look_up |=
        site->kind == SMP_CALL_BY_NAME ||
        (site->kind == SMP_CALL_VIRTUAL && !site->is_handle && smp_slice_begins(name, "find", 4) &&
         smp_slice_is(site->method.owner, "java/lang/invoke/MethodHandles$Lookup"));
}

/* Adds calls for all looked-up names. Without a descriptor they mean all methods of the name. */
static bool add_lookup(struct method_read *read)
{
    for (size_t s = 0; read->is_look_up && s < read->string_count; s++) {
        for (size_t c = 0; c < read->class_count; c++) {
            const struct smp_call_summary call = { .owner = read->classes[c],
                                                   .name = read->strings[s],
                                                   .is_made = true };

            if (!add_summary_call(read, &call))
                return false;
        }
    }
    return true;
}

/* --- methods --- */

static bool add_call_site(void *self, const struct smp_class_call_site *site)
{
    struct method_read *const read = self;
    const struct smp_call_summary call = {
        .owner = site->method.owner,
        .name = site->method.name,
        .descriptor = site->method.descriptor,
        .is_dispatched = site->kind == SMP_CALL_VIRTUAL || site->kind == SMP_CALL_INTERFACE,
        .is_made = site->is_handle || site->kind == SMP_CALL_NEW
    };

    note_for_lookup(read, site);
    return site->kind == SMP_CALL_STRING || site->kind == SMP_CALL_BY_NAME ||
           add_summary_call(read, &call);
}

/* The array of calls moves as it grows, so methods get their pointers when all have been read. */
static bool read_summary_method(struct smp_class_summary_reader *reader,
                                const struct smp_class_file *file, size_t number)
{
    const struct smp_class_method *const method = &file->methods[number];
    struct smp_method_summary *const methods = reader->methods.items;
    const size_t first = reader->call_count;
    struct method_read read = { .reader = reader, .class_count = 1 };

    read.classes[0] = file->name;
    /* The result is also false for code that is not understood. The calls before it are kept. */
    (void)smp_class_each_call_site(file, method, add_call_site, &read);
    if (read.is_full || !add_lookup(&read))
        return false;
    methods[number] =
        (struct smp_method_summary){ .name = method->name,
                                     .descriptor = method->descriptor,
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

bool smp_class_summary_is_proxy(const struct smp_class_summary *summary)
{
    return smp_slice_is(summary->super_name, "java/lang/reflect/Proxy") &&
           smp_call_filter_is_proxy(summary->name);
}

enum smp_status smp_class_summary_reader_read(struct smp_class_summary_reader *reader,
                                              const struct smp_class_file *file, uint64_t loader,
                                              const struct smp_class_summary **out)
{
    struct smp_slice *interfaces = NULL;

    reader->budget.max_bytes = SIZE_MAX;
    reader->call_count = 0;
    if (!smp_memory_budget_fit(&reader->budget, &reader->methods,
                               file->method_count * sizeof(struct smp_method_summary)) ||
        !smp_memory_budget_fit(&reader->budget, &reader->interfaces,
                               file->interface_count * sizeof(*interfaces)))
        return SMP_ENOMEM;
    for (size_t i = 0; i < file->method_count; i++) {
        if (!read_summary_method(reader, file, i))
            return SMP_ENOMEM;
    }
    point_at_calls(reader, file->method_count);
    interfaces = reader->interfaces.items;
    for (uint16_t i = 0; i < file->interface_count; i++)
        interfaces[i] = smp_class_file_interface_name(file, i);
    reader->summary = (struct smp_class_summary){ .loader = loader,
                                                  .name = file->name,
                                                  .super_name = file->super_name,
                                                  .source_file = file->source_file,
                                                  .interfaces = interfaces,
                                                  .interface_count = file->interface_count,
                                                  .methods = reader->methods.items,
                                                  .method_count = file->method_count };
    *out = &reader->summary;
    return SMP_OK;
}

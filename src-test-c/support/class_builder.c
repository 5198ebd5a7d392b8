/* SPDX-License-Identifier: Apache-2.0 */
#include "support/class_builder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "classfile/class_file.h"

enum { PUBLIC_CLASS = 0x21, NATIVE_STATIC = 0x108, MAX_FILE = 1 << 20, PATH_BYTES = 4096 };

static void put_bytes(uint8_t *room, size_t *length, const void *bytes, size_t count)
{
    if (*length + count > CLASS_BUILDER_ROOM)
        abort();
    if (count > 0)
        memcpy(room + *length, bytes, count);
    *length += count;
}

static void put_number(uint8_t *room, size_t *length, uint32_t value, size_t count)
{
    for (size_t i = count; i > 0; i--) {
        const uint8_t byte = (uint8_t)(value >> (8 * (i - 1)));
        put_bytes(room, length, &byte, 1);
    }
}

static void pool_number(struct class_builder *builder, uint32_t value, size_t count)
{
    put_number(builder->pool, &builder->pool_bytes, value, count);
}

static void method_number(struct class_builder *builder, uint32_t value, size_t count)
{
    put_number(builder->methods, &builder->method_bytes, value, count);
}

uint16_t class_builder_utf8(struct class_builder *builder, const char *text)
{
    pool_number(builder, SMP_CONSTANT_UTF8, 1);
    pool_number(builder, (uint32_t)strlen(text), 2);
    put_bytes(builder->pool, &builder->pool_bytes, text, strlen(text));
    return (uint16_t)builder->pool_count++;
}

static uint16_t pool_pair(struct class_builder *builder, uint8_t tag, uint32_t a, uint32_t b)
{
    pool_number(builder, tag, 1);
    pool_number(builder, a, 2);
    pool_number(builder, b, 2);
    return (uint16_t)builder->pool_count++;
}

uint16_t class_builder_class(struct class_builder *builder, const char *name)
{
    const uint16_t text = class_builder_utf8(builder, name);

    pool_number(builder, SMP_CONSTANT_CLASS, 1);
    pool_number(builder, text, 2);
    return (uint16_t)builder->pool_count++;
}

uint16_t class_builder_string(struct class_builder *builder, const char *text)
{
    const uint16_t utf8 = class_builder_utf8(builder, text);

    pool_number(builder, SMP_CONSTANT_STRING, 1);
    pool_number(builder, utf8, 2);
    return (uint16_t)builder->pool_count++;
}

uint16_t class_builder_member(struct class_builder *builder, uint8_t tag, const char *owner,
                              const char *name, const char *descriptor)
{
    const uint16_t type = class_builder_class(builder, owner);
    const uint16_t text = class_builder_utf8(builder, name);
    const uint16_t types = class_builder_utf8(builder, descriptor);

    return pool_pair(builder, tag, type,
                     pool_pair(builder, SMP_CONSTANT_NAME_AND_TYPE, text, types));
}

uint16_t class_builder_handle(struct class_builder *builder, uint8_t kind, uint16_t member)
{
    pool_number(builder, SMP_CONSTANT_METHOD_HANDLE, 1);
    pool_number(builder, kind, 1);
    pool_number(builder, member, 2);
    return (uint16_t)builder->pool_count++;
}

uint16_t class_builder_dynamic(struct class_builder *builder, uint8_t tag, uint16_t row)
{
    const uint16_t name = class_builder_utf8(builder, "dynamic");
    const uint16_t type =
        class_builder_utf8(builder, builder->dynamic_type != NULL ? builder->dynamic_type : "()V");

    return pool_pair(builder, tag, row, pool_pair(builder, SMP_CONSTANT_NAME_AND_TYPE, name, type));
}

void class_builder_integer(struct class_builder *builder, int32_t value)
{
    pool_number(builder, SMP_CONSTANT_INTEGER, 1);
    pool_number(builder, (uint32_t)value, 4);
    builder->pool_count++;
}

uint16_t class_builder_bootstrap(struct class_builder *builder, const uint16_t *arguments,
                                 uint16_t count)
{
    put_number(builder->bootstrap_bytes, &builder->bootstrap_length,
               builder->bootstrap_method != 0 ? builder->bootstrap_method : 1, 2);
    put_number(builder->bootstrap_bytes, &builder->bootstrap_length, count, 2);
    for (uint16_t i = 0; i < count; i++)
        put_number(builder->bootstrap_bytes, &builder->bootstrap_length, arguments[i], 2);
    return builder->bootstraps++;
}

void class_builder_init(struct class_builder *builder, uint16_t major, const char *name,
                        const char *super_name)
{
    *builder = (struct class_builder){ .pool = malloc(CLASS_BUILDER_ROOM),
                                       .methods = malloc(CLASS_BUILDER_ROOM),
                                       .pool_count = 1,
                                       .major = major };
    if (builder->pool == NULL || builder->methods == NULL)
        abort();
    builder->this_class = class_builder_class(builder, name);
    builder->super_class = class_builder_class(builder, super_name);
}

void class_builder_method(struct class_builder *builder, uint16_t access, const char *name,
                          const char *descriptor, const struct built_code *code)
{
    const uint16_t names[] = { class_builder_utf8(builder, name),
                               class_builder_utf8(builder, descriptor),
                               class_builder_utf8(builder, "Code") };

    builder->method_count++;
    method_number(builder, code->length == 0 ? NATIVE_STATIC : access, 2);
    method_number(builder, names[0], 2);
    method_number(builder, names[1], 2);
    method_number(builder, code->length == 0 ? 0 : 1, 2);
    if (code->length == 0)
        return;
    method_number(builder, names[2], 2);
    method_number(
        builder,
        (uint32_t)(12 + code->length + 8u * code->exception_count + code->attributes_length), 4);
    method_number(builder, code->max_stack, 2);
    method_number(builder, 8, 2);
    method_number(builder, code->length, 4);
    put_bytes(builder->methods, &builder->method_bytes, code->bytes, code->length);
    method_number(builder, code->exception_count, 2);
    for (uint32_t i = 0; i < code->exception_count; i++) {
        for (uint32_t k = 0; k < 4; k++)
            method_number(builder, code->exceptions[i][k], 2);
    }
    method_number(builder, code->attribute_count, 2);
    put_bytes(builder->methods, &builder->method_bytes, code->attributes, code->attributes_length);
}

size_t class_builder_finish(struct class_builder *builder, uint8_t **out)
{
    uint8_t *bytes = malloc(3 * (size_t)CLASS_BUILDER_ROOM);
    size_t length = 0;
    const uint16_t bootstraps =
        builder->bootstraps > 0 ? class_builder_utf8(builder, "BootstrapMethods") : 0;

    if (bytes == NULL)
        abort();
    put_number(bytes, &length, 0xcafebabe, 4);
    put_number(bytes, &length, builder->major == 45 ? 3 : 0, 2);
    put_number(bytes, &length, builder->major, 2);
    put_number(bytes, &length, builder->pool_count, 2);
    put_bytes(bytes, &length, builder->pool, builder->pool_bytes);
    put_number(bytes, &length, PUBLIC_CLASS, 2);
    put_number(bytes, &length, builder->this_class, 2);
    put_number(bytes, &length, builder->super_class, 2);
    put_number(bytes, &length, 0, 4); /* zero interfaces, zero fields */
    put_number(bytes, &length, builder->method_count, 2);
    put_bytes(bytes, &length, builder->methods, builder->method_bytes);
    put_number(bytes, &length, bootstraps != 0 ? 1 : 0, 2);
    if (bootstraps != 0) {
        put_number(bytes, &length, bootstraps, 2);
        put_number(bytes, &length, (uint32_t)builder->bootstrap_length + 2, 4);
        put_number(bytes, &length, builder->bootstraps, 2);
        put_bytes(bytes, &length, builder->bootstrap_bytes, builder->bootstrap_length);
    }
    free(builder->pool);
    free(builder->methods);
    /* exact size: the address sanitizer reports a read beyond the end */
    *out = realloc(bytes, length);
    if (*out == NULL)
        abort();
    return length;
}

const char *const *compiled_class_names(void)
{
    static const char *const names[] = { "RetransformedCode",
                                         "RetransformedCode$Base",
                                         "RetransformedCode$Body",
                                         "RetransformedCode$Chosen",
                                         "OldCode",
                                         NULL };

    return names;
}

size_t compiled_class_read(const char *name, uint8_t **out)
{
    char path[PATH_BYTES];
    uint8_t *bytes = malloc(MAX_FILE);

    (void)snprintf(path, sizeof(path), "%s/com/incapsula/sampler/testing/%s.class",
                   SMP_TEST_CLASSES, name);
    FILE *file = fopen(path, "rb");
    if (file == NULL || bytes == NULL)
        abort();
    const size_t length = fread(bytes, 1, MAX_FILE, file);
    (void)fclose(file);
    *out = realloc(bytes, length);
    if (length == 0 || *out == NULL)
        abort();
    return length;
}

uint8_t *compiled_class_changed(const uint8_t *bytes, size_t size, uint64_t *random)
{
    uint8_t *changed = malloc(size);

    if (changed == NULL)
        abort();
    memcpy(changed, bytes, size);
    for (uint64_t n = 1 + smp_random_next(random) % 6; n > 0; n--)
        changed[smp_random_next(random) % size] = (uint8_t)smp_random_next(random);
    return changed;
}

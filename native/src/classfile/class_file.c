/* SPDX-License-Identifier: Apache-2.0 */
#include "classfile/class_file.h"

#include <string.h>

#include "base/alloc.h"

enum {
    MAGIC_BYTES = 4,
    OLDEST_MAJOR = 45,
    OLDEST_MINOR = 3,
    MEMBER_BYTES = 8,     /* of a field or method without attributes */
    ATTRIBUTE_HEADER = 6, /* name and length */
    EXCEPTION_BYTES = 8,  /* of a row of an exception table */
    SMALLEST_CONSTANT = 3
};
#define CLASS_FILE_MAGIC UINT32_C(0xcafebabe)

/* What has been read so far. A read past the end gives 0 and is remembered. */
struct class_reader {
    const uint8_t *bytes;
    size_t size;
    size_t at;
    bool is_past_end;
};

static bool skip_bytes(struct class_reader *reader, size_t count)
{
    if (reader->is_past_end || count > reader->size - reader->at) {
        reader->is_past_end = true;
        return false;
    }
    reader->at += count;
    return true;
}

static uint16_t next_u2(struct class_reader *reader)
{
    return skip_bytes(reader, 2) ? smp_class_u2(reader->bytes + reader->at - 2) : 0;
}

static uint32_t next_u4(struct class_reader *reader)
{
    return skip_bytes(reader, 4) ? smp_class_u4(reader->bytes + reader->at - 4) : 0;
}

/* What follows the tag of a constant, but for Utf8. 0: no such constant. */
static size_t constant_bytes(uint8_t tag)
{
    static const uint8_t bytes[] = {
        [SMP_CONSTANT_INTEGER] = 4,
        [SMP_CONSTANT_FLOAT] = 4,
        [SMP_CONSTANT_LONG] = 8,
        [SMP_CONSTANT_DOUBLE] = 8,
        [SMP_CONSTANT_CLASS] = 2,
        [SMP_CONSTANT_STRING] = 2,
        [SMP_CONSTANT_FIELD] = 4,
        [SMP_CONSTANT_METHOD] = 4,
        [SMP_CONSTANT_INTERFACE_METHOD] = 4,
        [SMP_CONSTANT_NAME_AND_TYPE] = 4,
        [SMP_CONSTANT_METHOD_HANDLE] = 3,
        [SMP_CONSTANT_METHOD_TYPE] = 2,
        [SMP_CONSTANT_DYNAMIC] = 4,
        [SMP_CONSTANT_INVOKE_DYNAMIC] = 4,
        [SMP_CONSTANT_MODULE] = 2,
        [SMP_CONSTANT_PACKAGE] = 2,
    };

    return tag < sizeof(bytes) ? bytes[tag] : 0;
}

static bool read_constant(struct class_reader *reader, uint8_t *tag)
{
    size_t bytes = 0;

    if (!skip_bytes(reader, 1))
        return false;
    *tag = reader->bytes[reader->at - 1];
    bytes = *tag == SMP_CONSTANT_UTF8 ? next_u2(reader) : constant_bytes(*tag);
    if (*tag != SMP_CONSTANT_UTF8 && bytes == 0)
        return false;
    return skip_bytes(reader, bytes);
}

static enum smp_status open_pool(struct class_reader *reader, struct smp_class_file *file,
                                 uint16_t count)
{
    file->pool_count = count;
    /* So that a short file cannot ask for much memory. */
    if (file->pool_count == 0 ||
        file->pool_count > 1 + (reader->size - reader->at) / SMALLEST_CONSTANT)
        return SMP_EINVAL;
    file->pool = smp_alloc(NULL, file->pool_count * sizeof(*file->pool));
    if (file->pool == NULL)
        return SMP_ENOMEM;
    for (uint32_t i = 1; i < file->pool_count; i++) {
        uint8_t tag = 0;
        file->pool[i] = (uint32_t)reader->at;
        if (!read_constant(reader, &tag))
            return SMP_EINVAL;
        /* These take two indexes. */
        if ((tag == SMP_CONSTANT_LONG || tag == SMP_CONSTANT_DOUBLE) && ++i == file->pool_count)
            return SMP_EINVAL;
    }
    file->pool_end = (uint32_t)reader->at;
    return SMP_OK;
}

static enum smp_status read_head(struct class_reader *reader, struct smp_class_file *file)
{
    file->access = next_u2(reader);
    file->this_class = next_u2(reader);
    file->super_class = next_u2(reader);
    file->interface_count = next_u2(reader);
    const uint8_t *interfaces = reader->bytes + reader->at;
    if (!skip_bytes(reader, (size_t)file->interface_count * 2) ||
        smp_class_file_this_name(file).bytes == NULL ||
        (file->super_class != 0 && smp_class_file_super_name(file).bytes == NULL))
        return SMP_EINVAL;
    for (size_t i = 0; i < file->interface_count; i++) {
        if (smp_class_file_class_name(file, smp_class_u2(interfaces + 2 * i)).bytes == NULL)
            return SMP_EINVAL;
    }
    return SMP_OK;
}

/* An attribute whose name is a Utf8 and whose contents lie in the file. */
static bool read_attribute(struct class_reader *reader, const struct smp_class_file *file,
                           struct smp_class_attribute *out)
{
    out->start = (uint32_t)reader->at;
    out->name = smp_class_file_utf8(file, next_u2(reader));
    out->length = next_u4(reader);
    out->bytes = (uint32_t)reader->at;
    return skip_bytes(reader, out->length) && out->name.bytes != NULL;
}

static bool skip_attributes(struct class_reader *reader, const struct smp_class_file *file)
{
    for (uint32_t left = next_u2(reader); left > 0; left--) {
        struct smp_class_attribute attribute;
        if (!read_attribute(reader, file, &attribute))
            return false;
    }
    return !reader->is_past_end;
}

static bool skip_fields(struct class_reader *reader, const struct smp_class_file *file)
{
    for (uint32_t left = next_u2(reader); left > 0; left--) {
        if (!skip_bytes(reader, MEMBER_BYTES - 2) || !skip_attributes(reader, file))
            return false;
    }
    return !reader->is_past_end;
}

static bool open_code(const struct smp_class_file *file,
                      const struct smp_class_attribute *attribute, struct smp_class_code *out)
{
    struct class_reader reader = { .bytes = file->bytes,
                                   .size = (size_t)attribute->bytes + attribute->length,
                                   .at = attribute->bytes };

    *out = (struct smp_class_code){ .attribute = attribute->start };
    out->max_stack = next_u2(&reader);
    out->max_locals = next_u2(&reader);
    out->length = next_u4(&reader);
    out->bytes = (uint32_t)reader.at;
    if (out->length == 0 || out->length > SMP_CLASS_MAX_CODE || !skip_bytes(&reader, out->length))
        return false;
    out->exception_count = next_u2(&reader);
    out->exceptions = (uint32_t)reader.at;
    if (!skip_bytes(&reader, (size_t)out->exception_count * EXCEPTION_BYTES))
        return false;
    out->attributes = (uint32_t)reader.at;
    out->end = (uint32_t)reader.size;
    return skip_attributes(&reader, file) && reader.at == reader.size;
}

static bool open_method(struct class_reader *reader, const struct smp_class_file *file,
                        struct smp_class_method *out)
{
    out->start = (uint32_t)reader->at;
    out->access = next_u2(reader);
    out->name = smp_class_file_utf8(file, next_u2(reader));
    out->descriptor = smp_class_file_utf8(file, next_u2(reader));
    if (out->name.bytes == NULL || out->descriptor.bytes == NULL)
        return false;
    for (uint32_t left = next_u2(reader); left > 0; left--) {
        struct smp_class_attribute attribute;
        if (!read_attribute(reader, file, &attribute))
            return false;
        if (!smp_class_text_is(attribute.name, "Code"))
            continue;
        if (out->code.attribute != 0 || !open_code(file, &attribute, &out->code))
            return false;
    }
    out->end = (uint32_t)reader->at;
    /* A native or abstract method with code, or another one without, is no method. */
    const bool has_code = (out->access & (SMP_CLASS_NATIVE | SMP_CLASS_ABSTRACT)) == 0;
    return !reader->is_past_end && has_code == (out->code.attribute != 0);
}

static enum smp_status open_methods(struct class_reader *reader, struct smp_class_file *file)
{
    file->method_count = next_u2(reader);
    if (reader->is_past_end || file->method_count > (reader->size - reader->at) / MEMBER_BYTES)
        return SMP_EINVAL;
    file->methods_end = (uint32_t)reader->at;
    if (file->method_count == 0)
        return SMP_OK;
    file->methods = smp_alloc(NULL, file->method_count * sizeof(*file->methods));
    if (file->methods == NULL)
        return SMP_ENOMEM;
    for (size_t i = 0; i < file->method_count; i++) {
        if (!open_method(reader, file, &file->methods[i]))
            return SMP_EINVAL;
    }
    file->methods_end = (uint32_t)reader->at;
    return SMP_OK;
}

static enum smp_status read_tail(struct class_reader *reader, struct smp_class_file *file)
{
    for (uint32_t left = next_u2(reader); left > 0; left--) {
        struct smp_class_attribute attribute;
        if (!read_attribute(reader, file, &attribute))
            return SMP_EINVAL;
        if (smp_class_text_is(attribute.name, "BootstrapMethods")) {
            file->bootstraps = attribute.bytes;
            file->bootstraps_end = attribute.bytes + attribute.length;
        }
        if (smp_class_text_is(attribute.name, "SourceFile") && attribute.length == 2)
            file->source_file = smp_class_u2(file->bytes + attribute.bytes);
    }
    return !reader->is_past_end && reader->at == reader->size ? SMP_OK : SMP_EINVAL;
}

static enum smp_status open_class(struct smp_class_file *file)
{
    struct class_reader reader = { .bytes = file->bytes, .size = file->size };
    enum smp_status status = SMP_OK;

    if (file->size > SMP_CLASS_MAX_BYTES || next_u4(&reader) != CLASS_FILE_MAGIC)
        return SMP_EINVAL;
    const uint16_t minor = next_u2(&reader);
    file->major = next_u2(&reader);
    if (file->major < OLDEST_MAJOR || (file->major == OLDEST_MAJOR && minor < OLDEST_MINOR))
        return SMP_EINVAL;
    status = open_pool(&reader, file, next_u2(&reader));
    if (status == SMP_OK)
        status = read_head(&reader, file);
    if (status == SMP_OK && !skip_fields(&reader, file))
        status = SMP_EINVAL;
    if (status == SMP_OK)
        status = open_methods(&reader, file);
    if (status == SMP_OK)
        status = read_tail(&reader, file);
    return status;
}

enum smp_status smp_class_file_open(struct smp_class_file *file, const uint8_t *bytes, size_t size)
{
    *file = (struct smp_class_file){ .bytes = bytes, .size = size };
    const enum smp_status status = open_class(file);
    if (status != SMP_OK)
        smp_class_file_close(file);
    return status;
}

enum smp_status smp_class_file_open_pool(struct smp_class_file *file, const uint8_t *bytes,
                                         size_t size, size_t start, uint16_t count)
{
    struct class_reader reader = { .bytes = bytes, .size = size, .at = start };
    enum smp_status status = SMP_EINVAL;

    *file = (struct smp_class_file){ .bytes = bytes, .size = size };
    if (size <= SMP_CLASS_MAX_BYTES && start > 0 && start <= size)
        status = open_pool(&reader, file, count);
    if (status == SMP_OK && reader.at != size)
        status = SMP_EINVAL;
    if (status != SMP_OK)
        smp_class_file_close(file);
    return status;
}

void smp_class_file_close(struct smp_class_file *file)
{
    smp_free(NULL, file->pool);
    smp_free(NULL, file->methods);
    *file = (struct smp_class_file){ 0 };
}

uint8_t smp_class_file_tag(const struct smp_class_file *file, uint16_t index)
{
    return index < file->pool_count && file->pool[index] != 0 ? file->bytes[file->pool[index]] : 0;
}

struct smp_class_text smp_class_file_utf8(const struct smp_class_file *file, uint16_t index)
{
    if (smp_class_file_tag(file, index) != SMP_CONSTANT_UTF8)
        return (struct smp_class_text){ 0 };
    const uint8_t *at = file->bytes + file->pool[index] + 1;
    return (struct smp_class_text){ .bytes = (const char *)at + 2, .length = smp_class_u2(at) };
}

struct smp_class_text smp_class_file_class_name(const struct smp_class_file *file, uint16_t index)
{
    const uint8_t tag = smp_class_file_tag(file, index);

    if (tag != SMP_CONSTANT_CLASS && tag != SMP_CONSTANT_MODULE && tag != SMP_CONSTANT_PACKAGE)
        return (struct smp_class_text){ 0 };
    return smp_class_file_utf8(file, smp_class_u2(file->bytes + file->pool[index] + 1));
}

bool smp_class_file_member(const struct smp_class_file *file, uint16_t index,
                           struct smp_class_member *out)
{
    const uint8_t tag = smp_class_file_tag(file, index);

    if (tag != SMP_CONSTANT_FIELD && tag != SMP_CONSTANT_METHOD &&
        tag != SMP_CONSTANT_INTERFACE_METHOD)
        return false;
    const uint8_t *at = file->bytes + file->pool[index] + 1;
    const uint16_t name_and_type = smp_class_u2(at + 2);
    if (smp_class_file_tag(file, name_and_type) != SMP_CONSTANT_NAME_AND_TYPE)
        return false;
    const uint8_t *pair = file->bytes + file->pool[name_and_type] + 1;
    out->owner = smp_class_file_class_name(file, smp_class_u2(at));
    out->name = smp_class_file_utf8(file, smp_class_u2(pair));
    out->descriptor = smp_class_file_utf8(file, smp_class_u2(pair + 2));
    return out->owner.bytes != NULL && out->name.bytes != NULL && out->descriptor.bytes != NULL;
}

struct smp_class_text smp_class_file_this_name(const struct smp_class_file *file)
{
    return smp_class_file_class_name(file, file->this_class);
}

struct smp_class_text smp_class_file_super_name(const struct smp_class_file *file)
{
    return smp_class_file_class_name(file, file->super_class);
}

struct smp_class_text smp_class_file_source(const struct smp_class_file *file)
{
    return smp_class_file_utf8(file, file->source_file);
}

struct smp_class_text smp_class_file_interface_name(const struct smp_class_file *file, uint16_t i)
{
    /* Behind flags, this, super and the count. */
    const uint8_t *interfaces = file->bytes + file->pool_end + 8;

    return smp_class_file_class_name(file, smp_class_u2(interfaces + 2 * (size_t)i));
}

struct smp_class_attributes smp_class_file_code_attributes(const struct smp_class_file *file,
                                                           const struct smp_class_code *code)
{
    if (code->attribute == 0)
        return (struct smp_class_attributes){ 0 };
    return (struct smp_class_attributes){ .at = code->attributes + 2,
                                          .left = smp_class_u2(file->bytes + code->attributes) };
}

bool smp_class_file_next_attribute(const struct smp_class_file *file,
                                   struct smp_class_attributes *list,
                                   struct smp_class_attribute *out)
{
    if (list->left == 0)
        return false;
    out->start = list->at;
    out->name = smp_class_file_utf8(file, smp_class_u2(file->bytes + list->at));
    out->length = smp_class_u4(file->bytes + list->at + 2);
    out->bytes = list->at + ATTRIBUTE_HEADER;
    list->at = out->bytes + out->length;
    list->left--;
    return true;
}

bool smp_class_text_equals(struct smp_class_text a, struct smp_class_text b)
{
    return a.bytes != NULL && b.bytes != NULL && a.length == b.length &&
           memcmp(a.bytes, b.bytes, a.length) == 0;
}

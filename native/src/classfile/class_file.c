/* SPDX-License-Identifier: Apache-2.0 */
#include "classfile/class_file.h"

#include "base/alloc.h"

enum {
    OLDEST_MAJOR = 45,
    OLDEST_MINOR = 3,
    MEMBER_BYTES = 8,    /* of a field or method without attributes */
    EXCEPTION_BYTES = 8, /* of a row of an exception table */
    SMALLEST_CONSTANT = 3
};
#define CLASS_FILE_MAGIC UINT32_C(0xcafebabe)

static uint32_t offset_of(const struct smp_class_reader *reader, const struct smp_class_file *file)
{
    return (uint32_t)(reader->at - file->bytes);
}

/* Returns the size behind the tag of a constant that is no Utf8, or 0 for an unknown tag. */
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

static enum smp_status open_pool(struct smp_class_reader *reader, struct smp_class_file *file,
                                 uint16_t count)
{
    file->pool_count = count;
    /* A short file must not cause a large allocation. */
    if (count == 0 || count > 1 + (reader->end - reader->at) / SMALLEST_CONSTANT)
        return SMP_EINVAL;
    file->pool = smp_alloc(NULL, file->pool_count * sizeof(*file->pool));
    if (file->pool == NULL)
        return SMP_ENOMEM;
    for (uint32_t i = 1; i < file->pool_count; i++) {
        file->pool[i] = offset_of(reader, file);
        const uint8_t tag = smp_class_next_u1(reader);
        const bool is_text = tag == SMP_CONSTANT_UTF8;
        const size_t bytes = is_text ? smp_class_next_u2(reader) : constant_bytes(tag);
        if (smp_class_skip(reader, bytes) == NULL || (bytes == 0 && !is_text))
            return SMP_EINVAL;
        /* These take two indexes. */
        if ((tag == SMP_CONSTANT_LONG || tag == SMP_CONSTANT_DOUBLE) && ++i == file->pool_count)
            return SMP_EINVAL;
    }
    file->pool_end = offset_of(reader, file);
    return SMP_OK;
}

static enum smp_status read_head(struct smp_class_reader *reader, struct smp_class_file *file)
{
    (void)smp_class_next_u2(reader); /* flags */
    file->name = smp_class_file_class_name(file, smp_class_next_u2(reader));
    const uint16_t super = smp_class_next_u2(reader);
    file->super_name = smp_class_file_class_name(file, super);
    file->interface_count = smp_class_next_u2(reader);
    const uint8_t *const interfaces = smp_class_skip(reader, 2 * (size_t)file->interface_count);
    if (interfaces == NULL || file->name.bytes == NULL ||
        (super != 0 && file->super_name.bytes == NULL))
        return SMP_EINVAL;
    for (size_t i = 0; i < file->interface_count; i++) {
        if (smp_class_file_class_name(file, smp_class_u2(interfaces + 2 * i)).bytes == NULL)
            return SMP_EINVAL;
    }
    return SMP_OK;
}

/* Fails if the name is no Utf8, or if the contents do not lie in the file. */
static bool read_attribute(struct smp_class_reader *reader, const struct smp_class_file *file,
                           struct smp_class_attribute *out)
{
    out->start = offset_of(reader, file);
    out->name = smp_class_file_utf8(file, smp_class_next_u2(reader));
    out->length = smp_class_next_u4(reader);
    out->bytes = offset_of(reader, file);
    return smp_class_skip(reader, out->length) != NULL && out->name.bytes != NULL;
}

static bool skip_attributes(struct smp_class_reader *reader, const struct smp_class_file *file)
{
    for (uint32_t left = smp_class_next_u2(reader); left > 0; left--) {
        struct smp_class_attribute attribute;
        if (!read_attribute(reader, file, &attribute))
            return false;
    }
    return !reader->is_past_end;
}

static bool skip_fields(struct smp_class_reader *reader, const struct smp_class_file *file)
{
    for (uint32_t left = smp_class_next_u2(reader); left > 0; left--) {
        if (smp_class_skip(reader, MEMBER_BYTES - 2) == NULL || !skip_attributes(reader, file))
            return false;
    }
    return !reader->is_past_end;
}

static bool open_code(const struct smp_class_file *file,
                      const struct smp_class_attribute *attribute, struct smp_class_code *out)
{
    const uint8_t *const bytes = file->bytes + attribute->bytes;
    struct smp_class_reader reader = { .at = bytes, .end = bytes + attribute->length };

    *out = (struct smp_class_code){ .attribute = attribute->start,
                                    .end = attribute->bytes + attribute->length };
    out->max_stack = smp_class_next_u2(&reader);
    out->max_locals = smp_class_next_u2(&reader);
    out->length = smp_class_next_u4(&reader);
    out->bytes = offset_of(&reader, file);
    if (out->length == 0 || out->length > SMP_CLASS_MAX_CODE)
        return false;
    (void)smp_class_skip(&reader, out->length);
    out->exception_count = smp_class_next_u2(&reader);
    out->exceptions = offset_of(&reader, file);
    (void)smp_class_skip(&reader, (size_t)out->exception_count * EXCEPTION_BYTES);
    out->attributes = offset_of(&reader, file);
    return skip_attributes(&reader, file) && reader.at == reader.end;
}

static bool open_method(struct smp_class_reader *reader, const struct smp_class_file *file,
                        struct smp_class_method *out)
{
    out->start = offset_of(reader, file);
    out->access = smp_class_next_u2(reader);
    out->name = smp_class_file_utf8(file, smp_class_next_u2(reader));
    out->descriptor = smp_class_file_utf8(file, smp_class_next_u2(reader));
    if (out->name.bytes == NULL || out->descriptor.bytes == NULL)
        return false;
    for (uint32_t left = smp_class_next_u2(reader); left > 0; left--) {
        struct smp_class_attribute attribute;
        if (!read_attribute(reader, file, &attribute))
            return false;
        if (!smp_slice_is(attribute.name, "Code"))
            continue;
        if (out->code.attribute != 0 || !open_code(file, &attribute, &out->code))
            return false;
    }
    out->end = offset_of(reader, file);
    /* A native or abstract method must have no code, any other method must have some. */
    const bool has_code = (out->access & (SMP_ACCESS_NATIVE | SMP_ACCESS_ABSTRACT)) == 0;
    return !reader->is_past_end && has_code == (out->code.attribute != 0);
}

static enum smp_status open_methods(struct smp_class_reader *reader, struct smp_class_file *file)
{
    file->method_count = smp_class_next_u2(reader);
    if (reader->is_past_end || file->method_count > (reader->end - reader->at) / MEMBER_BYTES)
        return SMP_EINVAL;
    if (file->method_count > 0) {
        file->methods = smp_alloc(NULL, file->method_count * sizeof(*file->methods));
        if (file->methods == NULL)
            return SMP_ENOMEM;
    }
    for (size_t i = 0; i < file->method_count; i++) {
        if (!open_method(reader, file, &file->methods[i]))
            return SMP_EINVAL;
    }
    file->methods_end = offset_of(reader, file);
    return SMP_OK;
}

static enum smp_status read_tail(struct smp_class_reader *reader, struct smp_class_file *file)
{
    for (uint32_t left = smp_class_next_u2(reader); left > 0; left--) {
        struct smp_class_attribute attribute;
        if (!read_attribute(reader, file, &attribute))
            return SMP_EINVAL;
        if (smp_slice_is(attribute.name, "BootstrapMethods")) {
            file->bootstraps = attribute.bytes;
            file->bootstraps_end = attribute.bytes + attribute.length;
        }
        if (smp_slice_is(attribute.name, "SourceFile") && attribute.length == 2)
            file->source_file =
                smp_class_file_utf8(file, smp_class_u2(file->bytes + attribute.bytes));
    }
    return !reader->is_past_end && reader->at == reader->end ? SMP_OK : SMP_EINVAL;
}

static enum smp_status open_class(struct smp_class_file *file)
{
    struct smp_class_reader reader = { .at = file->bytes, .end = file->bytes + file->size };
    enum smp_status status = SMP_OK;

    if (file->size > SMP_CLASS_MAX_BYTES || smp_class_next_u4(&reader) != CLASS_FILE_MAGIC)
        return SMP_EINVAL;
    const uint16_t minor = smp_class_next_u2(&reader);
    file->major = smp_class_next_u2(&reader);
    if (file->major < OLDEST_MAJOR || (file->major == OLDEST_MAJOR && minor < OLDEST_MINOR))
        return SMP_EINVAL;
    status = open_pool(&reader, file, smp_class_next_u2(&reader));
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

static enum smp_status close_unless_open(struct smp_class_file *file, enum smp_status status)
{
    if (status != SMP_OK)
        smp_class_file_close(file);
    return status;
}

enum smp_status smp_class_file_open(struct smp_class_file *file, const uint8_t *bytes, size_t size)
{
    *file = (struct smp_class_file){ .bytes = bytes, .size = size };
    return close_unless_open(file, open_class(file));
}

enum smp_status smp_class_file_open_pool(struct smp_class_file *file, const uint8_t *bytes,
                                         size_t size, size_t start, uint16_t count)
{
    *file = (struct smp_class_file){ .bytes = bytes, .size = size };
    if (size > SMP_CLASS_MAX_BYTES || start == 0 || start > size)
        return close_unless_open(file, SMP_EINVAL);
    struct smp_class_reader reader = { .at = bytes + start, .end = bytes + size };
    enum smp_status status = open_pool(&reader, file, count);
    if (status == SMP_OK && reader.at != reader.end)
        status = SMP_EINVAL;
    return close_unless_open(file, status);
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

struct smp_slice smp_class_file_utf8(const struct smp_class_file *file, uint16_t index)
{
    if (smp_class_file_tag(file, index) != SMP_CONSTANT_UTF8)
        return (struct smp_slice){ 0 };
    const uint8_t *at = file->bytes + file->pool[index] + 1;
    return (struct smp_slice){ .bytes = (const char *)at + 2, .length = smp_class_u2(at) };
}

struct smp_slice smp_class_file_class_name(const struct smp_class_file *file, uint16_t index)
{
    const uint8_t tag = smp_class_file_tag(file, index);

    if (tag != SMP_CONSTANT_CLASS && tag != SMP_CONSTANT_MODULE && tag != SMP_CONSTANT_PACKAGE)
        return (struct smp_slice){ 0 };
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

struct smp_slice smp_class_file_interface_name(const struct smp_class_file *file, uint16_t i)
{
    /* They come after flags, this, super and the count. */
    const uint8_t *interfaces = file->bytes + file->pool_end + 8;

    return smp_class_file_class_name(file, smp_class_u2(interfaces + 2 * (size_t)i));
}

struct smp_class_exception smp_class_file_exception(const struct smp_class_file *file,
                                                    const struct smp_class_code *code, uint32_t i)
{
    const uint8_t *row = file->bytes + code->exceptions + (size_t)i * EXCEPTION_BYTES;

    return (struct smp_class_exception){ .start = smp_class_u2(row),
                                         .end = smp_class_u2(row + 2),
                                         .handler = smp_class_u2(row + 4),
                                         .type = smp_class_u2(row + 6) };
}

struct smp_class_attributes smp_class_file_code_attributes(const struct smp_class_file *file,
                                                           const struct smp_class_code *code)
{
    if (code->attribute == 0)
        return (struct smp_class_attributes){ 0 };
    struct smp_class_attributes list = { .reader = { .at = file->bytes + code->attributes,
                                                     .end = file->bytes + code->end } };
    list.left = smp_class_next_u2(&list.reader);
    return list;
}

bool smp_class_file_next_attribute(const struct smp_class_file *file,
                                   struct smp_class_attributes *list,
                                   struct smp_class_attribute *out)
{
    return list->left > 0 && list->left-- > 0 && read_attribute(&list->reader, file, out);
}

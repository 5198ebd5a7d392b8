/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/hotspot/method.h"

#include <string.h>

#include "base/safe_read.h"
#include "jvm/hotspot/method_copy.h"
#include "jvm/hotspot/method_lines.h"

enum {
    OBJECT_BYTES =
        512, /* a method, its constant part and its pool have fewer, without what follows */
    MAX_CONST_WORDS = 64 * 1024 * 1024,
    MAX_METHOD_IDS = 64 * 1024 + 1,
    NATIVE_FLAG = 0x100, /* JVM_ACC_NATIVE */
    NATIVE_BCI = -1,
    OUTSIDE_BCI = -2,
    CONTINUATION_MASK = 0xc0, /* of UTF-8's second and further bytes */
    CONTINUATION = 0x80
};

/* What was read of a method, from the outside in. */
struct view {
    struct smp_method_code code;
    uintptr_t holder;
    uintptr_t end; /* of the ConstMethod */
    uint32_t pool_length;
    uint16_t name;
    uint16_t file; /* 0: none */
    bool has_lines;
};

static uintptr_t word_at(const char *object, uint32_t offset)
{
    uintptr_t value = 0;

    memcpy(&value, object + offset, sizeof(value));
    return value;
}

static uint32_t u32_at(const char *object, uint32_t offset)
{
    uint32_t value = 0;

    memcpy(&value, object + offset, sizeof(value));
    return value;
}

static uint16_t u16_at(const char *object, uint32_t offset)
{
    uint16_t value = 0;

    memcpy(&value, object + offset, sizeof(value));
    return value;
}

static bool read_method_word(uintptr_t address, uintptr_t *out)
{
    return smp_safe_read(out, address, sizeof(*out));
}

/* Objects are aligned to words. */
static bool read_object(uintptr_t address, uint32_t bytes, char to[OBJECT_BYTES])
{
    return address != 0 && address % sizeof(uintptr_t) == 0 && bytes <= OBJECT_BYTES &&
           smp_safe_read(to, address, bytes);
}

static bool read_method(const struct smp_layout *layout, uintptr_t method, struct view *out)
{
    char object[OBJECT_BYTES];

    if (!read_object(method, layout->method.bytes, object))
        return false;
    out->code.const_method = word_at(object, layout->method.const_method);
    out->code.is_native = (u16_at(object, layout->method.flags) & NATIVE_FLAG) != 0;
    return true;
}

static bool read_const_method(const struct smp_layout *layout, struct view *out)
{
    char object[OBJECT_BYTES];
    const uint32_t header = layout->const_method.bytes;
    uint32_t words = 0;

    if (!read_object(out->code.const_method, header, object))
        return false;
    words = u32_at(object, layout->const_method.words);
    out->code.code = out->code.const_method + header;
    out->code.code_bytes = u16_at(object, layout->const_method.code_bytes);
    out->code.pool = word_at(object, layout->const_method.pool);
    out->name = u16_at(object, layout->const_method.name);
    out->code.number = u16_at(object, layout->const_method.number);
    out->has_lines = (u16_at(object, layout->const_method.flags) & SMP_LAYOUT_HAS_LINES) != 0;
    out->end = out->code.const_method + words * sizeof(uintptr_t);
    return words < MAX_CONST_WORDS &&
           words * sizeof(uintptr_t) >= header + (size_t)out->code.code_bytes;
}

static bool read_pool(const struct smp_layout *layout, struct view *out)
{
    char object[OBJECT_BYTES];
    uint32_t tags = 0;

    if (!read_object(out->code.pool, layout->pool.bytes, object))
        return false;
    out->pool_length = u32_at(object, layout->pool.length);
    out->holder = word_at(object, layout->pool.holder);
    out->file = u16_at(object, layout->pool.source_file);
    out->code.ids = out->holder + layout->klass.ids;
    /* Of an array of the JVM's, the first thing is its length. */
    return out->name != 0 && out->name < out->pool_length && out->holder != 0 &&
           out->holder % sizeof(uintptr_t) == 0 &&
           smp_safe_read(&tags, word_at(object, layout->pool.tags), sizeof(tags)) &&
           tags == out->pool_length;
}

static bool read_view(const struct smp_layout *layout, uintptr_t method, struct view *out)
{
    *out = (struct view){ 0 };
    return read_method(layout, method, out) && read_const_method(layout, out) &&
           read_pool(layout, out);
}

bool smp_method_code(const struct smp_layout *layout, uintptr_t method, struct smp_method_code *out)
{
    struct view view;
    const bool is_valid = read_view(layout, method, &view);

    *out = view.code;
    return is_valid;
}

static uintptr_t id_address(const struct smp_method_code *code)
{
    return code->id_array + (code->number + 1U) * sizeof(uintptr_t);
}

uint64_t smp_method_code_id(struct smp_method_code *code)
{
    uintptr_t ids = 0;
    uintptr_t count = 0;
    uintptr_t id = 0;

    if (!read_method_word(code->ids, &ids) || ids == 0 || ids % sizeof(ids) != 0 ||
        !read_method_word(ids, &count) || count > MAX_METHOD_IDS || code->number >= count)
        return 0;
    code->id_array = ids;
    return read_method_word(id_address(code), &id) ? id : 0;
}

bool smp_method_is_same(const struct smp_layout *layout, uintptr_t method,
                        const struct smp_method_code *code, uint64_t id)
{
    char object[OBJECT_BYTES];
    char constant[OBJECT_BYTES];
    uintptr_t holder = 0;
    uintptr_t ids = 0;
    uintptr_t found = 0;
    const struct smp_safe_part parts[] = {
        { .to = object, .address = method, .size = layout->method.bytes },
        { .to = constant, .address = code->const_method, .size = layout->const_method.bytes },
        { &holder, code->pool + layout->pool.holder, sizeof(holder) },
        { &ids, code->ids, sizeof(ids) },
        { &found, id_address(code), sizeof(found) },
    };

    return layout->method.bytes <= OBJECT_BYTES && layout->const_method.bytes <= OBJECT_BYTES &&
           smp_safe_read_parts(parts, sizeof(parts) / sizeof(parts[0])) &&
           word_at(object, layout->method.const_method) == code->const_method &&
           ((u16_at(object, layout->method.flags) & NATIVE_FLAG) != 0) == code->is_native &&
           word_at(constant, layout->const_method.pool) == code->pool &&
           u16_at(constant, layout->const_method.code_bytes) == code->code_bytes &&
           u16_at(constant, layout->const_method.number) == code->number &&
           holder + layout->klass.ids == code->ids && ids == code->id_array && found == id;
}

uint64_t smp_method_id(const struct smp_layout *layout, uintptr_t method)
{
    struct smp_method_code code;

    return smp_method_code(layout, method, &code) ? smp_method_code_id(&code) : 0;
}

/* A symbol is never empty. */
static bool read_length(const struct smp_layout *layout, uintptr_t symbol, uint16_t *length)
{
    return symbol != 0 && symbol % sizeof(uintptr_t) == 0 &&
           smp_safe_read(length, symbol + layout->symbol.length, sizeof(*length)) && *length != 0;
}

/* A name that is longer is cut between two characters. */
static bool read_symbol(const struct smp_layout *layout, uintptr_t symbol,
                        char name[SMP_METHOD_NAME_BYTES])
{
    uint16_t length = 0;
    size_t kept = 0;

    if (!read_length(layout, symbol, &length))
        return false;
    kept = length < SMP_METHOD_NAME_BYTES ? length : SMP_METHOD_NAME_BYTES;
    if (!smp_safe_read(name, symbol + layout->symbol.body, kept))
        return false;
    if (kept == SMP_METHOD_NAME_BYTES) {
        kept--;
        while (kept > 0 && ((unsigned char)name[kept] & CONTINUATION_MASK) == CONTINUATION)
            kept--;
    }
    name[kept] = 0;
    return memchr(name, 0, kept) == NULL;
}

/* A text of the constant pool; false: not one of its entries. */
static bool read_pool_entry(const struct smp_layout *layout, const struct view *view,
                            uint16_t index, uintptr_t *symbol)
{
    return index < view->pool_length &&
           read_method_word(view->code.pool + layout->pool.bytes + index * sizeof(*symbol), symbol);
}

bool smp_method_names(const struct smp_layout *layout, uintptr_t method,
                      struct smp_method_names *out)
{
    struct view view;
    uintptr_t class_name = 0;
    uintptr_t name = 0;

    if (!read_view(layout, method, &view) ||
        !read_method_word(view.holder + layout->klass.name, &class_name) ||
        !read_pool_entry(layout, &view, view.name, &name))
        return false;
    out->const_method = view.code.const_method;
    return read_symbol(layout, class_name, out->class_name) && read_symbol(layout, name, out->name);
}

/* What is left to be copied to. */
struct room {
    char *at;
    size_t bytes;
};

static bool copy_symbol(const struct smp_layout *layout, uintptr_t symbol, struct room *room,
                        uint16_t *length)
{
    if (!read_length(layout, symbol, length) || *length > room->bytes ||
        !smp_safe_read(room->at, symbol + layout->symbol.body, *length) ||
        memchr(room->at, 0, *length) != NULL)
        return false;
    room->at += *length;
    room->bytes -= *length;
    return true;
}

/* Class, name, file: in this order in the room. */
static bool copy_texts(const struct smp_layout *layout, const struct view *view, struct room *room,
                       struct smp_method_copy *out)
{
    uintptr_t symbol = 0;

    if (!read_method_word(view->holder + layout->klass.name, &symbol) ||
        !copy_symbol(layout, symbol, room, &out->class_bytes) ||
        !read_pool_entry(layout, view, view->name, &symbol) ||
        !copy_symbol(layout, symbol, room, &out->name_bytes))
        return false;
    return view->file == 0 || (read_pool_entry(layout, view, view->file, &symbol) &&
                               copy_symbol(layout, symbol, room, &out->file_bytes));
}

static bool copy_lines(const struct smp_layout *layout, const struct view *view, int32_t bci,
                       struct smp_method_copy *out)
{
    struct smp_method_lines lines = { 0 };

    if (view->has_lines && !view->code.is_native &&
        !smp_method_lines_read(layout->compressed_base, view->code.code + view->code.code_bytes,
                               view->end, bci, &lines))
        return false;
    out->line = lines.line;
    out->first_line = lines.first;
    return true;
}

size_t smp_method_copy(const struct smp_layout *layout, uintptr_t method, int32_t bci, char *to,
                       size_t bytes)
{
    const size_t aligned = sizeof(uintptr_t) - 1;
    struct smp_method_copy *out = (struct smp_method_copy *)(void *)to;
    struct room room = { 0 };
    struct view view;

    if (bytes < sizeof(*out) || !read_view(layout, method, &view))
        return 0;
    room = (struct room){ .at = out->texts, .bytes = (bytes - sizeof(*out)) & ~aligned };
    *out = (struct smp_method_copy){ .is_native = view.code.is_native };
    if (!copy_texts(layout, &view, &room, out) || !copy_lines(layout, &view, bci, out))
        return 0;
    return ((size_t)(room.at - to) + aligned) & ~aligned;
}

int32_t smp_method_code_bci(const struct smp_method_code *code, uintptr_t bcp)
{
    if (code->is_native)
        return NATIVE_BCI;
    return bcp >= code->code && bcp - code->code < code->code_bytes ? (int32_t)(bcp - code->code)
                                                                    : OUTSIDE_BCI;
}

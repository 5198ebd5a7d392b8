/* SPDX-License-Identifier: Apache-2.0 */
#include "hotspot/method.h"

#include <string.h>

#include "base/safe_read.h"
#include "hotspot/compressed.h"

enum {
    OBJECT_BYTES = 512, /* a Method, a ConstMethod, a pool without its entries: each has fewer */
    BEFORE_BYTES = 640, /* read with a method; most ConstMethods with their codes have fewer */
    PAGE_BYTES = 4096,  /* memory in one page with mapped memory is mapped */
    MAX_CONST_WORDS = 512 * 1024, /* 64 KB of byte code, and each table as long as it can be */
    MAX_METHOD_IDS = 64 * 1024 + 1,
    NATIVE_FLAG = 0x100, /* JVM_ACC_NATIVE */
    NATIVE_BCI = -1,
    OUTSIDE_BCI = -2
};

/* The parts of a method that have been read. */
struct view {
    struct smp_method_code code;
    uintptr_t holder;
    uintptr_t end; /* of the ConstMethod */
    uint32_t pool_length;
    uint16_t name;
    uint16_t file; /* 0: none */
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

/* Returns whether an object may be there: objects are aligned to words. */
static bool can_be_object(uintptr_t address, uint32_t bytes)
{
    return address != 0 && address % sizeof(uintptr_t) == 0 && bytes <= OBJECT_BYTES;
}

static bool read_object(uintptr_t address, uint32_t bytes, char to[OBJECT_BYTES])
{
    return can_be_object(address, bytes) && smp_safe_read(to, address, bytes);
}

/*
 * A method and the memory before it in its page, which mostly holds its ConstMethod, because the
 * JVM allocates it just before. One read is as safe as two: both return a mixture if objects are
 * freed or changed meanwhile.
 */
struct method_memory {
    uintptr_t from; /* of the bytes */
    size_t size;
    char bytes[BEFORE_BYTES + OBJECT_BYTES];
};

static bool read_method(const struct smp_layout *layout, uintptr_t method,
                        struct method_memory *memory, struct view *out)
{
    const size_t in_page = method % PAGE_BYTES;
    const size_t before = in_page < BEFORE_BYTES ? in_page : BEFORE_BYTES;
    const char *object = NULL;

    memory->from = method - before;
    memory->size = before + layout->method.bytes;
    if (!can_be_object(method, layout->method.bytes) ||
        !smp_safe_read(memory->bytes, memory->from, memory->size))
        return false;
    object = memory->bytes + before;
    out->code.const_method = word_at(object, layout->method.const_method);
    out->code.is_native = (u16_at(object, layout->method.flags) & NATIVE_FLAG) != 0;
    return true;
}

/* Returns NULL if the object is not completely in this memory. */
static const char *find_in_memory(const struct method_memory *memory, uintptr_t address,
                                  uint32_t bytes)
{
    const uintptr_t offset = address - memory->from;

    return can_be_object(address, bytes) && address >= memory->from && offset <= memory->size &&
                   bytes <= memory->size - offset
               ? memory->bytes + offset
               : NULL;
}

static bool read_const_method(const struct smp_layout *layout, const struct method_memory *memory,
                              struct view *out)
{
    char own[OBJECT_BYTES];
    const uint32_t header = layout->const_method.bytes;
    const char *object = find_in_memory(memory, out->code.const_method, header);
    uint32_t words = 0;

    if (object == NULL) {
        if (!read_object(out->code.const_method, header, own))
            return false;
        object = own;
    }
    words = u32_at(object, layout->const_method.words);
    out->code.code = out->code.const_method + header;
    out->code.code_bytes = u16_at(object, layout->const_method.code_bytes);
    out->code.pool = word_at(object, layout->const_method.pool);
    out->name = u16_at(object, layout->const_method.name);
    out->code.number = u16_at(object, layout->const_method.number);
    out->code.has_lines = (u16_at(object, layout->const_method.flags) & SMP_LAYOUT_HAS_LINES) != 0;
    out->end = out->code.const_method + words * sizeof(uintptr_t);
    return words < MAX_CONST_WORDS &&
           words * sizeof(uintptr_t) >= header + (size_t)out->code.code_bytes;
}

static bool read_byte_codes(const struct smp_layout *layout, uintptr_t method, struct view *out)
{
    struct method_memory memory; /* not initialised: only written bytes are read */

    return read_method(layout, method, &memory, out) && read_const_method(layout, &memory, out);
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
    /* An array of the JVM begins with its length. */
    const struct smp_safe_part parts[] = {
        { &tags, word_at(object, layout->pool.tags), sizeof(tags) },
        { &out->code.id_array, out->code.ids, sizeof(out->code.id_array) },
    };
    return out->name != 0 && out->name < out->pool_length && out->holder != 0 &&
           out->holder % sizeof(uintptr_t) == 0 &&
           smp_safe_read_parts(parts, sizeof(parts) / sizeof(parts[0])) && tags == out->pool_length;
}

static bool read_view(const struct smp_layout *layout, uintptr_t method, struct view *out)
{
    *out = (struct view){ 0 };
    return read_byte_codes(layout, method, out) && read_pool(layout, out);
}

bool smp_method_code(const struct smp_layout *layout, uintptr_t method, struct smp_method_code *out)
{
    struct view view;
    const bool is_valid = read_view(layout, method, &view);

    *out = view.code;
    return is_valid;
}

bool smp_method_byte_codes(const struct smp_layout *layout, uintptr_t method,
                           struct smp_method_code *out)
{
    struct view view = { 0 };
    const bool is_read = read_byte_codes(layout, method, &view);

    *out = view.code;
    return is_read;
}

static uintptr_t id_address(const struct smp_method_code *code)
{
    return code->id_array + (code->number + 1U) * sizeof(uintptr_t);
}

/*
 * A method whose number is above the count has no id; the word there may not be readable. The JVM
 * frees an array once the class has a larger one, so this one must still be the class's after the
 * id was read.
 */
uint64_t smp_method_code_id(const struct smp_method_code *code)
{
    uintptr_t count = 0;
    uintptr_t id = 0;
    uintptr_t array = 0;
    const struct smp_safe_part parts[] = {
        { &count, code->id_array, sizeof(count) },
        { &id, id_address(code), sizeof(id) },
        { &array, code->ids, sizeof(array) },
    };

    return code->id_array != 0 && code->id_array % sizeof(uintptr_t) == 0 &&
                   smp_safe_read_parts(parts, sizeof(parts) / sizeof(parts[0])) &&
                   array == code->id_array && count <= MAX_METHOD_IDS && code->number < count
               ? id
               : 0;
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

/* The symbols of a method, in the order in which they are copied. */
enum symbol { CLASS_NAME, METHOD_NAME, FILE_NAME, SYMBOLS };

struct symbols {
    size_t count;
    uintptr_t at[SYMBOLS];
    uint16_t lengths[SYMBOLS];
};

static uintptr_t entry_address(const struct smp_layout *layout, const struct view *view,
                               uint16_t index)
{
    return view->code.pool + layout->pool.bytes + index * sizeof(uintptr_t);
}

/* No symbol is empty. */
static bool read_lengths(const struct smp_layout *layout, struct symbols *symbols)
{
    struct smp_safe_part parts[SYMBOLS];

    for (size_t i = 0; i < symbols->count; i++) {
        if (symbols->at[i] == 0 || symbols->at[i] % sizeof(uintptr_t) != 0)
            return false;
        parts[i] =
            (struct smp_safe_part){ &symbols->lengths[i], symbols->at[i] + layout->symbol.length,
                                    sizeof(symbols->lengths[i]) };
    }
    if (!smp_safe_read_parts(parts, symbols->count))
        return false;
    for (size_t i = 0; i < symbols->count; i++) {
        if (symbols->lengths[i] == 0)
            return false;
    }
    return true;
}

/* Reads the names of the class, of the method and, if it is known, of the file. */
static bool read_symbols(const struct smp_layout *layout, const struct view *view,
                         struct symbols *out)
{
    const struct smp_safe_part parts[SYMBOLS] = {
        [CLASS_NAME] = { &out->at[CLASS_NAME], view->holder + layout->klass.name,
                         sizeof(uintptr_t) },
        [METHOD_NAME] = { &out->at[METHOD_NAME], entry_address(layout, view, view->name),
                          sizeof(uintptr_t) },
        [FILE_NAME] = { &out->at[FILE_NAME], entry_address(layout, view, view->file),
                        sizeof(uintptr_t) },
    };

    *out = (struct symbols){ .count = view->file != 0 ? SYMBOLS : FILE_NAME };
    return view->name < view->pool_length &&
           (out->count == FILE_NAME || view->file < view->pool_length) &&
           smp_safe_read_parts(parts, out->count) && read_lengths(layout, out);
}

/* --- lines --- */

enum {
    LINE_BITS = 3,
    LINE_MASK = 7,
    TWO_NUMBERS = 255,
    MAX_ENTRIES = 64 * 1024 /* the most byte codes of a method */
};

struct line_table {
    struct smp_compressed data;
    int32_t bci;
    int32_t line;
};

static const uint8_t *find_table_bytes(const void *self, uintptr_t at, size_t *length,
                                       uint8_t room[SMP_COMPRESSED_BLOCK])
{
    (void)self;
    if (*length > SMP_COMPRESSED_BLOCK)
        *length = SMP_COMPRESSED_BLOCK;
    return smp_safe_read(room, at, *length) ? room : NULL;
}

/* The lowest bit is the sign. */
static int32_t next_signed(struct line_table *table)
{
    const uint32_t number = smp_compressed_number(&table->data);

    return (int32_t)(number >> 1 ^ (0U - (number & 1)));
}

static int32_t add_wrapping(int32_t number, int32_t by)
{
    return (int32_t)((uint32_t)number + (uint32_t)by);
}

/* Returns false at the end of the table. */
static bool next_line_entry(struct line_table *table)
{
    const uint8_t byte = smp_compressed_byte(&table->data);

    if (table->data.is_broken || byte == 0)
        return false;
    if (byte == TWO_NUMBERS) {
        table->bci = add_wrapping(table->bci, next_signed(table));
        table->line = add_wrapping(table->line, next_signed(table));
    } else {
        table->bci = add_wrapping(table->bci, byte >> LINE_BITS);
        table->line = add_wrapping(table->line, byte & LINE_MASK);
    }
    return !table->data.is_broken;
}

bool smp_method_lines_read(uint32_t base, uintptr_t start, uintptr_t end, int32_t bci,
                           struct smp_method_lines *out)
{
    struct line_table table;
    int32_t best_bci = -1;
    int32_t wanted = bci < 0 ? 0 : bci;
    size_t entries = 0;

    smp_compressed_begin(&table.data, base, start, end, find_table_bytes, NULL);
    table.bci = table.line = 0;
    *out = (struct smp_method_lines){ 0 };
    while (entries++ < MAX_ENTRIES && next_line_entry(&table)) {
        if (table.bci <= wanted && table.bci >= best_bci) {
            best_bci = table.bci;
            out->line = table.line > 0 ? table.line : 0;
        }
        if (table.line > 0 && (out->first == 0 || table.line < out->first))
            out->first = table.line;
    }
    if (table.data.is_broken || entries > MAX_ENTRIES)
        *out = (struct smp_method_lines){ 0 };
    return !table.data.is_broken && entries <= MAX_ENTRIES;
}

/* --- copies --- */

/* The free part of the output. */
struct room {
    char *at;
    size_t bytes;
};

/* Class, name, file: in this order in the room. */
static bool copy_texts(const struct smp_layout *layout, const struct view *view, struct room *room,
                       struct smp_method_copy *out)
{
    struct symbols symbols;
    struct smp_safe_part parts[SYMBOLS];
    size_t sum = 0;

    if (!read_symbols(layout, view, &symbols))
        return false;
    for (size_t i = 0; i < symbols.count; i++) {
        parts[i] = (struct smp_safe_part){ room->at + sum, symbols.at[i] + layout->symbol.body,
                                           symbols.lengths[i] };
        sum += symbols.lengths[i];
    }
    if (sum > room->bytes || !smp_safe_read_parts(parts, symbols.count) ||
        memchr(room->at, 0, sum) != NULL)
        return false;
    room->at += sum;
    room->bytes -= sum;
    out->class_bytes = symbols.lengths[CLASS_NAME];
    out->name_bytes = symbols.lengths[METHOD_NAME];
    out->file_bytes = symbols.lengths[FILE_NAME];
    return true;
}

static bool copy_lines(const struct smp_layout *layout, const struct view *view, int32_t bci,
                       struct smp_method_copy *out)
{
    struct smp_method_lines lines = { 0 };

    if (view->code.has_lines && !view->code.is_native &&
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

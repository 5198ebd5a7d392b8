/* SPDX-License-Identifier: Apache-2.0 */
#include "support/fake_code.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "hotspot/code.h"
#include "hotspot/code_copies.h"
#include "hotspot/machine_code.h"
#include "hotspot/method_table.h"
#include "support/fake_libjvm.h"

enum {
    HEAP_BYTES = 2 * 1024 * 1024,
    SEGMENT_SHIFT = 7,
    SEGMENT_BYTES = 1 << SEGMENT_SHIFT,
    MAX_HOP = 254,
    FREE_SEGMENT = 255,
    CODE_AT = 384, /* offset of the instructions in a code blob */
    MAX_PIECES = 4096,
    STACK_WORDS = 64 * 1024,
    INTERPRETED_WORDS = 12, /* words of a frame below its frame pointer */
    ENTRY_WORDS = 12,
    WRAPPER_BYTES = 128,
    NATIVE_FLAG = 0x100,
    NAME_INDEX = 3, /* index in the constant pool */
    FILE_INDEX = 5,
    POOL_LENGTH = 7,
    NUMBER = 2, /* number of a method in its class */
    IDS = 5,
    UPCALL_KIND = 11,
    OBJECT_BYTES = 512,
    RECORD_BYTES = 16,
    LIMIT = 192,
    DEBUG_BYTES = 64 * 1024
};

struct fake_code {
    struct fake_libjvm *libjvm;
    struct smp_layout layout;
    uint8_t *heap;
    uint8_t *map;
    size_t used;
    uint32_t next_id;
    void *pieces[MAX_PIECES];
    size_t piece_count;
    /* Variables of libjvm. */
    uintptr_t heaps;
    uintptr_t interpreter;
    uintptr_t entry_pc;
    uintptr_t interpreter_code;
    uintptr_t *stack;
    struct smp_frames_start top;
};

static void *piece(struct fake_code *code, size_t bytes)
{
    void *made = calloc(1, bytes);

    assert_non_null(made);
    assert_true(code->piece_count < MAX_PIECES);
    code->pieces[code->piece_count++] = made;
    return made;
}

static void put(uintptr_t object, uint32_t offset, const void *value, size_t size)
{
    memcpy((char *)object + offset, value, size);
}

static void put_word(uintptr_t object, uint32_t offset, uintptr_t value)
{
    put(object, offset, &value, sizeof(value));
}

static void put_u32(uintptr_t object, uint32_t offset, uint32_t value)
{
    put(object, offset, &value, sizeof(value));
}

static void put_u16(uintptr_t object, uint32_t offset, uint16_t value)
{
    put(object, offset, &value, sizeof(value));
}

static uintptr_t get_word(uintptr_t object, uint32_t offset)
{
    uintptr_t value = 0;

    memcpy(&value, (const char *)object + offset, sizeof(value));
    return value;
}

/* ------------------------------------------------------------------------------- the code heap */

static void mark_segments(struct fake_code *code, size_t first, size_t count)
{
    for (size_t i = 0; i < count; i++)
        code->map[first + i] = (uint8_t)(i == 0 ? 0 : i % MAX_HOP == 0 ? MAX_HOP : i % MAX_HOP);
}

/* Returns the start of a free block of this size. */
static uintptr_t take_block(struct fake_code *code, size_t bytes)
{
    const uint32_t header = code->layout.heap.block_bytes;
    const size_t segments = (header + bytes + SEGMENT_BYTES - 1) / SEGMENT_BYTES;
    const uintptr_t block = (uintptr_t)code->heap + code->used;

    assert_true(code->used + (segments + 4) * SEGMENT_BYTES < HEAP_BYTES);
    mark_segments(code, code->used / SEGMENT_BYTES, segments);
    code->used += segments * SEGMENT_BYTES;
    *((char *)block + code->layout.heap.block_used) = 1;
    return block + header;
}

/* Returns the start of the blob. rest: the bytes after its instructions. */
static uintptr_t make_blob(struct fake_code *code, const char *name, uint32_t frame_words,
                           size_t code_bytes, size_t rest)
{
    const struct smp_layout *layout = &code->layout;
    const size_t bytes = CODE_AT + code_bytes + rest;
    const uintptr_t blob = take_block(code, bytes);

    put_word(blob, layout->blob.name, (uintptr_t)name);
    put_u32(blob, layout->blob.bytes, (uint32_t)bytes);
    put_u32(blob, layout->blob.frame_words, frame_words);
    if (layout->blob.frame_complete_short != 0)
        put_u16(blob, layout->blob.frame_complete_short, 12);
    else
        put_u32(blob, layout->blob.frame_complete, 12);
    if (layout->blob.code_start != 0) {
        put_word(blob, layout->blob.code_start, blob + CODE_AT);
        put_word(blob, layout->blob.code_end, blob + CODE_AT + code_bytes);
    } else {
        put_u32(blob, layout->blob.code_start_offset, CODE_AT);
        put_u32(blob, layout->blob.code_end_offset, (uint32_t)(CODE_AT + code_bytes));
    }
    return blob;
}

static void set_static(struct fake_code *code, const char *type, const char *name, uintptr_t *to)
{
    fake_libjvm_entry(code->libjvm, type, name)->value = (uintptr_t)to;
}

static void make_heap(struct fake_code *code)
{
    const struct smp_layout *layout = &code->layout;
    const uintptr_t list = (uintptr_t)piece(code, OBJECT_BYTES);
    uintptr_t *elements = piece(code, sizeof(uintptr_t));
    const uintptr_t heap = (uintptr_t)piece(code, OBJECT_BYTES);
    const size_t segments = HEAP_BYTES / SEGMENT_BYTES;

    code->heap = piece(code, HEAP_BYTES);
    code->map = piece(code, segments);
    memset(code->map, FREE_SEGMENT, segments);
    *elements = heap;
    put_u32(list, layout->heap.length, 1);
    put_word(list, layout->heap.data, (uintptr_t)elements);
    put_word(heap, layout->heap.memory + layout->heap.low, (uintptr_t)code->heap);
    put_word(heap, layout->heap.memory + layout->heap.high, (uintptr_t)code->heap + HEAP_BYTES);
    put_word(heap, layout->heap.map + layout->heap.low, (uintptr_t)code->map);
    put_word(heap, layout->heap.map + layout->heap.high, (uintptr_t)code->map + segments);
    put_u32(heap, layout->heap.shift, SEGMENT_SHIFT);
    code->heaps = list;
}

struct fake_code *fake_code_create(int version)
{
    struct fake_code *code = calloc(1, sizeof(*code));
    struct smp_exports exports;
    char reason[SMP_LAYOUT_REASON_BYTES];
    uintptr_t blob = 0;
    uintptr_t queue = 0;

    assert_non_null(code);
    /* In another code heap, the same addresses and compile ids mean other methods. */
    smp_code_copies_empty();
    smp_method_table_empty();
    code->libjvm = fake_libjvm_create(version);
    set_static(code, "CodeCache", "_heaps", &code->heaps);
    set_static(code, "AbstractInterpreter", "_code", &code->interpreter);
    set_static(code, "StubRoutines", "_call_stub_return_address", &code->entry_pc);
    exports = fake_libjvm_exports(code->libjvm);
    assert_true(smp_layout_find(&exports, version, &code->layout, reason));
    make_heap(code);

    blob = make_blob(code, "Interpreter", 0, 4 * FAKE_CODE_BYTES, 0);
    code->interpreter_code = blob + CODE_AT;
    queue = (uintptr_t)piece(code, OBJECT_BYTES);
    put_word(queue, code->layout.interpreter.start, code->interpreter_code);
    put_u32(queue, code->layout.interpreter.bytes, 4 * FAKE_CODE_BYTES);
    code->interpreter = queue;
    blob = make_blob(code, "StubRoutines (initial stubs)", 0, FAKE_CODE_BYTES, 0);
    code->entry_pc = blob + CODE_AT + 40;

    code->stack = calloc(STACK_WORDS, sizeof(uintptr_t));
    assert_non_null(code->stack);
    fake_stack_begin(code);
    return code;
}

void fake_code_destroy(struct fake_code *code)
{
    for (size_t i = 0; i < code->piece_count; i++)
        free(code->pieces[i]);
    fake_libjvm_destroy(code->libjvm);
    free(code->stack);
    free(code);
}

const struct smp_layout *fake_code_layout(const struct fake_code *code)
{
    return &code->layout;
}

/* --------------------------------------------------------------------------------- the methods */

static uintptr_t make_symbol(struct fake_code *code, const char *text)
{
    const struct smp_layout *layout = &code->layout;
    const size_t length = strlen(text);
    const uintptr_t symbol = (uintptr_t)piece(code, layout->symbol.body + length);

    put_u16(symbol, layout->symbol.length, (uint16_t)length);
    put(symbol, layout->symbol.body, text, length);
    return symbol;
}

static uintptr_t make_pool(struct fake_code *code, uintptr_t class_name, uintptr_t name)
{
    const struct smp_layout *layout = &code->layout;
    const uintptr_t pool =
        (uintptr_t)piece(code, layout->pool.bytes + POOL_LENGTH * sizeof(uintptr_t));
    const uintptr_t klass = (uintptr_t)piece(code, OBJECT_BYTES);
    const uintptr_t tags = (uintptr_t)piece(code, sizeof(uint32_t) + POOL_LENGTH);

    put_u32(tags, 0, POOL_LENGTH);
    put_u32(pool, layout->pool.length, POOL_LENGTH);
    put_word(pool, layout->pool.tags, tags);
    put_word(pool, layout->pool.holder, klass);
    put_word(pool, layout->pool.bytes + NAME_INDEX * (uint32_t)sizeof(uintptr_t), name);
    put_word(klass, layout->klass.name, class_name);
    return pool;
}

struct smp_exports fake_code_exports(struct fake_code *code)
{
    return fake_libjvm_exports(code->libjvm);
}

uintptr_t fake_code_method(struct fake_code *code, const char *class_name, const char *name,
                           uint64_t id)
{
    const struct smp_layout *layout = &code->layout;
    const uintptr_t method = (uintptr_t)piece(code, layout->method.bytes);
    const size_t words =
        (layout->const_method.bytes + FAKE_BYTE_CODES + FAKE_LINE_BYTES) / sizeof(uintptr_t) + 1;
    const uintptr_t const_method = (uintptr_t)piece(code, words * sizeof(uintptr_t));
    const uintptr_t pool = make_pool(code, make_symbol(code, class_name), make_symbol(code, name));

    put_word(method, layout->method.const_method, const_method);
    put_u32(const_method, layout->const_method.words, (uint32_t)words);
    put_word(const_method, layout->const_method.pool, pool);
    put_u16(const_method, layout->const_method.code_bytes, FAKE_BYTE_CODES);
    put_u16(const_method, layout->const_method.name, NAME_INDEX);
    put_u16(const_method, layout->const_method.number, NUMBER);
    if (id != 0)
        fake_code_set_id(code, method, id);
    return method;
}

void fake_code_set_file(struct fake_code *code, uintptr_t method, const char *file)
{
    const struct smp_layout *layout = &code->layout;
    const uintptr_t const_method = get_word(method, layout->method.const_method);
    const uintptr_t pool = get_word(const_method, layout->const_method.pool);

    put_word(pool, layout->pool.bytes + FILE_INDEX * (uint32_t)sizeof(uintptr_t),
             make_symbol(code, file));
    put_u16(pool, layout->pool.source_file, FILE_INDEX);
}

static size_t encode_signed(uint32_t base, int32_t value, uint8_t *out)
{
    uint32_t rest = value < 0 ? (~(uint32_t)value << 1) + 1 : (uint32_t)value << 1;
    size_t used = 0;

    for (int i = 0; i < 4 && rest >= LIMIT - base; i++) {
        rest -= LIMIT - base;
        out[used++] = (uint8_t)(LIMIT + rest % 64);
        rest /= 64;
    }
    out[used++] = (uint8_t)(rest + base);
    return used;
}

size_t fake_code_encode_lines(uint32_t base, const struct smp_line *lines, size_t count,
                              uint8_t *out, size_t room)
{
    struct smp_line last = { 0 };
    size_t used = 0;

    for (size_t i = 0; i < count; i++) {
        const int32_t codes = lines[i].start_bci - last.start_bci;
        const int32_t more = lines[i].line - last.line;
        assert_true(used + 12 < room);
        last = lines[i];
        if (codes == 0 && more == 0)
            continue;
        if (codes >= 0 && codes < 32 && more >= 0 && more < 8 && (codes != 31 || more != 7)) {
            out[used++] = (uint8_t)(codes * 8 + more);
            continue;
        }
        out[used++] = 255;
        used += encode_signed(base, codes, out + used);
        used += encode_signed(base, more, out + used);
    }
    out[used++] = 0;
    return used;
}

void fake_code_set_lines(struct fake_code *code, uintptr_t method, const struct smp_line *lines,
                         size_t count)
{
    const struct smp_layout *layout = &code->layout;
    const uintptr_t const_method = get_word(method, layout->method.const_method);
    uint8_t *to = (uint8_t *)(const_method + layout->const_method.bytes + FAKE_BYTE_CODES);

    (void)fake_code_encode_lines(layout->compressed_base, lines, count, to, FAKE_LINE_BYTES);
    put_u16(const_method, layout->const_method.flags, SMP_LAYOUT_HAS_LINES);
}

void fake_code_set_native(struct fake_code *code, uintptr_t method)
{
    put_u16(method, code->layout.method.flags, NATIVE_FLAG);
}

void fake_code_set_id(struct fake_code *code, uintptr_t method, uint64_t id)
{
    const struct smp_layout *layout = &code->layout;
    const uintptr_t const_method = get_word(method, layout->method.const_method);
    const uintptr_t pool = get_word(const_method, layout->const_method.pool);
    uintptr_t *ids = piece(code, (IDS + 1) * sizeof(uintptr_t));

    ids[0] = IDS;
    ids[NUMBER + 1] = id;
    put_word(get_word(pool, layout->pool.holder), layout->klass.ids, (uintptr_t)ids);
}

uintptr_t fake_code_bcp(struct fake_code *code, uintptr_t method, int32_t bci)
{
    return get_word(method, code->layout.method.const_method) + code->layout.const_method.bytes +
           (uintptr_t)bci;
}

/* ---------------------------------------------------------------------------- the compiled code */

struct encoder {
    uint32_t base;
    uint8_t *bytes;
    size_t used;
    uintptr_t methods[DEBUG_BYTES / 64];
    size_t method_count;
};

static void encode(struct encoder *to, uint32_t value)
{
    for (int i = 0; i < 4 && value >= LIMIT - to->base; i++) {
        value -= LIMIT - to->base;
        to->bytes[to->used++] = (uint8_t)(LIMIT + value % 64);
        value /= 64;
    }
    to->bytes[to->used++] = (uint8_t)(value + to->base);
    assert_true(to->used + 16 < DEBUG_BYTES);
}

static uint32_t index_of(struct encoder *to, uintptr_t method)
{
    for (size_t i = 0; i < to->method_count; i++) {
        if (to->methods[i] == method)
            return (uint32_t)i + 1;
    }
    to->methods[to->method_count++] = method;
    assert_true(to->method_count < sizeof(to->methods) / sizeof(to->methods[0]));
    return (uint32_t)to->method_count;
}

/* Encodes the scopes from the outermost frame in. Returns the offset of the innermost scope. */
static uint32_t encode_scopes(struct encoder *to, const struct fake_record *record)
{
    uint32_t caller = 0;

    for (size_t i = record->count; i-- > 0;) {
        const uint32_t at = (uint32_t)to->used;
        encode(to, caller);
        encode(to, index_of(to, record->frames[i].method));
        encode(to, (uint32_t)(record->frames[i].bci + 1));
        encode(to, 0); /* no locals, expressions or monitors */
        encode(to, 0);
        encode(to, 0);
        caller = at;
    }
    return caller;
}

static void write_record(uint8_t *records, size_t index, const struct smp_layout *layout,
                         int32_t pc, uint32_t scope)
{
    const uintptr_t record = (uintptr_t)(records + index * RECORD_BYTES);

    put_u32(record, layout->pc_record.pc, (uint32_t)pc);
    put_u32(record, layout->pc_record.scope, scope);
}

/* HotSpot also writes a record before the first pc and one after the last pc; the latter belongs
 * to no instruction. */
static void encode_records(struct encoder *to, const struct smp_layout *layout, uint8_t *out,
                           const struct fake_record *records, size_t count)
{
    to->used = 1; /* offset 0 means "no scope" */
    write_record(out, 0, layout, -1, 0);
    for (size_t i = 0; i < count; i++)
        write_record(out, i + 1, layout, records[i].pc, encode_scopes(to, &records[i]));
    write_record(out, count + 1, layout, FAKE_CODE_BYTES + 1, 0);
}

static void set_method(struct fake_code *code, uintptr_t blob, uintptr_t method)
{
    const struct smp_layout *layout = &code->layout;

    put_word(blob, layout->nmethod.method, method);
    put_u32(blob, layout->nmethod.compile_id, ++code->next_id);
    put_u32(blob, layout->nmethod.original_pc, FAKE_ORIGINAL_PC);
    if (layout->nmethod.deopt != 0) {
        put_word(blob, layout->nmethod.deopt, blob + CODE_AT + FAKE_DEOPT_OFFSET);
        put_word(blob, layout->nmethod.deopt_mh, blob + CODE_AT + FAKE_DEOPT_MH_OFFSET);
    } else {
        put_u32(blob, layout->nmethod.deopt_offset, CODE_AT + FAKE_DEOPT_OFFSET);
        put_u32(blob, layout->nmethod.deopt_mh_offset, CODE_AT + FAKE_DEOPT_MH_OFFSET);
    }
}

/* Writes metadata, scopes and records behind the instructions. */
static uintptr_t compile_inside(struct fake_code *code, const struct encoder *from,
                                const uint8_t *records, size_t record_bytes, uint32_t frame_words)
{
    const struct smp_layout *layout = &code->layout;
    const size_t metadata_bytes = from->method_count * sizeof(uintptr_t);
    const size_t scope_bytes = (from->used + 7) / 8 * 8;
    const uintptr_t blob = make_blob(code, "nmethod", frame_words, FAKE_CODE_BYTES,
                                     metadata_bytes + scope_bytes + record_bytes);
    const uint32_t metadata = CODE_AT + FAKE_CODE_BYTES;
    const uint32_t scopes = metadata + (uint32_t)metadata_bytes;
    const uint32_t pcs = scopes + (uint32_t)scope_bytes;

    put(blob, metadata, from->methods, metadata_bytes);
    put(blob, scopes, from->bytes, from->used);
    put(blob, pcs, records, record_bytes);
    put_u32(blob, layout->nmethod.metadata, metadata);
    put_word(blob, layout->nmethod.scopes, blob + scopes);
    put_u32(blob, layout->nmethod.scopes_end, pcs);
    put_u32(blob, layout->nmethod.pcs_end, pcs + (uint32_t)record_bytes);
    return blob;
}

static uintptr_t compile_outside(struct fake_code *code, const struct encoder *from,
                                 const uint8_t *records, size_t record_bytes, uint32_t frame_words)
{
    enum { BEFORE = 24, RELOCATION = 40 };
    const struct smp_layout *layout = &code->layout;
    const uintptr_t blob = make_blob(code, "nmethod", frame_words, FAKE_CODE_BYTES, 0);
    const size_t metadata_bytes = from->method_count * sizeof(uintptr_t);
    const size_t bytes = BEFORE + record_bytes + from->used;
    const uintptr_t data = (uintptr_t)piece(code, bytes);
    const uintptr_t mutable_data = (uintptr_t)piece(code, RELOCATION + metadata_bytes);

    put(data, BEFORE, records, record_bytes);
    put(data, BEFORE + (uint32_t)record_bytes, from->bytes, from->used);
    put(mutable_data, RELOCATION, from->methods, metadata_bytes);
    put_word(blob, layout->nmethod.outside, data);
    put_u32(blob, layout->nmethod.outside_bytes, (uint32_t)bytes);
    put_u32(blob, layout->nmethod.outside_pcs, BEFORE);
    put_u32(blob, layout->nmethod.outside_scopes, BEFORE + (uint32_t)record_bytes);
    put_word(blob, layout->nmethod.mutable_data, mutable_data);
    put_u32(blob, layout->nmethod.mutable_bytes, (uint32_t)(RELOCATION + metadata_bytes));
    put_u32(blob, layout->nmethod.relocation_bytes, RELOCATION);
    return blob;
}

uintptr_t fake_code_compile(struct fake_code *code, uintptr_t method, uint32_t frame_words,
                            const struct fake_record *records, size_t count)
{
    struct encoder *to = calloc(1, sizeof(*to));
    const size_t record_bytes = (count + 2) * RECORD_BYTES;
    uint8_t *encoded = calloc(1, record_bytes);
    uintptr_t blob = 0;

    assert_non_null(to);
    assert_non_null(encoded);
    to->base = code->layout.compressed_base;
    to->bytes = calloc(1, DEBUG_BYTES);
    assert_non_null(to->bytes);
    encode_records(to, &code->layout, encoded, records, count);
    blob = code->layout.nmethod.outside != 0
               ? compile_outside(code, to, encoded, record_bytes, frame_words)
               : compile_inside(code, to, encoded, record_bytes, frame_words);
    set_method(code, blob, method);
    free(to->bytes);
    free(encoded);
    free(to);
    return blob + CODE_AT;
}

uintptr_t fake_code_native(struct fake_code *code, uintptr_t method, uint32_t frame_words)
{
    const uintptr_t blob = make_blob(code, "native nmethod", frame_words, FAKE_CODE_BYTES, 0);

    set_method(code, blob, method);
    return blob + CODE_AT;
}

uintptr_t fake_code_stub(struct fake_code *code, const char *name, uint32_t frame_words)
{
    return make_blob(code, name, frame_words, FAKE_CODE_BYTES, 0) + CODE_AT;
}

uintptr_t fake_code_upcall(struct fake_code *code, uint32_t frame_words)
{
    const uintptr_t blob = make_blob(code, "upcall_stub", frame_words, FAKE_CODE_BYTES, 0);

    assert_true(code->layout.upcall.is_known);
    *((char *)blob + code->layout.blob.kind) = UPCALL_KIND;
    put_u32(blob, code->layout.upcall.anchor, FAKE_UPCALL_DATA);
    return blob + CODE_AT;
}

uintptr_t fake_code_interpreter(const struct fake_code *code)
{
    return code->interpreter_code;
}

uintptr_t fake_code_blob(const struct fake_code *code, uintptr_t pc)
{
    struct smp_blob blob;

    assert_true(smp_blob_find(&code->layout, pc, &blob));
    return blob.start;
}

void fake_code_set_compile_id(struct fake_code *code, uintptr_t pc, uint32_t id)
{
    put_u32(fake_code_blob(code, pc), code->layout.nmethod.compile_id, id);
}

uint8_t *fake_code_heap(struct fake_code *code, size_t *bytes)
{
    *bytes = code->used;
    return code->heap;
}

uint8_t *fake_code_segment_map(struct fake_code *code, size_t *bytes)
{
    *bytes = code->used / SEGMENT_BYTES;
    return code->map;
}

/* ----------------------------------------------------------------------------------- the stack */

static void poke(uintptr_t address, uintptr_t value)
{
    memcpy((void *)address, &value, sizeof(value));
}

static uintptr_t slot(uintptr_t base, int words)
{
    return base + (uintptr_t)(words * (int)sizeof(uintptr_t));
}

void fake_stack_begin(struct fake_code *code)
{
    memset(code->stack, 0, STACK_WORDS * sizeof(uintptr_t));
    code->top = (struct smp_frames_start){ .sp = fake_stack_high(code) };
}

static void put_anchor(struct fake_code *code, uintptr_t anchor)
{
    const bool is_first = code->top.pc == 0;

    poke(anchor + code->layout.anchor.sp, is_first ? 0 : code->top.sp);
    poke(anchor + code->layout.anchor.fp, is_first ? 0 : code->top.fp);
    poke(anchor + code->layout.anchor.pc, is_first ? 0 : code->top.pc);
}

void fake_stack_enter(struct fake_code *code)
{
    const uintptr_t wrapper = slot(code->top.sp, -16) - WRAPPER_BYTES;
    const uintptr_t fp = slot(wrapper, -8);

    put_anchor(code, wrapper + code->layout.entry.anchor);
    poke(slot(fp, SMP_SLOT_CALL_WRAPPER), wrapper);
    code->top =
        (struct smp_frames_start){ .sp = slot(fp, -ENTRY_WORDS), .fp = fp, .pc = code->entry_pc };
}

/* Pushes the return address of a frame of this size and its caller's frame pointer. */
static void push_frame(struct fake_code *code, uintptr_t pc, uint32_t bytes)
{
    poke(slot(code->top.sp, -1), code->top.pc);
    poke(slot(code->top.sp, -2), code->top.fp);
    code->top.sp -= bytes;
    code->top.fp = 0x5a5a5a5a; /* compiled code uses the frame pointer as a general register */
    code->top.pc = pc;
}

void fake_stack_compiled(struct fake_code *code, uintptr_t pc)
{
    struct smp_blob blob;

    assert_true(smp_blob_find(&code->layout, pc, &blob));
    push_frame(code, pc, blob.frame_bytes);
}

void fake_stack_larger(struct fake_code *code, uintptr_t pc, uint32_t extra_words)
{
    const uint32_t extra = extra_words * (uint32_t)sizeof(uintptr_t);
    struct smp_blob blob;

    assert_true(smp_blob_find(&code->layout, pc, &blob));
    push_frame(code, pc, blob.frame_bytes + extra);
    poke(code->top.sp + blob.frame_bytes - 3 * sizeof(uintptr_t),
         blob.frame_bytes + extra - 2 * sizeof(uintptr_t));
}

void fake_stack_interpreted(struct fake_code *code, uintptr_t method, int32_t bci,
                            uint32_t extra_words)
{
    const uintptr_t fp = slot(code->top.sp, -2 - (int)extra_words);

    poke(slot(fp, SMP_SLOT_RETURN), code->top.pc);
    poke(slot(fp, SMP_SLOT_CALLER_FP), code->top.fp);
    poke(slot(fp, SMP_SLOT_SENDER_SP), code->top.sp);
    poke(slot(fp, SMP_SLOT_METHOD), method);
    poke(slot(fp, SMP_SLOT_BCP), bci < 0 ? 0 : fake_code_bcp(code, method, bci));
    code->top = (struct smp_frames_start){ .sp = slot(fp, -INTERPRETED_WORDS),
                                           .fp = fp,
                                           .pc = code->interpreter_code + 100 };
}

void fake_stack_upcall(struct fake_code *code, uintptr_t pc)
{
    const struct smp_frames_start caller = code->top;
    struct smp_blob blob;

    assert_true(smp_blob_find(&code->layout, pc, &blob));
    code->top.sp -= blob.frame_bytes + 32 * sizeof(uintptr_t); /* a native frame in between */
    poke(code->top.sp + FAKE_UPCALL_DATA + code->layout.upcall.frame_anchor +
             code->layout.anchor.sp,
         caller.pc == 0 ? 0 : caller.sp);
    poke(code->top.sp + FAKE_UPCALL_DATA + code->layout.upcall.frame_anchor +
             code->layout.anchor.fp,
         caller.fp);
    poke(code->top.sp + FAKE_UPCALL_DATA + code->layout.upcall.frame_anchor +
             code->layout.anchor.pc,
         caller.pc);
    code->top.fp = 0;
    code->top.pc = pc;
}

void fake_stack_deoptimise(struct fake_code *code, bool is_method_handle)
{
    const uintptr_t start = fake_code_blob(code, code->top.pc) + CODE_AT;

    poke(code->top.sp + FAKE_ORIGINAL_PC, code->top.pc);
    code->top.pc = start + (is_method_handle ? FAKE_DEOPT_MH_OFFSET : FAKE_DEOPT_OFFSET);
}

void fake_stack_leave(struct fake_code *code, uint32_t words)
{
    code->top.sp -= words * sizeof(uintptr_t);
}

struct smp_frames_start fake_stack_start(const struct fake_code *code)
{
    return code->top;
}

uintptr_t fake_stack_high(const struct fake_code *code)
{
    return (uintptr_t)(code->stack + STACK_WORDS);
}

uintptr_t *fake_stack_words(struct fake_code *code, size_t *count)
{
    *count = (fake_stack_high(code) - code->top.sp) / sizeof(uintptr_t);
    return (uintptr_t *)code->top.sp;
}

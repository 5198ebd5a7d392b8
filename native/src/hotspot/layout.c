/* SPDX-License-Identifier: Apache-2.0 */
#include "hotspot/layout.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "hotspot/machine_code.h"
#include "hotspot/safepoint_count.h"

enum {
    FIRST_COMPRESSED_BASE_1 = 20, /* JDK-8292758: no byte of a compressed number is 0 any more */
    PC_RECORD_BYTES = 16,
    PERCENT = 100
};

/*
 * The subject of a row. JDKs keep some subjects in different ways; the first complete way is used.
 */
enum topic {
    ALWAYS,
    BLOB_BOUNDS,
    FRAME_COMPLETE,
    CODE_METHOD,
    DEBUG_DATA,
    DEOPT,
    LINES,
    TOPIC_COUNT,
    UPCALLS = TOPIC_COUNT, /* from here on: not required */
    BARRIER,
    INSTALLED,
    ALL_TOPICS
};

enum row_kind { FIELD, STATIC, SIZE, CONSTANT };

struct row {
    enum topic topic;
    int way; /* 0, 1, ... within its topic */
    enum row_kind kind;
    size_t member;    /* offset in struct smp_layout; SIZE_MAX: a constant that is only checked */
    const char *type; /* or a constant's name */
    const char *name; /* of a field */
    const char *expected; /* type string of a field */
    int32_t value;        /* the expected one of a checked constant */
    uint32_t alignment;   /* of a field */
};

#define AT(member) offsetof(struct smp_layout, member)
#define ROW_FIELD(topic_, way_, member_, type_, name_, expected_, alignment_)                   \
    {                                                                                           \
        .topic = (topic_), .way = (way_), .kind = FIELD, .member = AT(member_), .type = #type_, \
        .name = #name_, .expected = (expected_), .alignment = (alignment_)                      \
    }
#define ROW_STATIC(topic_, member_, type_, name_, expected_)                                      \
    {                                                                                             \
        .topic = (topic_), .kind = STATIC, .member = AT(member_), .type = #type_, .name = #name_, \
        .expected = (expected_), .alignment = 8                                                   \
    }
#define ROW_SIZE(topic_, member_, type_)                                                       \
    {                                                                                          \
        .topic = (topic_), .kind = SIZE, .member = AT(member_), .type = #type_, .alignment = 8 \
    }
#define ROW_CONSTANT(topic_, member_, name_)                                        \
    {                                                                               \
        .topic = (topic_), .kind = CONSTANT, .member = AT(member_), .type = (name_) \
    }
#define ROW_CHECKED(topic_, way_, name_, value_)                                                 \
    {                                                                                            \
        .topic = (topic_), .way = (way_), .kind = CONSTANT, .member = SIZE_MAX, .type = (name_), \
        .value = (value_)                                                                        \
    }

static const struct row rows[] = {
    ROW_FIELD(ALWAYS, 0, thread.anchor, JavaThread, _anchor, "JavaFrameAnchor", 8),
    ROW_FIELD(ALWAYS, 0, thread.state, JavaThread, _thread_state, "JavaThreadState", 4),
    ROW_CONSTANT(ALWAYS, states.in_native, "_thread_in_native"),
    ROW_CONSTANT(ALWAYS, states.in_vm, "_thread_in_vm"),
    ROW_CONSTANT(ALWAYS, states.in_java, "_thread_in_Java"),
    ROW_CONSTANT(ALWAYS, states.blocked, "_thread_blocked"),
    ROW_FIELD(ALWAYS, 0, anchor.sp, JavaFrameAnchor, _last_Java_sp, "intptr_t*", 8),
    ROW_FIELD(ALWAYS, 0, anchor.pc, JavaFrameAnchor, _last_Java_pc, "address", 8),
    ROW_FIELD(ALWAYS, 0, anchor.fp, JavaFrameAnchor, _last_Java_fp, "intptr_t*", 8),
    ROW_STATIC(ALWAYS, entry.return_pc, StubRoutines, _call_stub_return_address, "address"),
    ROW_FIELD(ALWAYS, 0, entry.anchor, JavaCallWrapper, _anchor, "JavaFrameAnchor", 8),

    ROW_STATIC(ALWAYS, heap.list, CodeCache, _heaps, "GrowableArray<CodeHeap*>*"),
    ROW_FIELD(ALWAYS, 0, heap.length, GrowableArrayBase, _len, "int", 4),
    ROW_FIELD(ALWAYS, 0, heap.data, GrowableArray<int>, _data, "int*", 8),
    ROW_FIELD(ALWAYS, 0, heap.memory, CodeHeap, _memory, "VirtualSpace", 8),
    ROW_FIELD(ALWAYS, 0, heap.map, CodeHeap, _segmap, "VirtualSpace", 8),
    ROW_FIELD(ALWAYS, 0, heap.shift, CodeHeap, _log2_segment_size, "int", 4),
    ROW_FIELD(ALWAYS, 0, heap.low, VirtualSpace, _low, "char*", 8),
    ROW_FIELD(ALWAYS, 0, heap.high, VirtualSpace, _high, "char*", 8),
    ROW_SIZE(ALWAYS, heap.block_bytes, HeapBlock),
    ROW_FIELD(ALWAYS, 0, heap.block_used, HeapBlock::Header, _used, "bool", 1),

    ROW_FIELD(ALWAYS, 0, blob.name, CodeBlob, _name, "const char*", 8),
    ROW_FIELD(ALWAYS, 0, blob.bytes, CodeBlob, _size, "int", 4),
    ROW_FIELD(ALWAYS, 0, blob.frame_words, CodeBlob, _frame_size, "int", 4),
    ROW_FIELD(FRAME_COMPLETE, 0, blob.frame_complete_short, CodeBlob, _frame_complete_offset,
              "int16_t", 2),
    ROW_FIELD(FRAME_COMPLETE, 1, blob.frame_complete, CodeBlob, _frame_complete_offset, "int", 4),
    ROW_FIELD(BLOB_BOUNDS, 0, blob.code_start, CodeBlob, _code_begin, "address", 8),
    ROW_FIELD(BLOB_BOUNDS, 0, blob.code_end, CodeBlob, _code_end, "address", 8),
    ROW_FIELD(BLOB_BOUNDS, 1, blob.code_start_offset, CodeBlob, _code_offset, "int", 4),
    ROW_FIELD(BLOB_BOUNDS, 1, blob.code_end_offset, CodeBlob, _data_offset, "int", 4),

    ROW_FIELD(CODE_METHOD, 0, nmethod.method, CompiledMethod, _method, "Method*", 8),
    ROW_FIELD(CODE_METHOD, 1, nmethod.method, nmethod, _method, "Method*", 8),
    ROW_FIELD(ALWAYS, 0, nmethod.compile_id, nmethod, _compile_id, "int", 4),
    ROW_FIELD(ALWAYS, 0, nmethod.original_pc, nmethod, _orig_pc_offset, "int", 4),
    ROW_FIELD(DEBUG_DATA, 0, nmethod.scopes, CompiledMethod, _scopes_data_begin, "address", 8),
    ROW_FIELD(DEBUG_DATA, 0, nmethod.scopes_end, nmethod, _scopes_pcs_offset, "int", 4),
    ROW_FIELD(DEBUG_DATA, 0, nmethod.pcs_end, nmethod, _dependencies_offset, "int", 4),
    ROW_FIELD(DEBUG_DATA, 0, nmethod.metadata, nmethod, _metadata_offset, "int", 4),
    ROW_FIELD(DEBUG_DATA, 1, nmethod.outside, nmethod, _immutable_data, "address", 8),
    ROW_FIELD(DEBUG_DATA, 1, nmethod.outside_bytes, nmethod, _immutable_data_size, "int", 4),
    ROW_FIELD(DEBUG_DATA, 1, nmethod.outside_pcs, nmethod, _scopes_pcs_offset, "int", 4),
    ROW_FIELD(DEBUG_DATA, 1, nmethod.outside_scopes, nmethod, _scopes_data_offset, "int", 4),
    ROW_FIELD(DEBUG_DATA, 1, nmethod.mutable_data, CodeBlob, _mutable_data, "address", 8),
    ROW_FIELD(DEBUG_DATA, 1, nmethod.mutable_bytes, CodeBlob, _mutable_data_size, "int", 4),
    ROW_FIELD(DEBUG_DATA, 1, nmethod.relocation_bytes, CodeBlob, _relocation_size, "int", 4),
    ROW_FIELD(DEOPT, 0, nmethod.deopt, CompiledMethod, _deopt_handler_begin, "address", 8),
    ROW_FIELD(DEOPT, 0, nmethod.deopt_mh, CompiledMethod, _deopt_mh_handler_begin, "address", 8),
    ROW_FIELD(DEOPT, 1, nmethod.deopt_offset, nmethod, _deopt_handler_offset, "int", 4),
    ROW_FIELD(DEOPT, 1, nmethod.deopt_mh_offset, nmethod, _deopt_mh_handler_offset, "int", 4),
    ROW_FIELD(DEOPT, 2, nmethod.deopt_offset, nmethod, _deopt_handler_entry_offset, "int", 4),
    ROW_SIZE(ALWAYS, pc_record.bytes, PcDesc),
    ROW_FIELD(ALWAYS, 0, pc_record.pc, PcDesc, _pc_offset, "int", 4),
    ROW_FIELD(ALWAYS, 0, pc_record.scope, PcDesc, _scope_decode_offset, "int", 4),

    ROW_STATIC(ALWAYS, interpreter.code, AbstractInterpreter, _code, "StubQueue*"),
    ROW_FIELD(ALWAYS, 0, interpreter.start, StubQueue, _stub_buffer, "address", 8),
    ROW_FIELD(ALWAYS, 0, interpreter.bytes, StubQueue, _buffer_limit, "int", 4),
    ROW_CHECKED(ALWAYS, 0, "frame::interpreter_frame_sender_sp_offset", SMP_SLOT_SENDER_SP),
    ROW_CHECKED(ALWAYS, 0, "frame::entry_frame_call_wrapper_offset", SMP_SLOT_CALL_WRAPPER),

    ROW_SIZE(ALWAYS, method.bytes, Method),
    ROW_FIELD(ALWAYS, 0, method.const_method, Method, _constMethod, "ConstMethod*", 8),
    ROW_FIELD(ALWAYS, 0, method.flags, Method, _access_flags, "AccessFlags", 2),
    ROW_SIZE(ALWAYS, const_method.bytes, ConstMethod),
    ROW_FIELD(ALWAYS, 0, const_method.words, ConstMethod, _constMethod_size, "int", 4),
    ROW_FIELD(ALWAYS, 0, const_method.pool, ConstMethod, _constants, "ConstantPool*", 8),
    ROW_FIELD(ALWAYS, 0, const_method.code_bytes, ConstMethod, _code_size, "u2", 2),
    ROW_FIELD(ALWAYS, 0, const_method.name, ConstMethod, _name_index, "u2", 2),
    ROW_FIELD(ALWAYS, 0, const_method.number, ConstMethod, _method_idnum, "u2", 2),
    ROW_FIELD(LINES, 0, const_method.flags, ConstMethod, _flags._flags, "u4", 2),
    ROW_CHECKED(LINES, 0, "ConstMethodFlags::_misc_has_linenumber_table", SMP_LAYOUT_HAS_LINES),
    ROW_FIELD(LINES, 1, const_method.flags, ConstMethod, _flags, "u2", 2),
    ROW_CHECKED(LINES, 1, "ConstMethod::_has_linenumber_table", SMP_LAYOUT_HAS_LINES),
    ROW_SIZE(ALWAYS, pool.bytes, ConstantPool),
    ROW_FIELD(ALWAYS, 0, pool.length, ConstantPool, _length, "int", 4),
    ROW_FIELD(ALWAYS, 0, pool.tags, ConstantPool, _tags, "Array<u1>*", 8),
    ROW_FIELD(ALWAYS, 0, pool.source_file, ConstantPool, _source_file_name_index, "u2", 2),
    ROW_FIELD(ALWAYS, 0, pool.holder, ConstantPool, _pool_holder, "InstanceKlass*", 8),
    ROW_FIELD(ALWAYS, 0, klass.name, Klass, _name, "Symbol*", 8),
    ROW_FIELD(ALWAYS, 0, klass.ids, InstanceKlass, _methods_jmethod_ids, "jmethodID*", 8),
    ROW_FIELD(ALWAYS, 0, symbol.length, Symbol, _length, "u2", 2),
    ROW_FIELD(ALWAYS, 0, symbol.body, Symbol, _body[0], "u1", 1),

    ROW_FIELD(UPCALLS, 0, blob.kind, CodeBlob, _kind, "CodeBlobKind", 1),
    ROW_FIELD(UPCALLS, 0, upcall.anchor, UpcallStub, _frame_data_offset, "ByteSize", 4),
    ROW_FIELD(UPCALLS, 0, upcall.frame_anchor, UpcallStub::FrameData, jfa, "JavaFrameAnchor", 8),
    ROW_CONSTANT(UPCALLS, upcall.kind, "CodeBlobKind::Upcall"),
    ROW_STATIC(BARRIER, barrier_pc, StubRoutines, _cont_returnBarrier, "address"),
    ROW_FIELD(INSTALLED, 0, nmethod.state, nmethod, _state, "volatile signed char", 1),
};

enum { ROW_COUNT = sizeof(rows) / sizeof(rows[0]) };

enum finding { MISSING, FOUND, OTHER_TYPE, ABSURD };

struct search {
    enum finding found[ROW_COUNT];
    uint64_t values[ROW_COUNT];
    const char *types[ROW_COUNT]; /* as in the list */
    enum row_kind of;             /* the kind of the entries being visited */
};

static bool is_same_text(const char *one, const char *other)
{
    return one != NULL && other != NULL && strcmp(one, other) == 0;
}

static enum finding judge(const struct row *row, const struct smp_export *entry)
{
    const bool is_field = row->kind == FIELD || row->kind == STATIC;

    if (is_field && !is_same_text(row->expected, entry->type_string))
        return OTHER_TYPE;
    if (row->kind == STATIC)
        return entry->value == 0 || entry->value % row->alignment != 0 ? ABSURD : FOUND;
    if (row->kind == CONSTANT && row->member == SIZE_MAX)
        return (int64_t)entry->value != row->value ? ABSURD : FOUND;
    return entry->value >= SMP_EXPORT_MAX_OFFSET ||
                   (row->kind != CONSTANT && entry->value % row->alignment != 0) ||
                   (row->kind == SIZE && entry->value == 0)
               ? ABSURD
               : FOUND;
}

static bool is_layout_entry(const struct row *row, const struct smp_export *entry)
{
    switch (row->kind) {
    case FIELD:
    case STATIC:
        return entry->is_static == (row->kind == STATIC) && is_same_text(row->type, entry->type) &&
               is_same_text(row->name, entry->name);
    case SIZE:
        return is_same_text(row->type, entry->type);
    default:
        return is_same_text(row->type, entry->name);
    }
}

static void visit_entry(void *self, const struct smp_export *entry)
{
    struct search *search = self;

    for (size_t i = 0; i < ROW_COUNT; i++) {
        const bool is_of_list =
            rows[i].kind == search->of || (search->of == FIELD && rows[i].kind == STATIC);
        if (is_of_list && is_layout_entry(&rows[i], entry)) {
            search->found[i] = judge(&rows[i], entry);
            search->values[i] = entry->value;
            search->types[i] = entry->type_string;
        }
    }
}

static bool run_search(const struct smp_exports *exports, struct search *search)
{
    search->of = FIELD;
    if (!smp_exports_visit(exports, SMP_EXPORT_FIELDS, visit_entry, search))
        return false;
    search->of = SIZE;
    if (!smp_exports_visit(exports, SMP_EXPORT_TYPES, visit_entry, search))
        return false;
    search->of = CONSTANT;
    return smp_exports_visit(exports, SMP_EXPORT_INT_CONSTANTS, visit_entry, search);
}

static void describe(const struct search *search, size_t i, char reason[SMP_LAYOUT_REASON_BYTES])
{
    static const char *const nouns[] = {
        [FIELD] = "field", [STATIC] = "static field", [SIZE] = "type", [CONSTANT] = "constant"
    };
    const struct row *row = &rows[i];
    const char *colons = row->name == NULL ? "" : "::";
    const char *name = row->name == NULL ? "" : row->name;

    if (search->found[i] == MISSING)
        (void)snprintf(reason, SMP_LAYOUT_REASON_BYTES, "no %s %s%s%s", nouns[row->kind], row->type,
                       colons, name);
    else if (search->found[i] == OTHER_TYPE)
        (void)snprintf(reason, SMP_LAYOUT_REASON_BYTES, "the %s %s%s%s is a %s, expected %s",
                       nouns[row->kind], row->type, colons, name,
                       search->types[i] == NULL ? "thing without a type" : search->types[i],
                       row->expected);
    else if (row->member == SIZE_MAX)
        (void)snprintf(reason, SMP_LAYOUT_REASON_BYTES,
                       "the constant %s is %" PRId64 ", expected %d", row->type,
                       (int64_t)search->values[i], (int)row->value);
    else
        (void)snprintf(reason, SMP_LAYOUT_REASON_BYTES,
                       "the %s %s%s%s is at %" PRIu64 ", which cannot be", nouns[row->kind],
                       row->type, colons, name, search->values[i]);
}

/* Returns whether this number only checks an export of libjvm that some processors lack. */
static bool is_dispensable(const struct search *search, size_t i)
{
    return rows[i].member == SIZE_MAX && search->found[i] == MISSING && !SMP_SLOTS_ARE_EXPORTED;
}

/*
 * Returns ROW_COUNT if the way is complete, else its first row that was not found as expected.
 * *percent: the share of rows that were found in any form.
 */
static size_t first_missing(const struct search *search, enum topic topic, int way, size_t *percent)
{
    size_t missing = ROW_COUNT;
    size_t all = 0;
    size_t seen = 0;

    for (size_t i = ROW_COUNT; i-- > 0;) {
        if (rows[i].topic != topic || rows[i].way != way)
            continue;
        all++;
        seen += search->found[i] == MISSING ? 0 : 1;
        if (search->found[i] != FOUND && !is_dispensable(search, i))
            missing = i;
    }
    *percent = all == 0 ? 0 : seen * PERCENT / all;
    return missing;
}

static void take_row(const struct search *search, size_t i, struct smp_layout *out)
{
    char *member = (char *)out + rows[i].member;
    const uint32_t narrow = (uint32_t)search->values[i];

    if (rows[i].member == SIZE_MAX)
        return;
    if (rows[i].kind == STATIC)
        memcpy(member, &search->values[i], sizeof(uintptr_t));
    else
        memcpy(member, &narrow, sizeof(narrow));
}

static void take_way(const struct search *search, enum topic topic, int way, struct smp_layout *out)
{
    for (size_t i = 0; i < ROW_COUNT; i++) {
        if (rows[i].topic == topic && rows[i].way == way)
            take_row(search, i, out);
    }
}

static int count_ways(enum topic topic)
{
    int count = 0;

    for (size_t i = 0; i < ROW_COUNT; i++) {
        if (rows[i].topic == topic && rows[i].way >= count)
            count = rows[i].way + 1;
    }
    return count;
}

/*
 * If no way of a topic is complete, the reason names the way with the most rows found; if none was
 * found, the newest way.
 */
static bool take_topic(const struct search *search, enum topic topic, struct smp_layout *out,
                       char reason[SMP_LAYOUT_REASON_BYTES])
{
    const int ways = count_ways(topic);
    size_t to_name = ROW_COUNT;
    size_t most = 0;

    for (int way = 0; way < ways; way++) {
        size_t percent = 0;
        const size_t missing = first_missing(search, topic, way, &percent);
        if (missing == ROW_COUNT) {
            take_way(search, topic, way, out);
            return true;
        }
        if (percent > most || most == 0) {
            to_name = missing;
            most = percent;
        }
    }
    if (reason != NULL && to_name < ROW_COUNT)
        describe(search, to_name, reason);
    return false;
}

static bool is_beyond(const struct search *search, size_t field, size_t type)
{
    return rows[field].kind == FIELD && rows[type].kind == SIZE && search->found[field] == FOUND &&
           search->found[type] == FOUND && is_same_text(rows[field].type, rows[type].type) &&
           search->values[field] + rows[field].alignment > search->values[type];
}

/* Objects are read in one piece, so each field must lie in its type. */
static bool are_fields_inside(const struct search *search, char reason[SMP_LAYOUT_REASON_BYTES])
{
    for (size_t i = 0; i < ROW_COUNT * ROW_COUNT; i++) {
        const size_t field = i / ROW_COUNT;
        const size_t type = i % ROW_COUNT;
        if (!is_beyond(search, field, type))
            continue;
        (void)snprintf(reason, SMP_LAYOUT_REASON_BYTES,
                       "the field %s::%s is at %" PRIu64 ", and its type has %" PRIu64 " bytes",
                       rows[field].type, rows[field].name, search->values[field],
                       search->values[type]);
        return false;
    }
    return true;
}

bool smp_layout_find(const struct smp_exports *exports, int version, struct smp_layout *out,
                     char reason[SMP_LAYOUT_REASON_BYTES])
{
    struct search search = { .of = FIELD };

    *out = (struct smp_layout){ .version = version };
    out->compressed_base = version >= FIRST_COMPRESSED_BASE_1 ? 1 : 0;
    reason[0] = 0;
    if (!run_search(exports, &search)) {
        (void)snprintf(reason, SMP_LAYOUT_REASON_BYTES, "libjvm does not export its fields");
        return false;
    }
    for (int topic = ALWAYS; topic < TOPIC_COUNT; topic++) {
        if (!take_topic(&search, (enum topic)topic, out, reason))
            return false;
    }
    if (out->pc_record.bytes != PC_RECORD_BYTES) {
        (void)snprintf(reason, SMP_LAYOUT_REASON_BYTES, "the type PcDesc has %u bytes, expected %d",
                       out->pc_record.bytes, PC_RECORD_BYTES);
        return false;
    }
    if (!are_fields_inside(&search, reason))
        return false;
    out->upcall.is_known = take_topic(&search, UPCALLS, out, NULL);
    (void)take_topic(&search, BARRIER, out, NULL);
    (void)take_topic(&search, INSTALLED, out, NULL);
    out->safepoints = smp_safepoint_count_find(exports);
    return true;
}

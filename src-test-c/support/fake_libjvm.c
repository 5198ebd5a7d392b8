/* SPDX-License-Identifier: Apache-2.0 */
#include "support/fake_libjvm.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Addresses of static fields are invented; a test may set real ones. */
/* Entries that are the same in all three JDKs. */
static const struct smp_export all_jdks[] = {
    { "ConstantPool", "_tags", "Array<u1>*", false, 8 },
    { "ConstantPool", "_pool_holder", "InstanceKlass*", false, 24 },
    { "ConstantPool", "_length", "int", false, 60 },
    { "ConstantPool", "_source_file_name_index", "u2", false, 54 },
    { "Klass", "_name", "Symbol*", false, 24 },
    { "Method", "_constMethod", "ConstMethod*", false, 8 },
    { "ConstMethod", "_constants", "ConstantPool*", false, 8 },
    { "ConstMethod", "_constMethod_size", "int", false, 24 },
    { "Symbol", "_length", "u2", false, 4 },
    { "Symbol", "_body[0]", "u1", false, 6 },
    { "VirtualSpace", "_low", "char*", false, 16 },
    { "VirtualSpace", "_high", "char*", false, 24 },
    { "GrowableArrayBase", "_len", "int", false, 0 },
    { "GrowableArray<int>", "_data", "int*", false, 8 },
    { "CodeCache", "_heaps", "GrowableArray<CodeHeap*>*", true, 0 },
    { "AbstractInterpreter", "_code", "StubQueue*", true, 0 },
    { "StubQueue", "_stub_buffer", "address", false, 8 },
    { "StubQueue", "_buffer_limit", "int", false, 20 },
    { "StubRoutines", "_call_stub_return_address", "address", true, 0 },
    { "PcDesc", "_pc_offset", "int", false, 0 },
    { "PcDesc", "_scope_decode_offset", "int", false, 4 },
    { "JavaCallWrapper", "_anchor", "JavaFrameAnchor", false, 32 },
    { "JavaFrameAnchor", "_last_Java_sp", "intptr_t*", false, 0 },
    { "JavaFrameAnchor", "_last_Java_pc", "address", false, 8 },
    { "JavaFrameAnchor", "_last_Java_fp", "intptr_t*", false, 16 },
    { "ConstantPool", NULL, NULL, false, 72 },
    { "Method", NULL, NULL, false, 88 },
    { "PcDesc", NULL, NULL, false, 16 },
#if defined(__x86_64__) /* other architectures do not export them */
    { NULL, "frame::entry_frame_call_wrapper_offset", NULL, false, (uint64_t)-6 },
    { NULL, "frame::interpreter_frame_sender_sp_offset", NULL, false, (uint64_t)-1 },
#endif
    { NULL, "_thread_in_native", NULL, false, 4 },
    { NULL, "_thread_in_vm", NULL, false, 6 },
    { NULL, "_thread_in_Java", NULL, false, 8 },
    { NULL, "_thread_blocked", NULL, false, 10 },
};

static const struct smp_export jdk_17[] = {
    { "InstanceKlass", "_methods_jmethod_ids", "jmethodID*", false, 344 },
    { "Method", "_access_flags", "AccessFlags", false, 40 },
    { "ConstMethod", "_flags", "u2", false, 28 },
    { "ConstMethod", "_code_size", "u2", false, 32 },
    { "ConstMethod", "_name_index", "u2", false, 34 },
    { "ConstMethod", "_method_idnum", "u2", false, 38 },
    { "CodeHeap", "_memory", "VirtualSpace", false, 8 },
    { "CodeHeap", "_segmap", "VirtualSpace", false, 120 },
    { "CodeHeap", "_log2_segment_size", "int", false, 256 },
    { "HeapBlock::Header", "_used", "bool", false, 8 },
    { "CodeBlob", "_name", "const char*", false, 96 },
    { "CodeBlob", "_size", "int", false, 12 },
    { "CodeBlob", "_frame_complete_offset", "int", false, 20 },
    { "CodeBlob", "_data_offset", "int", false, 24 },
    { "CodeBlob", "_frame_size", "int", false, 28 },
    { "CodeBlob", "_code_begin", "address", false, 32 },
    { "CodeBlob", "_code_end", "address", false, 40 },
    { "CompiledMethod", "_method", "Method*", false, 112 },
    { "CompiledMethod", "_scopes_data_begin", "address", false, 120 },
    { "CompiledMethod", "_deopt_handler_begin", "address", false, 128 },
    { "CompiledMethod", "_deopt_mh_handler_begin", "address", false, 136 },
    { "nmethod", "_orig_pc_offset", "int", false, 300 },
    { "nmethod", "_state", "volatile signed char", false, 315 },
    { "nmethod", "_metadata_offset", "int", false, 260 },
    { "nmethod", "_scopes_pcs_offset", "int", false, 268 },
    { "nmethod", "_dependencies_offset", "int", false, 272 },
    { "nmethod", "_compile_id", "int", false, 304 },
    { "JavaThread", "_anchor", "JavaFrameAnchor", false, 656 },
    { "JavaThread", "_thread_state", "JavaThreadState", false, 824 },
    { "ConstMethod", NULL, NULL, false, 48 },
    { "HeapBlock", NULL, NULL, false, 16 },
    { NULL, "ConstMethod::_has_linenumber_table", NULL, false, 1 },
};

static const struct smp_export jdk_21[] = {
    { "InstanceKlass", "_methods_jmethod_ids", "jmethodID*", false, 336 },
    { "Method", "_access_flags", "AccessFlags", false, 40 },
    { "ConstMethod", "_flags._flags", "u4", false, 28 },
    { "ConstMethod", "_code_size", "u2", false, 34 },
    { "ConstMethod", "_name_index", "u2", false, 36 },
    { "ConstMethod", "_method_idnum", "u2", false, 40 },
    { "CodeHeap", "_memory", "VirtualSpace", false, 0 },
    { "CodeHeap", "_segmap", "VirtualSpace", false, 112 },
    { "CodeHeap", "_log2_segment_size", "int", false, 248 },
    { "HeapBlock::Header", "_used", "bool", false, 8 },
    { "CodeBlob", "_name", "const char*", false, 64 },
    { "CodeBlob", "_size", "int", false, 72 },
    { "CodeBlob", "_frame_complete_offset", "int", false, 80 },
    { "CodeBlob", "_data_offset", "int", false, 84 },
    { "CodeBlob", "_frame_size", "int", false, 88 },
    { "CodeBlob", "_code_begin", "address", false, 8 },
    { "CodeBlob", "_code_end", "address", false, 16 },
    { "CompiledMethod", "_method", "Method*", false, 112 },
    { "CompiledMethod", "_scopes_data_begin", "address", false, 120 },
    { "CompiledMethod", "_deopt_handler_begin", "address", false, 128 },
    { "CompiledMethod", "_deopt_mh_handler_begin", "address", false, 136 },
    { "nmethod", "_orig_pc_offset", "int", false, 304 },
    { "nmethod", "_state", "volatile signed char", false, 332 },
    { "nmethod", "_metadata_offset", "int", false, 268 },
    { "nmethod", "_scopes_pcs_offset", "int", false, 276 },
    { "nmethod", "_dependencies_offset", "int", false, 280 },
    { "nmethod", "_compile_id", "int", false, 308 },
    { "JavaThread", "_anchor", "JavaFrameAnchor", false, 920 },
    { "JavaThread", "_thread_state", "JavaThreadState", false, 1092 },
    { "ConstMethod", NULL, NULL, false, 56 },
    { "HeapBlock", NULL, NULL, false, 16 },
    { NULL, "ConstMethodFlags::_misc_has_linenumber_table", NULL, false, 1 },
};

static const struct smp_export jdk_25[] = {
    { "InstanceKlass", "_methods_jmethod_ids", "jmethodID*", false, 336 },
    { "Method", "_access_flags", "AccessFlags", false, 44 },
    { "ConstMethod", "_flags._flags", "u4", false, 28 },
    { "ConstMethod", "_code_size", "u2", false, 34 },
    { "ConstMethod", "_name_index", "u2", false, 36 },
    { "ConstMethod", "_method_idnum", "u2", false, 40 },
    { "CodeHeap", "_memory", "VirtualSpace", false, 0 },
    { "CodeHeap", "_segmap", "VirtualSpace", false, 112 },
    { "CodeHeap", "_log2_segment_size", "int", false, 248 },
    { "HeapBlock::Header", "_used", "bool", false, 4 },
    { "CodeBlob", "_name", "const char*", false, 8 },
    { "CodeBlob", "_size", "int", false, 24 },
    { "CodeBlob", "_kind", "CodeBlobKind", false, 56 },
    { "CodeBlob", "_relocation_size", "int", false, 28 },
    { "CodeBlob", "_code_offset", "int", false, 36 },
    { "CodeBlob", "_frame_complete_offset", "int16_t", false, 54 },
    { "CodeBlob", "_data_offset", "int", false, 40 },
    { "CodeBlob", "_frame_size", "int", false, 44 },
    { "CodeBlob", "_mutable_data", "address", false, 16 },
    { "CodeBlob", "_mutable_data_size", "int", false, 48 },
    { "UpcallStub", "_frame_data_offset", "ByteSize", false, 72 },
    { "nmethod", "_method", "Method*", false, 80 },
    { "nmethod", "_deopt_handler_offset", "int", false, 176 },
    { "nmethod", "_deopt_mh_handler_offset", "int", false, 180 },
    { "nmethod", "_orig_pc_offset", "int", false, 208 },
    { "nmethod", "_scopes_pcs_offset", "int", false, 196 },
    { "nmethod", "_scopes_data_offset", "int", false, 200 },
    { "nmethod", "_immutable_data", "address", false, 96 },
    { "nmethod", "_immutable_data_size", "int", false, 160 },
    { "nmethod", "_compile_id", "int", false, 212 },
    { "nmethod", "_state", "volatile signed char", false, 219 },
    { "JavaThread", "_anchor", "JavaFrameAnchor", false, 1152 },
    { "JavaThread", "_thread_state", "JavaThreadState", false, 1324 },
    { "UpcallStub::FrameData", "jfa", "JavaFrameAnchor", false, 0 },
    { "ConstMethod", NULL, NULL, false, 56 },
    { "HeapBlock", NULL, NULL, false, 8 },
    { NULL, "CodeBlobKind::Upcall", NULL, false, (uint64_t)11 },
    { NULL, "ConstMethodFlags::_misc_has_linenumber_table", NULL, false, 1 },
};

enum { MAX_ENTRIES = 128, LISTS = 4, NUMBERS = 7, MADE_UP_ADDRESS = 4096 };

/* Deliberately laid out unlike HotSpot's entries. */
struct listed {
    uint64_t padding;
    uint64_t value;
    const char *name;
    int32_t is_static;
    int32_t narrow_value;
    const char *type;
    const char *type_string;
    uint64_t address;
};

struct fake_libjvm {
    struct smp_export entries[MAX_ENTRIES];
    bool is_hidden[MAX_ENTRIES];
    size_t count;
    const char *hidden_symbol;
    struct listed lists[LISTS][MAX_ENTRIES];
    const void *list_pointers[LISTS];
};

static const struct {
    const char *name;
    uint64_t value;
} numbers[] = {
    { "ArrayStride", sizeof(struct listed) },
    { "TypeNameOffset", offsetof(struct listed, type) },
    { "FieldNameOffset", offsetof(struct listed, name) },
    { "TypeStringOffset", offsetof(struct listed, type_string) },
    { "IsStaticOffset", offsetof(struct listed, is_static) },
    { "OffsetOffset", offsetof(struct listed, value) },
    { "AddressOffset", offsetof(struct listed, address) },
    { "SizeOffset", offsetof(struct listed, value) },
    { "NameOffset", offsetof(struct listed, name) },
};

static void add_entries(struct fake_libjvm *libjvm, const struct smp_export *from, size_t bytes)
{
    const size_t count = bytes / sizeof(*from);

    assert_true(libjvm->count + count < MAX_ENTRIES);
    memcpy(libjvm->entries + libjvm->count, from, bytes);
    libjvm->count += count;
}

struct fake_libjvm *fake_libjvm_create(int version)
{
    struct fake_libjvm *libjvm = calloc(1, sizeof(*libjvm));

    assert_non_null(libjvm);
    add_entries(libjvm, all_jdks, sizeof(all_jdks));
    if (version == 17)
        add_entries(libjvm, jdk_17, sizeof(jdk_17));
    else if (version == 21)
        add_entries(libjvm, jdk_21, sizeof(jdk_21));
    else
        add_entries(libjvm, jdk_25, sizeof(jdk_25));
    for (size_t i = 0; i < libjvm->count; i++) {
        if (libjvm->entries[i].is_static)
            libjvm->entries[i].value = MADE_UP_ADDRESS;
    }
    return libjvm;
}

void fake_libjvm_destroy(struct fake_libjvm *libjvm)
{
    free(libjvm);
}

static enum smp_export_list list_of(const struct smp_export *entry)
{
    if (entry->type == NULL)
        return strncmp(entry->name, "markWord::", 10) == 0 ? SMP_EXPORT_LONG_CONSTANTS
                                                           : SMP_EXPORT_INT_CONSTANTS;
    return entry->name == NULL ? SMP_EXPORT_TYPES : SMP_EXPORT_FIELDS;
}

static const void *write_list(struct fake_libjvm *libjvm, enum smp_export_list which)
{
    struct listed *to = libjvm->lists[which];

    for (size_t i = 0; i < libjvm->count; i++) {
        const struct smp_export *entry = &libjvm->entries[i];
        if (libjvm->is_hidden[i] || list_of(entry) != which)
            continue;
        *to++ = (struct listed){ .value = entry->is_static ? UINT64_MAX : entry->value,
                                 .address = entry->is_static ? entry->value : 0,
                                 .narrow_value = (int32_t)entry->value,
                                 .name = entry->name,
                                 .type = entry->type,
                                 .type_string = entry->type_string,
                                 .is_static = entry->is_static };
    }
    *to = (struct listed){ 0 };
    libjvm->list_pointers[which] = libjvm->lists[which];
    return &libjvm->list_pointers[which];
}

static const void *find_number(const char *name, bool is_int)
{
    static const uint64_t narrow = offsetof(struct listed, narrow_value);
    static const uint64_t wide = offsetof(struct listed, value);

    if (strcmp(name, "ValueOffset") == 0)
        return is_int ? &narrow : &wide;
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        if (strcmp(name, numbers[i].name) == 0)
            return &numbers[i].value;
    }
    return NULL;
}

static const void *find_symbol(void *self, const char *name)
{
    static const char *const lists[] = { "gHotSpotVMStructs", "gHotSpotVMTypes",
                                         "gHotSpotVMIntConstants", "gHotSpotVMLongConstants" };
    static const char *const prefixes[] = { "gHotSpotVMStructEntry", "gHotSpotVMTypeEntry",
                                            "gHotSpotVMIntConstantEntry",
                                            "gHotSpotVMLongConstantEntry" };
    struct fake_libjvm *libjvm = self;

    if (libjvm->hidden_symbol != NULL && strcmp(name, libjvm->hidden_symbol) == 0)
        return NULL;
    for (size_t i = 0; i < LISTS; i++) {
        const size_t length = strlen(prefixes[i]);
        if (strcmp(name, lists[i]) == 0)
            return write_list(libjvm, (enum smp_export_list)i);
        if (strncmp(name, prefixes[i], length) == 0)
            return find_number(name + length, i == SMP_EXPORT_INT_CONSTANTS);
    }
    return NULL;
}

struct smp_exports fake_libjvm_exports(struct fake_libjvm *libjvm)
{
    return (struct smp_exports){ .symbol = find_symbol, .self = libjvm };
}

size_t fake_libjvm_count(const struct fake_libjvm *libjvm)
{
    return libjvm->count;
}

struct smp_export *fake_libjvm_at(struct fake_libjvm *libjvm, size_t index)
{
    assert_true(index < libjvm->count);
    return &libjvm->entries[index];
}

static bool is_text(const char *one, const char *other)
{
    return one == other || (one != NULL && other != NULL && strcmp(one, other) == 0);
}

struct smp_export *fake_libjvm_entry(struct fake_libjvm *libjvm, const char *type, const char *name)
{
    for (size_t i = 0; i < libjvm->count; i++) {
        struct smp_export *entry = &libjvm->entries[i];
        if (is_text(type, entry->type) && is_text(name, entry->name))
            return entry;
    }
    fail_msg("the fake libjvm has no %s::%s", type, name);
    return NULL;
}

void fake_libjvm_add(struct fake_libjvm *libjvm, const struct smp_export *entry)
{
    add_entries(libjvm, entry, sizeof(*entry));
}

void fake_libjvm_hide(struct fake_libjvm *libjvm, size_t index, bool is_hidden)
{
    assert_true(index < libjvm->count);
    libjvm->is_hidden[index] = is_hidden;
}

void fake_libjvm_hide_symbol(struct fake_libjvm *libjvm, const char *symbol)
{
    libjvm->hidden_symbol = symbol;
}

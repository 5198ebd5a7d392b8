/* SPDX-License-Identifier: Apache-2.0 */
#include "hotspot/chunks.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/safe_read.h"
#include "hotspot/memory.h"

/* ---------------------------------------------------------------------------- libjvm's exports */

/* Entries of the lists of fields and types. */
enum item {
    REFERENCE_BASE, /* addresses of variables */
    REFERENCE_SHIFT,
    MIRROR_KLASS,
    FLAGS,
    FLAG_COUNT,
    FLAG_NAME, /* offsets */
    FLAG_ADDRESS,
    LAYOUT_HELPER,
    FLAG_BYTES, /* a size */
    ITEMS
};

/* An alternative of an item: names differ from JDK to JDK. */
struct source {
    const char *type;
    const char *name;        /* NULL: the type's size */
    const char *type_string; /* NULL: the list has none */
    enum item item;
    bool is_static;
};

static const struct source sources[] = {
    { "CompressedOops", "_narrow_oop._base", "address", REFERENCE_BASE, true },
    { "CompressedOops", "_base", "address", REFERENCE_BASE, true },
    { "CompressedOops", "_narrow_oop._shift", "int", REFERENCE_SHIFT, true },
    { "CompressedOops", "_shift", "int", REFERENCE_SHIFT, true },
    { "java_lang_Class", "_klass_offset", "int", MIRROR_KLASS, true },
    { "JVMFlag", "flags", "JVMFlag*", FLAGS, true },
    { "JVMFlag", "numFlags", "size_t", FLAG_COUNT, true },
    { "JVMFlag", "_name", "const char*", FLAG_NAME, false },
    { "JVMFlag", "_addr", NULL, FLAG_ADDRESS, false },
    { "Klass", "_layout_helper", "jint", LAYOUT_HELPER, false },
    { "JVMFlag", NULL, NULL, FLAG_BYTES, false },
};

struct exported {
    uint64_t values[ITEMS];
    bool found[ITEMS];
};

static bool is_same(const char *one, const char *other)
{
    return one == other || (one != NULL && other != NULL && strcmp(one, other) == 0);
}

static void take_entry(void *self, const struct smp_export *entry)
{
    struct exported *exported = self;

    for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++) {
        const struct source *source = &sources[i];
        if (!is_same(source->type, entry->type) || !is_same(source->name, entry->name) ||
            !is_same(source->type_string, entry->type_string) ||
            source->is_static != entry->is_static)
            continue;
        exported->values[source->item] = entry->value;
        exported->found[source->item] =
            entry->is_static ? entry->value != 0 : entry->value < SMP_EXPORT_MAX_OFFSET;
    }
}

static bool refuse(char reason[SMP_CHUNKS_REASON_BYTES], const char *text)
{
    (void)snprintf(reason, SMP_CHUNKS_REASON_BYTES, "%s", text);
    return false;
}

static bool read_exports(const struct smp_exports *exports, struct exported *out,
                         char reason[SMP_CHUNKS_REASON_BYTES])
{
    *out = (struct exported){ .found = { false } };
    if (!smp_exports_visit(exports, SMP_EXPORT_FIELDS, take_entry, out) ||
        !smp_exports_visit(exports, SMP_EXPORT_TYPES, take_entry, out))
        return refuse(reason, "libjvm does not export its fields");
    for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++) {
        if (out->found[sources[i].item])
            continue;
        (void)snprintf(reason, SMP_CHUNKS_REASON_BYTES, "no %s%s%s", sources[i].type,
                       sources[i].name != NULL ? "::" : "",
                       sources[i].name != NULL ? sources[i].name : "");
        return false;
    }
    return true;
}

/* --------------------------------------------------------------- references, and the collector */

/* False also if there is no such flag. */
static bool is_flag_on(const struct exported *exported, const char *name)
{
    enum { MAX_FLAGS = 10000 };
    const uintptr_t flags = smp_load_word(exported->values[FLAGS]);
    const uintptr_t count = smp_load_word(exported->values[FLAG_COUNT]);

    for (uintptr_t i = 0; i < count && i < MAX_FLAGS; i++) {
        const uintptr_t flag = flags + i * exported->values[FLAG_BYTES];
        const char *its_name =
            (const char *)smp_load_word(flag + exported->values[FLAG_NAME]); /* NOLINT */
        if (its_name != NULL && strcmp(its_name, name) == 0)
            return smp_load_u8(smp_load_word(flag + exported->values[FLAG_ADDRESS])) != 0;
    }
    return false;
}

static bool find_references(const struct exported *exported, struct smp_chunks *out,
                            char reason[SMP_CHUNKS_REASON_BYTES])
{
    enum { MAX_SHIFT = 8 };

    if (!is_flag_on(exported, "UseSerialGC") && !is_flag_on(exported, "UseParallelGC") &&
        !is_flag_on(exported, "UseG1GC"))
        return refuse(reason, "this collector moves objects while threads run");
    out->reference.is_compressed = is_flag_on(exported, "UseCompressedOops");
    out->reference.base = smp_load_word(exported->values[REFERENCE_BASE]);
    out->reference.shift = smp_load_u32(exported->values[REFERENCE_SHIFT]);
    return out->reference.shift <= MAX_SHIFT || refuse(reason, "references cannot be read");
}

bool smp_chunks_find_references(const struct smp_exports *exports, struct smp_chunks *out,
                                char reason[SMP_CHUNKS_REASON_BYTES])
{
    struct exported exported;

    return read_exports(exports, &exported, reason) && find_references(&exported, out, reason);
}

/* ---------------------------------------------------------------------------- a chunk's frames */

/*
 * handle: where the address of the class's object is, which a collection may move meanwhile. A
 * Klass never moves.
 */
static uintptr_t klass_of(const struct exported *exported, uintptr_t handle)
{
    enum { TRIES = 10 };
    const uintptr_t offset = smp_load_u32(exported->values[MIRROR_KLASS]);
    uintptr_t klass = 0;

    for (int i = 0; i < TRIES; i++) {
        uintptr_t before = 0;
        uintptr_t after = 0;
        if (smp_safe_read(&before, handle, sizeof(before)) &&
            smp_safe_read(&klass, before + offset, sizeof(klass)) &&
            smp_safe_read(&after, handle, sizeof(after)) && before == after)
            return klass;
    }
    return 0;
}

static bool is_klass_of_chunks(const struct smp_layout *layout, uintptr_t klass)
{
    static const char name[] = "jdk/internal/vm/StackChunk";
    char text[sizeof(name) - 1];
    uintptr_t symbol = 0;
    uint16_t length = 0;

    return klass != 0 && klass % sizeof(uintptr_t) == 0 &&
           smp_safe_read(&symbol, klass + layout->klass.name, sizeof(symbol)) &&
           smp_safe_read(&length, symbol + layout->symbol.length, sizeof(length)) &&
           length == sizeof(text) &&
           smp_safe_read(text, symbol + layout->symbol.body, sizeof(text)) &&
           memcmp(text, name, sizeof(text)) == 0;
}

/* The words of a chunk begin at the end of an object of its class that has none. */
bool smp_chunks_find_frames(const struct smp_exports *exports, const struct smp_layout *layout,
                            uintptr_t handle, struct smp_chunks *out)
{
    char reason[SMP_CHUNKS_REASON_BYTES];
    struct exported exported;
    uintptr_t klass = 0;
    int32_t helper = 0; /* the size of an object; its lowest bits are flags */

    if (!read_exports(exports, &exported, reason))
        return false;
    klass = klass_of(&exported, handle);
    if (!is_klass_of_chunks(layout, klass) ||
        !smp_safe_read(&helper, klass + exported.values[LAYOUT_HELPER], sizeof(helper)) ||
        helper <= 0 || helper > SMP_CHUNKS_MAX_HEADER)
        return false;
    out->frames = (uint32_t)helper & ~(uint32_t)(sizeof(uintptr_t) - 1);
    return out->frames > out->bottom && out->frames > out->parent;
}

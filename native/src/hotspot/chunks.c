/* SPDX-License-Identifier: Apache-2.0 */
#include "hotspot/chunks.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/safe_read.h"
#include "hotspot/flags.h"
#include "hotspot/memory.h"

/* ---------------------------------------------------------------------------- libjvm's exports */

/* Names differ from JDK to JDK, so some entries have two rows. */
enum item { BASE_17, BASE, SHIFT_17, SHIFT, MIRROR_KLASS, LAYOUT_HELPER, ITEMS };

static const struct smp_wanted items[ITEMS] = {
    [BASE_17] = { .type = "CompressedOops",
                  .name = "_narrow_oop._base",
                  .type_string = "address",
                  .is_static = true },
    [BASE] = { .type = "CompressedOops",
               .name = "_base",
               .type_string = "address",
               .is_static = true },
    [SHIFT_17] = { .type = "CompressedOops",
                   .name = "_narrow_oop._shift",
                   .type_string = "int",
                   .is_static = true },
    [SHIFT] = { .type = "CompressedOops",
                .name = "_shift",
                .type_string = "int",
                .is_static = true },
    [MIRROR_KLASS] = { .type = "java_lang_Class",
                       .name = "_klass_offset",
                       .type_string = "int",
                       .is_static = true },
    [LAYOUT_HELPER] = { .type = "Klass", .name = "_layout_helper", .type_string = "jint" },
};

static bool refuse_chunks(char reason[SMP_CHUNKS_REASON_BYTES], const char *text)
{
    (void)snprintf(reason, SMP_CHUNKS_REASON_BYTES, "%s", text);
    return false;
}

static bool refuse_without(char reason[SMP_CHUNKS_REASON_BYTES], enum item item)
{
    (void)snprintf(reason, SMP_CHUNKS_REASON_BYTES, "no %s::%s", items[item].type,
                   items[item].name);
    return false;
}

static bool read_exports(const struct smp_exports *exports, struct smp_wanted found[ITEMS],
                         char reason[SMP_CHUNKS_REASON_BYTES])
{
    memcpy(found, items, sizeof(items));
    (void)smp_exports_find(exports, found, ITEMS);
    if (!found[BASE].is_found)
        found[BASE] = found[BASE_17];
    if (!found[SHIFT].is_found)
        found[SHIFT] = found[SHIFT_17];
    for (int item = 0; item < ITEMS; item++) {
        if (!found[item].is_found && item != BASE_17 && item != SHIFT_17)
            return refuse_without(reason, (enum item)item);
    }
    return true;
}

/* --------------------------------------------------------------- references, and the collector */

bool smp_chunks_find_references(const struct smp_exports *exports, struct smp_chunks *out,
                                char reason[SMP_CHUNKS_REASON_BYTES])
{
    enum { MAX_SHIFT = 8 };
    struct smp_wanted found[ITEMS];
    struct smp_flags flags;

    if (!read_exports(exports, found, reason))
        return false;
    out->mirror_klass = found[MIRROR_KLASS].value;
    out->layout_helper = found[LAYOUT_HELPER].value;
    if (!smp_flags_find(exports, &flags))
        return refuse_chunks(reason, "no JVMFlag::flags");
    if (!smp_flags_objects_move_in_safepoints(&flags))
        return refuse_chunks(reason, "this collector moves objects while threads run");
    out->reference.is_compressed = smp_flags_is_on(&flags, "UseCompressedOops");
    out->reference.base = smp_load_word(found[BASE].value);
    out->reference.shift = smp_load_u32(found[SHIFT].value);
    return out->reference.shift <= MAX_SHIFT || refuse_chunks(reason, "references cannot be read");
}

/* ---------------------------------------------------------------------------- a chunk's frames */

/* Returns the Klass of a class. handle: the address of a word that refers to the class's object,
 * which a collection may move meanwhile. The Klass never moves. */
static uintptr_t klass_of(const struct smp_chunks *chunks, uintptr_t handle)
{
    enum { TRIES = 10 };
    const uintptr_t offset = smp_load_u32(chunks->mirror_klass);
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

/* A chunk's words begin at the size of a chunk without words. */
bool smp_chunks_find_frames(const struct smp_layout *layout, uintptr_t handle,
                            struct smp_chunks *out)
{
    const uintptr_t klass = klass_of(out, handle);
    int32_t helper = 0; /* the size of an object; its lowest bits are flags */

    if (!is_klass_of_chunks(layout, klass) ||
        !smp_safe_read(&helper, klass + out->layout_helper, sizeof(helper)) || helper <= 0 ||
        helper > SMP_CHUNKS_MAX_HEADER)
        return false;
    out->frames = (uint32_t)helper & ~(uint32_t)(sizeof(uintptr_t) - 1);
    return out->frames > out->bottom && out->frames > out->parent;
}

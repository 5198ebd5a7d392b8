/* SPDX-License-Identifier: Apache-2.0 */
#include "hotspot/monitor_layout.h"

#include <stddef.h>
#include <string.h>

#include "base/safe_read.h"
#include "hotspot/memory.h"

enum { NAME_BYTES = 64 };

enum field {
    PENDING,
    WAITING,
    OWNER_ID,
    LOCK_STACK,
    LOCK_STACK_TOP,
    LOCK_STACK_BASE,
    OWNER,
    OBJECT,
    STACK_LOCKER,
    NARROW_CLASS,
    CLASS_POINTER,
    CLASS_NAME,
    SYMBOL_LENGTH,
    SYMBOL_BODY,
    NARROW_BASE_17,
    NARROW_SHIFT_17,
    NARROW_BASE,
    NARROW_SHIFT,
    Z_INSTANCE,
    Z_BAD_MASK_17,
    Z_BAD_MASK,
    Z_LOAD_SHIFT,
    FLAGS,
    FLAG_COUNT,
    FLAG_NAME,
    FLAG_ADDRESS,
    THREAD_OBJECT,
    FIELD_COUNT
};

static const struct {
    const char *type;
    const char *name;
} names[FIELD_COUNT] = {
    [PENDING] = { "JavaThread", "_current_pending_monitor" },
    [WAITING] = { "JavaThread", "_current_waiting_monitor" },
    [OWNER_ID] = { "JavaThread", "_monitor_owner_id" },
    [LOCK_STACK] = { "JavaThread", "_lock_stack" },
    [LOCK_STACK_TOP] = { "LockStack", "_top" },
    [LOCK_STACK_BASE] = { "LockStack", "_base[0]" },
    [OWNER] = { "ObjectMonitor", "_owner" },
    [OBJECT] = { "ObjectMonitor", "_object" },
    [STACK_LOCKER] = { "ObjectMonitor", "_stack_locker" },
    [NARROW_CLASS] = { "oopDesc", "_metadata._compressed_klass" },
    [CLASS_POINTER] = { "oopDesc", "_metadata._klass" },
    [CLASS_NAME] = { "Klass", "_name" },
    [SYMBOL_LENGTH] = { "Symbol", "_length" },
    [SYMBOL_BODY] = { "Symbol", "_body[0]" },
    [NARROW_BASE_17] = { "CompressedKlassPointers", "_narrow_klass._base" },
    [NARROW_SHIFT_17] = { "CompressedKlassPointers", "_narrow_klass._shift" },
    [NARROW_BASE] = { "CompressedKlassPointers", "_base" },
    [NARROW_SHIFT] = { "CompressedKlassPointers", "_shift" },
    [Z_INSTANCE] = { "ZGlobalsForVMStructs", "_instance_p" },
    [Z_BAD_MASK_17] = { "ZGlobalsForVMStructs", "_ZAddressBadMask" },
    [Z_BAD_MASK] = { "ZGlobalsForVMStructs", "_ZPointerLoadBadMask" },
    [Z_LOAD_SHIFT] = { "ZGlobalsForVMStructs", "_ZPointerLoadShift" },
    [FLAGS] = { "JVMFlag", "flags" },
    [FLAG_COUNT] = { "JVMFlag", "numFlags" },
    [FLAG_NAME] = { "JVMFlag", "_name" },
    [FLAG_ADDRESS] = { "JVMFlag", "_addr" },
    [THREAD_OBJECT] = { "JavaThread", "_threadObj" },
};

struct found {
    bool has[FIELD_COUNT];
    uint64_t value[FIELD_COUNT];
    bool owner_is_id;
    bool owner_is_pointer;
    uint64_t flag_bytes; /* the size of a JVMFlag */
    uint64_t klass_shift;
};

static void take_monitor_field(void *self, const struct smp_export *entry)
{
    struct found *found = self;

    for (int i = 0; entry->type != NULL && entry->name != NULL && i < FIELD_COUNT; i++) {
        if (strcmp(entry->type, names[i].type) != 0 || strcmp(entry->name, names[i].name) != 0)
            continue;
        found->has[i] = entry->is_static || entry->value < SMP_EXPORT_MAX_OFFSET;
        found->value[i] = entry->value;
        if (i == OWNER) {
            const char *type = entry->type_string;
            found->owner_is_id = type != NULL && strcmp(type, "int64_t") == 0;
            found->owner_is_pointer = type == NULL || strcmp(type, "void*") == 0;
        }
    }
}

static void take_flag_bytes(void *self, const struct smp_export *entry)
{
    struct found *found = self;

    if (entry->type != NULL && strcmp(entry->type, "JVMFlag") == 0)
        found->flag_bytes = entry->value;
}

static void take_class_shift(void *self, const struct smp_export *entry)
{
    struct found *found = self;

    if (entry->name != NULL && strcmp(entry->name, "markWord::klass_shift") == 0)
        found->klass_shift = entry->value;
}

/* 1: this flag of the JVM is set, 0: it is not, -1: this JVM has no such flag. */
static int read_flag(const struct found *found, const char *name)
{
    const uintptr_t flags = smp_load_word((uintptr_t)found->value[FLAGS]);
    const uintptr_t count = smp_load_word((uintptr_t)found->value[FLAG_COUNT]);

    for (uintptr_t i = 0; i < count; i++) {
        const uintptr_t flag = flags + i * (uintptr_t)found->flag_bytes;
        const uintptr_t text = smp_load_word(flag + (uintptr_t)found->value[FLAG_NAME]);
        if (text != 0 && strncmp((const char *)text, name, NAME_BYTES) == 0) /* NOLINT */
            return smp_load_u8(smp_load_word(flag + (uintptr_t)found->value[FLAG_ADDRESS])) != 0;
    }
    return -1;
}

static bool is_set(const struct found *found, const char *name)
{
    return read_flag(found, name) == 1;
}

static bool has_flags(const struct found *found)
{
    return found->has[FLAGS] && found->has[FLAG_COUNT] && found->has[FLAG_NAME] &&
           found->has[FLAG_ADDRESS] && found->flag_bytes > 0;
}

/* A variable that ZGC's table has the address of. */
static uintptr_t z_variable(const struct found *found, enum field field)
{
    const uintptr_t table = smp_load_word((uintptr_t)found->value[Z_INSTANCE]);

    return table == 0 ? 0 : smp_load_word(table + (uintptr_t)found->value[field]);
}

/* The generational ZGC alone has a shift. JDK 21 to 23 have another ZGC beside it, of which they
 * export nothing here. */
static void find_z_references(const struct found *found, struct smp_object_layout *out)
{
    const bool is_shifted = found->has[Z_BAD_MASK] && found->has[Z_LOAD_SHIFT];

    if (!found->has[Z_INSTANCE] || !(is_shifted || found->has[Z_BAD_MASK_17]) ||
        read_flag(found, "ZGenerational") == 0)
        return;
    out->bad_mask = z_variable(found, is_shifted ? Z_BAD_MASK : Z_BAD_MASK_17);
    out->load_shift = is_shifted ? z_variable(found, Z_LOAD_SHIFT) : 0;
    if (out->bad_mask != 0 && (!is_shifted || out->load_shift != 0))
        out->references = is_shifted ? SMP_REFERENCE_SHIFTED : SMP_REFERENCE_MASKED;
}

static void find_class_words(const struct found *found, struct smp_object_layout *out)
{
    const bool is_17 = found->has[NARROW_BASE_17] && found->has[NARROW_SHIFT_17];

    if (!found->has[CLASS_NAME] || !found->has[SYMBOL_LENGTH] || !found->has[SYMBOL_BODY] ||
        !found->has[NARROW_CLASS] ||
        !(is_17 || (found->has[NARROW_BASE] && found->has[NARROW_SHIFT])))
        return;
    out->narrow_base = (uintptr_t)found->value[is_17 ? NARROW_BASE_17 : NARROW_BASE];
    out->narrow_shift = (uintptr_t)found->value[is_17 ? NARROW_SHIFT_17 : NARROW_SHIFT];
    out->name = (uint32_t)found->value[CLASS_NAME];
    out->length = (uint32_t)found->value[SYMBOL_LENGTH];
    out->body = (uint32_t)found->value[SYMBOL_BODY];
    out->class_at = (uint32_t)found->value[NARROW_CLASS];
    if (is_set(found, "UseCompactObjectHeaders")) {
        out->class_at = 0;
        out->mark_shift = (uint32_t)found->klass_shift;
        out->classes = found->klass_shift > 0 ? SMP_CLASS_IN_MARK : SMP_CLASS_UNKNOWN;
    } else {
        out->classes =
            is_set(found, "UseCompressedClassPointers") ? SMP_CLASS_NARROW : SMP_CLASS_POINTER;
    }
}

static void find_objects(const struct found *found, struct smp_object_layout *out)
{
    *out = (struct smp_object_layout){ .references = SMP_REFERENCE_UNKNOWN };
    if (!has_flags(found))
        return;
    find_class_words(found, out);
    if (is_set(found, "UseZGC")) {
        find_z_references(found, out);
    } else if (is_set(found, "UseSerialGC") || is_set(found, "UseParallelGC") ||
               is_set(found, "UseG1GC")) {
        out->references = SMP_REFERENCE_PLAIN;
    }
}

static void find_lock_stack(const struct found *found, struct smp_monitor_layout *out)
{
    if (!found->has[LOCK_STACK] || !found->has[LOCK_STACK_TOP] || !found->has[LOCK_STACK_BASE])
        return;
    out->lock_stack_top = (uint32_t)(found->value[LOCK_STACK] + found->value[LOCK_STACK_TOP]);
    out->lock_stack_base = (uint32_t)(found->value[LOCK_STACK] + found->value[LOCK_STACK_BASE]);
}

/* The calling thread waits for no monitor, its id is its own, and its lock stack ends in itself. */
static bool is_layout_right(const struct smp_monitor_layout *layout, uintptr_t java_thread,
                            int64_t java_id)
{
    if (smp_load_word(java_thread + layout->pending) != 0 ||
        smp_load_word(java_thread + layout->waiting) != 0)
        return false;
    if (layout->owner_id != 0 &&
        smp_load_word(java_thread + layout->owner_id) != (uintptr_t)java_id)
        return false;
    if (layout->lock_stack_top != 0) {
        const uint32_t top = smp_load_u32(java_thread + layout->lock_stack_top);
        return top >= layout->lock_stack_base && top % sizeof(uintptr_t) == 0 &&
               top - layout->lock_stack_base <= SMP_LOCK_STACK_MOST * sizeof(uintptr_t);
    }
    return true;
}

/* The class of the calling thread's Thread object, which native code has attached. Where its word
 * is not understood just now, nothing is said against it. */
static bool is_class_right(const struct found *found, const struct smp_object_layout *objects,
                           uintptr_t java_thread)
{
    char name[NAME_BYTES];

    if (!found->has[THREAD_OBJECT] || objects->classes == SMP_CLASS_UNKNOWN)
        return false;
    const uintptr_t object = smp_object_address(
        objects, smp_load_word(java_thread + (uintptr_t)found->value[THREAD_OBJECT]));
    return object == 0 || (smp_object_class_name(objects, object, name, sizeof(name)) &&
                           strcmp(name, "java.lang.Thread") == 0);
}

bool smp_monitor_layout_find(const struct smp_exports *exports, uintptr_t java_thread,
                             int64_t java_id, struct smp_monitor_layout *out)
{
    struct found found = { .flag_bytes = 0 };

    if (java_thread == 0 || smp_safe_read_refusal() != NULL ||
        !smp_exports_visit(exports, SMP_EXPORT_FIELDS, take_monitor_field, &found) ||
        !smp_exports_visit(exports, SMP_EXPORT_TYPES, take_flag_bytes, &found) ||
        !smp_exports_visit(exports, SMP_EXPORT_LONG_CONSTANTS, take_class_shift, &found) ||
        !found.has[PENDING] || !found.has[WAITING] || !found.has[OWNER] || !found.has[OBJECT] ||
        !(found.owner_is_id || found.owner_is_pointer))
        return false;
    *out = (struct smp_monitor_layout){
        .is_id = found.owner_is_id,
        .pending = (uint32_t)found.value[PENDING],
        .waiting = (uint32_t)found.value[WAITING],
        .owner_id = found.has[OWNER_ID] ? (uint32_t)found.value[OWNER_ID] : 0,
        .owner = (uint32_t)found.value[OWNER],
        .object = (uint32_t)found.value[OBJECT],
        .stack_locker = found.has[STACK_LOCKER] ? (uint32_t)found.value[STACK_LOCKER] : 0,
    };
    find_lock_stack(&found, out);
    find_objects(&found, &out->objects);
    if (!is_class_right(&found, &out->objects, java_thread))
        out->objects.classes = SMP_CLASS_UNKNOWN;
    return is_layout_right(out, java_thread, java_id);
}

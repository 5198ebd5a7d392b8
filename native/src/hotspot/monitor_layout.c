/* SPDX-License-Identifier: Apache-2.0 */
#include "hotspot/monitor_layout.h"

#include <stddef.h>
#include <string.h>

#include "base/safe_read.h"
#include "hotspot/flags.h"
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
    KLASS_SHIFT,
    THREAD_OBJECT,
    FIELD_COUNT
};

#define FIELD(type_, name_)              \
    {                                    \
        .type = (type_), .name = (name_) \
    }
#define STATIC(type_, name_)                                \
    {                                                       \
        .type = (type_), .name = (name_), .is_static = true \
    }

static const struct smp_wanted names[FIELD_COUNT] = {
    [PENDING] = FIELD("JavaThread", "_current_pending_monitor"),
    [WAITING] = FIELD("JavaThread", "_current_waiting_monitor"),
    [OWNER_ID] = FIELD("JavaThread", "_monitor_owner_id"),
    [LOCK_STACK] = FIELD("JavaThread", "_lock_stack"),
    [LOCK_STACK_TOP] = FIELD("LockStack", "_top"),
    [LOCK_STACK_BASE] = FIELD("LockStack", "_base[0]"),
    [OWNER] = FIELD("ObjectMonitor", "_owner"),
    [OBJECT] = FIELD("ObjectMonitor", "_object"),
    [STACK_LOCKER] = FIELD("ObjectMonitor", "_stack_locker"),
    [NARROW_CLASS] = FIELD("oopDesc", "_metadata._compressed_klass"),
    [CLASS_NAME] = FIELD("Klass", "_name"),
    [SYMBOL_LENGTH] = FIELD("Symbol", "_length"),
    [SYMBOL_BODY] = FIELD("Symbol", "_body[0]"),
    [NARROW_BASE_17] = STATIC("CompressedKlassPointers", "_narrow_klass._base"),
    [NARROW_SHIFT_17] = STATIC("CompressedKlassPointers", "_narrow_klass._shift"),
    [NARROW_BASE] = STATIC("CompressedKlassPointers", "_base"),
    [NARROW_SHIFT] = STATIC("CompressedKlassPointers", "_shift"),
    [Z_INSTANCE] = STATIC("ZGlobalsForVMStructs", "_instance_p"),
    [Z_BAD_MASK_17] = FIELD("ZGlobalsForVMStructs", "_ZAddressBadMask"),
    [Z_BAD_MASK] = FIELD("ZGlobalsForVMStructs", "_ZPointerLoadBadMask"),
    [Z_LOAD_SHIFT] = FIELD("ZGlobalsForVMStructs", "_ZPointerLoadShift"),
    [KLASS_SHIFT] = { .list = SMP_EXPORT_LONG_CONSTANTS, .name = "markWord::klass_shift" },
    [THREAD_OBJECT] = FIELD("JavaThread", "_threadObj"),
};

struct found {
    struct smp_wanted fields[FIELD_COUNT];
    struct smp_flags flags; /* first 0: this JVM has no list of options */
};

static bool has(const struct found *found, enum field field)
{
    return found->fields[field].is_found;
}

/* Returns 0 if this JVM has no such field. */
static uint32_t offset_in(const struct found *found, enum field field)
{
    return has(found, field) ? (uint32_t)found->fields[field].value : 0;
}

static uintptr_t address_in(const struct found *found, enum field field)
{
    return has(found, field) ? (uintptr_t)found->fields[field].value : 0;
}

/* Returns the address of a variable in ZGC's table, or 0 without a table. */
static uintptr_t z_variable(const struct found *found, enum field field)
{
    const uintptr_t table = smp_load_word(address_in(found, Z_INSTANCE));

    return table == 0 ? 0 : smp_load_word(table + offset_in(found, field));
}

/* Only the generational ZGC has a shift. JDK 21 to 23 also have a ZGC without generations, and do
 * not export its variables. */
static void find_z_references(const struct found *found, struct smp_object_layout *out)
{
    const bool is_shifted = has(found, Z_BAD_MASK) && has(found, Z_LOAD_SHIFT);

    if (!has(found, Z_INSTANCE) || !(is_shifted || has(found, Z_BAD_MASK_17)) ||
        smp_flags_read(&found->flags, "ZGenerational") == SMP_FLAG_OFF)
        return;
    out->bad_mask = z_variable(found, is_shifted ? Z_BAD_MASK : Z_BAD_MASK_17);
    out->load_shift = is_shifted ? z_variable(found, Z_LOAD_SHIFT) : 0;
    if (out->bad_mask != 0 && (!is_shifted || out->load_shift != 0))
        out->references = is_shifted ? SMP_REFERENCE_SHIFTED : SMP_REFERENCE_MASKED;
}

static void find_class_words(const struct found *found, struct smp_object_layout *out)
{
    const bool is_17 = has(found, NARROW_BASE_17) && has(found, NARROW_SHIFT_17);

    if (!has(found, CLASS_NAME) || !has(found, SYMBOL_LENGTH) || !has(found, SYMBOL_BODY) ||
        !has(found, NARROW_CLASS) ||
        !(is_17 || (has(found, NARROW_BASE) && has(found, NARROW_SHIFT))))
        return;
    out->narrow_base = address_in(found, is_17 ? NARROW_BASE_17 : NARROW_BASE);
    out->narrow_shift = address_in(found, is_17 ? NARROW_SHIFT_17 : NARROW_SHIFT);
    out->name = offset_in(found, CLASS_NAME);
    out->length = offset_in(found, SYMBOL_LENGTH);
    out->body = offset_in(found, SYMBOL_BODY);
    out->class_at = offset_in(found, NARROW_CLASS);
    if (smp_flags_is_on(&found->flags, "UseCompactObjectHeaders")) {
        out->class_at = 0;
        out->mark_shift = offset_in(found, KLASS_SHIFT);
        out->classes = out->mark_shift > 0 ? SMP_CLASS_IN_MARK : SMP_CLASS_UNKNOWN;
    } else {
        out->classes = smp_flags_is_on(&found->flags, "UseCompressedClassPointers")
                           ? SMP_CLASS_NARROW
                           : SMP_CLASS_POINTER;
    }
}

static void find_objects(const struct found *found, struct smp_object_layout *out)
{
    *out = (struct smp_object_layout){ .references = SMP_REFERENCE_UNKNOWN };
    if (found->flags.first == 0)
        return;
    find_class_words(found, out);
    if (smp_flags_is_on(&found->flags, "UseZGC"))
        find_z_references(found, out);
    else if (smp_flags_objects_move_in_safepoints(&found->flags))
        out->references = SMP_REFERENCE_PLAIN;
}

static void find_lock_stack(const struct found *found, struct smp_monitor_layout *out)
{
    if (!has(found, LOCK_STACK) || !has(found, LOCK_STACK_TOP) || !has(found, LOCK_STACK_BASE))
        return;
    out->lock_stack_top = offset_in(found, LOCK_STACK) + offset_in(found, LOCK_STACK_TOP);
    out->lock_stack_base = offset_in(found, LOCK_STACK) + offset_in(found, LOCK_STACK_BASE);
}

/* Returns whether the calling thread, as read, waits for no monitor, has its own id, and has a lock
 * stack whose end is plausible. */
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

/*
 * Reads the class of the calling thread's Thread object. Native code has attached this thread, so
 * the class is Thread itself. An object word that cannot be interpreted just now does not count
 * against the layout.
 */
static bool is_class_right(const struct found *found, const struct smp_object_layout *objects,
                           uintptr_t java_thread)
{
    char name[NAME_BYTES];

    if (!has(found, THREAD_OBJECT) || objects->classes == SMP_CLASS_UNKNOWN)
        return false;
    const uintptr_t object =
        smp_object_address(objects, smp_load_word(java_thread + offset_in(found, THREAD_OBJECT)));
    return object == 0 || (smp_object_class_name(objects, object, name, sizeof(name)) &&
                           strcmp(name, "java.lang.Thread") == 0);
}

bool smp_monitor_layout_find(const struct smp_exports *exports, uintptr_t java_thread,
                             int64_t java_id, struct smp_monitor_layout *out)
{
    struct found found;
    const char *owner = NULL; /* the declared type of the field */

    if (java_thread == 0 || smp_safe_read_refusal() != NULL)
        return false;
    memcpy(found.fields, names, sizeof(names));
    (void)smp_exports_find(exports, found.fields, FIELD_COUNT);
    (void)smp_flags_find(exports, &found.flags);
    owner = found.fields[OWNER].type_string;
    const bool is_id = owner != NULL && strcmp(owner, "int64_t") == 0;
    if (!has(&found, PENDING) || !has(&found, WAITING) || !has(&found, OWNER) ||
        !has(&found, OBJECT) || !(is_id || owner == NULL || strcmp(owner, "void*") == 0))
        return false;
    *out = (struct smp_monitor_layout){
        .is_id = is_id,
        .pending = offset_in(&found, PENDING),
        .waiting = offset_in(&found, WAITING),
        .owner_id = offset_in(&found, OWNER_ID),
        .owner = offset_in(&found, OWNER),
        .object = offset_in(&found, OBJECT),
        .stack_locker = offset_in(&found, STACK_LOCKER),
    };
    find_lock_stack(&found, out);
    find_objects(&found, &out->objects);
    if (!is_class_right(&found, &out->objects, java_thread))
        out->objects.classes = SMP_CLASS_UNKNOWN;
    return is_layout_right(out, java_thread, java_id);
}

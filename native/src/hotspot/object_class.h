/* SPDX-License-Identifier: Apache-2.0 */
/*
 * object_class.h - the address of the object that a handle of the JVM refers to, and its class.
 *
 * With Serial, Parallel and G1 the word in a handle is the object's address, which changes in
 * safepoints only. ZGC's words are coloured, and its objects move at any time: a word counts only
 * while it has the good colour, and its address only until the next safepoint, at which colours
 * change. Words of other collectors that move objects (Shenandoah) are not understood.
 *
 * Threads  any. A layout is constant.
 * Errors   0, false: not known.
 * Cost     address: one safe read. name: four.
 */
#ifndef SMP_HOTSPOT_OBJECT_CLASS_H
#define SMP_HOTSPOT_OBJECT_CLASS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum smp_reference_kind {
    SMP_REFERENCE_UNKNOWN,
    SMP_REFERENCE_PLAIN,  /* an address */
    SMP_REFERENCE_MASKED, /* an address, if no bit of the bad mask is in it: ZGC up to JDK 22 */
    SMP_REFERENCE_SHIFTED /* likewise, and the address lies above the colour: generational ZGC */
};

enum smp_class_kind {
    SMP_CLASS_UNKNOWN,
    SMP_CLASS_POINTER, /* a word of the object's header */
    SMP_CLASS_NARROW,  /* 32 bits of it */
    SMP_CLASS_IN_MARK  /* the upper bits of its first word: compact headers */
};

struct smp_object_layout {
    enum smp_reference_kind references;
    enum smp_class_kind classes;
    uintptr_t bad_mask; /* addresses of the variables */
    uintptr_t load_shift;
    uintptr_t narrow_base;
    uintptr_t narrow_shift;
    uint32_t class_at;   /* in the object */
    uint32_t mark_shift; /* of a class in the mark */
    uint32_t name;       /* in a class */
    uint32_t length;     /* in a symbol: 16 bits */
    uint32_t body;
};

/* Returns the address of the handle's object, which may change at the next safepoint. */
uintptr_t smp_object_address(const struct smp_object_layout *layout, uintptr_t handle);
/* Writes the name of the object's class, as "com.acme.Cart", cut at size. The name is valid only if
 * no safepoint has begun since the object's address was read. */
bool smp_object_class_name(const struct smp_object_layout *layout, uintptr_t object, char *name,
                           size_t size);

#endif

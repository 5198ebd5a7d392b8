/* SPDX-License-Identifier: Apache-2.0 */
/*
 * layout.h - where the JVM keeps what a stack walk reads: one table of fields with their alternatives
 * from version to version, and the check that all of it is there.
 *
 *   gHotSpotVMStructs, gHotSpotVMTypes, gHotSpotVM*Constants ─► the table ─► struct smp_layout
 *                                                                  └─ a row is missing, or its type
 *                                                                     is another ─► the reason
 *
 * libjvm exports its fields for debuggers. That is no supported interface, so a layout is used only if
 * every row that a way of walking requires was found, with the type that the table expects; and then
 * only after hotspot/check.h has compared walks of known stacks.
 *
 * Owns     nothing: a layout is a value, constant once it is found.
 * Threads  find: any. A found layout: any, signal handlers included.
 * Errors   find: false, with the reason.
 * Cost     find: one pass over about three thousand names.
 */
#ifndef SMP_JVM_HOTSPOT_LAYOUT_H
#define SMP_JVM_HOTSPOT_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SMP_LAYOUT_REASON_BYTES = 160 };

/* All offsets are those of a field in its object, in bytes. */
struct smp_layout {
    int version; /* of the Java platform */
};

/*
 * lookup: NULL, or a test's. reason: of what is missing, like "no field CodeBlob::_name" or "the field
 * CodeBlob::_size is a short, expected int".
 */
bool smp_layout_find(int version, struct smp_layout *out, char reason[SMP_LAYOUT_REASON_BYTES]);

#endif

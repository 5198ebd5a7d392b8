/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fields.h - the offsets of HotSpot's own fields, and its constants, which it exports for debuggers
 * (gHotSpotVMStructs, gHotSpotVMIntConstants).
 *
 * This is no supported interface: what is read here is a hint, to be checked against something that
 * is known otherwise.
 *
 * Threads  any.
 * Errors   false: not all were found.
 * Cost     one pass over about three thousand names.
 */
#ifndef SMP_HOTSPOT_FIELDS_H
#define SMP_HOTSPOT_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hotspot/exports.h"

enum { SMP_FIELD_MAX_OFFSET = SMP_EXPORT_MAX_OFFSET };

struct smp_field {
    const char *type;
    const char *name;
    uint64_t offset; /* set where found */
    bool found;
};

struct smp_constant {
    const char *name;
    int32_t value; /* set where found */
    bool found;
};

bool smp_fields_read(struct smp_field *fields, size_t count);
bool smp_constants_read(struct smp_constant *constants, size_t count);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * moved_code.h - a method's code with room for probes: where each instruction goes, and the code
 * itself with every jump and switch made right again.
 *
 *   old   0: iload_1      new    0: probe of the entry
 *         1: ifeq 6              6: iload_1                a jump to 0 comes here
 *         4: iconst_1            7: ifeq 18
 *         5: ireturn            10: iconst_1
 *         6: ...                11: probe of the exit      a jump to 5 comes here
 *                               17: ireturn
 *                               18: ...
 *                         body_end: probe of the exit, athrow      the handler, if there is one
 *
 * Where the method catches an exception (catch_places.h), a probe stands before the instruction,
 * and what jumps there comes to the probe.
 *
 * A method that only hands out at its entry has neither probes of the exit nor a handler. Where the
 * probe of the entry stands later in the code, a nop is in its place.
 *
 * Owns     no memory; the two tables are the caller's.
 * Threads  one at a time.
 * Errors   a result other than DONE: the method is left alone.
 * Cost     measure: a pass over the code. write: a pass over its jumps and returns.
 */
#ifndef SMP_CLASSFILE_MOVED_CODE_H
#define SMP_CLASSFILE_MOVED_CODE_H

#include <stdbool.h>
#include <stdint.h>

#include "classfile/catch_places.h"
#include "classfile/probes.h"
#include "classfile/rewrite.h"

struct smp_moved_code {
    const uint8_t *code; /* as it was */
    uint32_t length;
    uint32_t entry; /* old offset of the instruction that the probe of the entry stands before */
    const struct smp_catch_place *catches; /* before each of these stands a probe, too */
    uint32_t catch_count;
    /* By old offset, length + 1 of them: where what jumps there lands now. 0: no instruction begins
     * there. All 0 before measure. */
    uint16_t *map;
    /* Old offsets of jumps, switches, returns and catches: length of them at most. */
    uint16_t *points;
    uint32_t point_count;
    uint32_t body_end;     /* of what was moved; the handler begins here */
    uint32_t handler_from; /* new offset of the first instruction that it covers; 0: no handler */
};

/* code, length, entry, catches, map and points are set. Sets the rest but handler_from. */
enum smp_rewrite smp_moved_code_measure(struct smp_moved_code *moved,
                                        const struct smp_probe *probe);
/* With the handler. TOO_LARGE has been ruled out by the caller's use of smp_moved_code_size. */
enum smp_rewrite smp_moved_code_write(const struct smp_moved_code *moved,
                                      const struct smp_probe *probe,
                                      struct smp_byte_writer *writer);
uint32_t smp_moved_code_size(const struct smp_moved_code *moved, const struct smp_probe *probe);

/* Where a jump to this offset lands; 0: no instruction begins there. */
static inline uint32_t smp_moved_target(const struct smp_moved_code *moved, int64_t pc)
{
    return pc >= 0 && pc < moved->length ? moved->map[pc] : 0;
}

/* Where the instruction itself is, behind the probe of a catch. probe: as in measure. */
uint32_t smp_moved_instruction(const struct smp_moved_code *moved, const struct smp_probe *probe,
                               uint32_t pc);

/*
 * Of tables for debuggers: offset 0 stays, so that the probe of the entry is part of the first line
 * and of what is visible there. An offset within an instruction is taken for its start. pc is at
 * most length.
 */
uint32_t smp_moved_place(const struct smp_moved_code *moved, uint32_t pc);

#endif

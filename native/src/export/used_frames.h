/* SPDX-License-Identifier: Apache-2.0 */
/*
 * used_frames.h - numbers the distinct frames of a profile's trees from 0, in the order in which
 * they were first added.
 *
 *   location ──► number ──► location
 *
 * Owns     both arrays.
 * Threads  immutable after init.
 * Errors   SMP_ENOMEM: there is nothing to fini.
 * Cost     one pass over the nodes; 4 bytes a location of the names table and 4 bytes a frame.
 */
#ifndef SMP_EXPORT_USED_FRAMES_H
#define SMP_EXPORT_USED_FRAMES_H

#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/status.h"
#include "model/profile.h"

/* Visible so that look-ups can be inlined. */
struct smp_used_frames {
    struct smp_quota *quota;
    uint32_t *numbers;   /* by location: number + 1; 0: not used */
    uint32_t *locations; /* by number */
    uint32_t count;
};

SMP_CHECKED enum smp_status smp_used_frames_init(struct smp_used_frames *frames,
                                                 struct smp_quota *quota,
                                                 const struct smp_profile *profile);
void smp_used_frames_fini(struct smp_used_frames *frames); /* all zero is fine */

/* location must be one in the trees. */
static inline uint32_t smp_used_frames_number(const struct smp_used_frames *frames,
                                              uint32_t location)
{
    return frames->numbers[location] - 1;
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core_anchor.h - how the copies of the library in one process find each other.
 *
 * Each class loader with the Java classes loads a file of its own, as the JVM refuses one file from
 * two class loaders. The file of the first one becomes the core that the others use. Each file has
 * a note (PT_NOTE) that leads to its anchor. The dynamic linker lists all mapped files, so no
 * address is guessed or read from outside the process.
 *
 * Copies of different versions read each other's anchors, so the note's type fixes the layout. They
 * share a core only if the whole identity is equal.
 *
 *   a copy is loaded ─► find: a core of this identity? ─no─► publish: it is the core from now on
 *                                                     └yes─► uses that one's functions
 *   a sampler starts ─► begin_sampling: does a core of another identity sample? ─yes─► refused
 *
 * Owns     this file's anchor, static.
 * Threads  find and publish: one call at a time in the process; Java's lock ensures that. The
 *          others: any. If two cores begin to sample at the same moment, both may be refused.
 * Errors   as listed.
 * Cost     one pass over the list of mapped files, some microseconds.
 */
#ifndef SMP_BASE_CORE_ANCHOR_H
#define SMP_BASE_CORE_ANCHOR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

struct smp_core_identity {
    uint32_t abi;  /* version of the seam between Java and C */
    uint64_t seam; /* a hash of all that Java and C must agree on */
};

enum { SMP_CORE_RIVAL_PATH_BYTES = 160 };

struct smp_core_rival {
    uint32_t abi;
    char path[SMP_CORE_RIVAL_PATH_BYTES]; /* of its file, cut if it is longer */
};

/* Returns the functions of the published core with this identity, which stay valid for the life of
 * the process; NULL if there is no such core. */
const void *smp_core_anchor_find(struct smp_core_identity identity);
/* Makes this file a core. It must stay mapped, and functions must be static. */
void smp_core_anchor_publish(struct smp_core_identity identity, const void *functions);

/* Called on a published core when a sampler starts. Returns false if another core has samplers;
 * end_sampling must not be called then. */
SMP_CHECKED bool smp_core_anchor_begin_sampling(struct smp_core_rival *rival);
void smp_core_anchor_end_sampling(void);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core_anchor.h - how the copies of the library in one process find each other.
 *
 * Each class loader with the Java classes loads a file of its own, as the JVM refuses one file from
 * two class loaders. The file of the first one becomes the core that the others use. To be found,
 * each file has a note (PT_NOTE) that leads to its anchor: the dynamic linker knows all mapped
 * files, so no address comes from outside of the process's own list, and none is guessed.
 *
 * Copies of different versions read each other's anchors, so the layout of one is fixed by the
 * note's type. They share a core only if the whole identity is equal.
 *
 *   a copy is loaded ─► find: a core of this identity? ─no─► publish: it is the core from now on
 *                                                     └yes─► uses that one's functions
 *   a sampler starts ─► begin_sampling: does a core of another identity sample? ─yes─► refused
 *
 * Owns     this file's anchor, static.
 * Threads  find and publish: one at a time in the process, which Java's lock sees to. The others:
 *          any. Two cores that begin to sample at the same moment may both be refused.
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
    uint64_t seam; /* a hash of what both sides of the seam must agree on */
};

enum { SMP_CORE_RIVAL_PATH_BYTES = 160 };

struct smp_core_rival {
    uint32_t abi;
    char path[SMP_CORE_RIVAL_PATH_BYTES]; /* of its file; a longer one is cut */
};

/* The functions of the published core with this identity, static there for as long as the process
 * lives; NULL: there is none. */
const void *smp_core_anchor_find(struct smp_core_identity identity);
/* This file is a core from now on. It must stay mapped, and functions be static. */
void smp_core_anchor_publish(struct smp_core_identity identity, const void *functions);

/* On a published core, when a sampler starts. False: another core has samplers; nothing to be
 * ended then. */
SMP_CHECKED bool smp_core_anchor_begin_sampling(struct smp_core_rival *rival);
void smp_core_anchor_end_sampling(void);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frame_slots.h - where a frame keeps what a walk reads of it, in words from its frame pointer.
 * One file for each processor; some of the numbers are exported, and checked when the layout is
 * found.
 */
#ifndef SMP_HOTSPOT_FRAME_SLOTS_H
#define SMP_HOTSPOT_FRAME_SLOTS_H

#include <stdint.h>

#if defined(__x86_64__)
#include "hotspot/frame_slots_x86_64.h"
#elif defined(__aarch64__)
#include "hotspot/frame_slots_aarch64.h"
#else
#error "no frame_slots file for this processor"
#endif

/*
 * The same in all frames of both processors: the caller's frame pointer, then the return
 * address.
 */
enum { SMP_SLOT_CALLER_FP = 0, SMP_SLOT_RETURN = 1 };

#endif

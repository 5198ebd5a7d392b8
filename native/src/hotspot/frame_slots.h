/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frame_slots.h - the slots of a frame that a walk reads, in words from its frame pointer. One file
 * for each processor. libjvm exports some of the numbers; those are checked when the layout is
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
 * All frames of both processors have these: the caller's frame pointer, then the return address.
 */
enum { SMP_SLOT_CALLER_FP = 0, SMP_SLOT_RETURN = 1 };

#endif

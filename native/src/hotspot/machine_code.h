/* SPDX-License-Identifier: Apache-2.0 */
/*
 * machine_code.h - what a walk knows of the processor: the slots of frames, and the shapes of
 * compiled code if the walk begins inside a method: how a method makes and leaves its frame, and
 * what a call looks like. One file for each processor.
 *
 * Slots count in words from the frame pointer. libjvm exports some of the numbers; those are
 * checked when the layout is found.
 *
 * Threads  any, signal handlers included.
 * Errors   zeros or false: unknown shape.
 * Cost     frame, next_leaf_call and next_outlined_call read the code once; the others are
 *          constant.
 */
#ifndef SMP_HOTSPOT_MACHINE_CODE_H
#define SMP_HOTSPOT_MACHINE_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All frames of both processors have the caller's frame pointer, and then the return address. */
enum { SMP_SLOT_CALLER_FP = 0, SMP_SLOT_RETURN = 1 };

/* How a compiled method makes its frame; all 0: not understood. */
struct smp_code_frame {
    uint32_t bytes;      /* the whole frame, return address included; 0: not known */
    uint16_t pushed_at;  /* offset from which on the caller's frame pointer is on the stack */
    uint16_t lowered_at; /* offset from which on the stack pointer is at its lowest */
};

/* The part of a frame that is still on the stack when its method is about to return. */
enum smp_code_rest {
    SMP_REST_FRAME,   /* all of it */
    SMP_REST_POINTER, /* the caller's frame pointer and the return address */
    SMP_REST_RETURN   /* the return address, which on some processors is in a register */
};

/* A call in compiled code, as seen from its return address. */
struct smp_call {
    uintptr_t start;  /* of the instructions of the call, where the JVM records its line */
    uintptr_t target; /* 0: known at run time only */
};

/* A call behind a method's own code. The method continues at continues_at. */
struct smp_outlined_call {
    uintptr_t target;
    uintptr_t continues_at;
};

/* The first JDK in which a frame of compiled code may hold its own size (value classes, JEP
 * 401). */
enum { SMP_FRAMES_SAY_SIZE = 28 };
enum smp_frame_size {
    SMP_FRAME_FIXED,     /* always the size that the blob says */
    SMP_FRAME_SAYS_SIZE, /* the word below the last two holds the size without these two */
    SMP_FRAME_NOT_KNOWN
};

/* Bytes below the top of such a frame: its size, the caller's frame pointer, the return address. */
enum { SMP_SAID_SIZE_BYTES = 3 * 8 };

#if defined(__x86_64__)
#include "hotspot/machine_code_x86_64.h"
#elif defined(__aarch64__)
#include "hotspot/machine_code_aarch64.h"
#else
#error "no machine_code file for this processor"
#endif

#endif

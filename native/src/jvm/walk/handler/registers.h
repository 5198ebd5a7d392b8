/* SPDX-License-Identifier: Apache-2.0 */
/*
 * registers.h - what differs between processors: registers in a signal's context, and the shapes of
 * compiled code that the recovery of a walk must know. One file for each.
 *
 * Owns     nothing.
 * Threads  any, signal handlers included.
 * Errors   a shape that is not understood is told as such.
 * Cost     constant.
 */
#ifndef SMP_JVM_WALK_HANDLER_REGISTERS_H
#define SMP_JVM_WALK_HANDLER_REGISTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "jvm/code/code_view.h"

/* Reads stacks that are not its own, between the variables that an address sanitizer guards. */
#define SMP_READS_STACKS __attribute__((no_sanitize_address))

struct smp_registers {
    uintptr_t pc;
    uintptr_t sp;
    uintptr_t fp;
};

/* A call in compiled code, as seen from its return address. */
struct smp_call {
    uintptr_t start;  /* of the instructions that make it; the JVM's note of its line lies here */
    uintptr_t target; /* 0: only known at run time */
};

#if defined(__x86_64__)
#include "jvm/walk/handler/registers_x86_64.h"
#elif defined(__aarch64__)
#include "jvm/walk/handler/registers_aarch64.h"
#else
#error "no registers file for this processor"
#endif

#endif

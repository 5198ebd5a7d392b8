/* SPDX-License-Identifier: Apache-2.0 */
/*
 * registers.h - registers in a signal's context, and the frame that the kernel makes for a handler.
 * One file for each processor.
 *
 * Threads  any, signal handlers included.
 * Errors   NULL or 0: there is no such frame.
 * Cost     constant.
 */
#ifndef SMP_HANDLER_REGISTERS_H
#define SMP_HANDLER_REGISTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reads stacks that are not its own, between the variables that an address sanitizer guards. */
#define SMP_READS_STACKS __attribute__((no_sanitize_address))

struct smp_registers {
    uintptr_t pc;
    uintptr_t sp;
    uintptr_t fp;
};

/* While the interpreter enters a method, before the method has its frame. */
struct smp_entry_registers {
    uintptr_t method;         /* Method* that is entered */
    uintptr_t sender_sp;      /* the caller's sp after the return; anything once the frame has it */
    uintptr_t return_address; /* while it is not on the stack */
};

/* After the interpreter has taken down a method's frame, before it jumps to the caller. */
struct smp_left_registers {
    uintptr_t sender_sp;      /* the caller's sp after the return */
    uintptr_t return_address; /* once it is not on the stack any more */
};

enum { SMP_LEFT_REGISTERS = 3 /* ways in which the interpreter does that */ };

/* While an exception passes a method that C1 has compiled; 0: not known. */
struct smp_exception_registers {
    uintptr_t pc;      /* of the call that threw, until the JVM has been called */
    uintptr_t handler; /* the stub that looked for it jumps there */
};

#if defined(__x86_64__)
#include "handler/registers_x86_64.h"
#elif defined(__aarch64__)
#include "handler/registers_aarch64.h"
#else
#error "no registers file for this processor"
#endif

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * registers.h - reads registers in a signal context, and the kernel's frame of a handler.
 *
 * Threads  any, signal handlers included.
 * Errors   NULL or 0: no such frame.
 * Cost     constant.
 */
#ifndef SMP_HANDLER_REGISTERS_H
#define SMP_HANDLER_REGISTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* For functions that read foreign stack memory, which AddressSanitizer would report. */
#define SMP_READS_STACKS __attribute__((no_sanitize_address))

struct smp_registers {
    uintptr_t pc;
    uintptr_t sp;
    uintptr_t fp;
};

/* Valid while the interpreter enters a method, before the method has its frame. */
struct smp_entry_registers {
    uintptr_t method;         /* the entered Method* */
    uintptr_t sender_sp;      /* the caller's sp after the return; invalid once the frame has it */
    uintptr_t return_address; /* only while it is not on the stack */
};

/* Valid after the interpreter has removed a method's frame, before it jumps to the caller. */
struct smp_left_registers {
    uintptr_t sender_sp;      /* the caller's sp after the return */
    uintptr_t return_address; /* only once it is not on the stack any more */
};

enum { SMP_LEFT_REGISTERS = 3 /* ways in which the interpreter returns */ };

/* Valid while an exception passes a method compiled by C1; 0: unknown. */
struct smp_exception_registers {
    uintptr_t pc;      /* of the call that threw; only until the JVM is called */
    uintptr_t handler; /* only when the stub is about to jump there */
};

#if defined(__x86_64__)
#include "handler/registers_x86_64.h"
#elif defined(__aarch64__)
#include "handler/registers_aarch64.h"
#else
#error "no registers file for this processor"
#endif

#endif

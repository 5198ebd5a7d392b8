/* SPDX-License-Identifier: Apache-2.0 */
/*
 * registers_set.h - sets registers in a signal's context. smp_registers_get reads them.
 *
 * Threads  any.
 */
#ifndef SMP_TEST_REGISTERS_SET_H
#define SMP_TEST_REGISTERS_SET_H

#include "handler/registers.h"

#if defined(__x86_64__)

static inline void registers_set(ucontext_t *context, struct smp_registers value)
{
    greg_t *registers = context->uc_mcontext.gregs;

    registers[REG_RIP] = (greg_t)value.pc;
    registers[REG_RSP] = (greg_t)value.sp;
    registers[REG_RBP] = (greg_t)value.fp;
}

#else

static inline void registers_set(ucontext_t *context, struct smp_registers value)
{
    context->uc_mcontext.pc = value.pc;
    context->uc_mcontext.sp = value.sp;
    context->uc_mcontext.regs[SMP_AARCH64_FP] = value.fp;
}

#endif

#endif

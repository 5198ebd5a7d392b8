/* SPDX-License-Identifier: Apache-2.0 */
/*
 * safe_read.h - reads memory that may not be mapped, without a handler for the fault.
 *
 * The kernel copies (process_vm_readv on this very process) and returns an error if it cannot. A
 * filter of system calls (seccomp) may forbid the call, or even kill the process for it. So the
 * call is tried once before it is used, and in a child process if there is a filter.
 *
 * Threads  any. smp_safe_read: also in signal handlers; it preserves errno.
 * Errors   false: not all of it can be read, or smp_safe_read_refusal has not found the call
 *          permitted.
 * Cost     one system call, below a microsecond for up to 4 KB.
 */
#ifndef SMP_BASE_SAFE_READ_H
#define SMP_BASE_SAFE_READ_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns NULL if reads are permitted, otherwise the reason why not, in static storage. The first
 * call tries a read. */
const char *smp_safe_read_refusal(void);
/* Copies size bytes from the address, all or none. If it returns false, *to is undefined. */
bool smp_safe_read(void *to, uintptr_t address, size_t size);

/* For several reads in one system call; each further read costs about a quarter of the first. */
struct smp_safe_part {
    void *to;
    uintptr_t address;
    size_t size;
};

enum { SMP_SAFE_PARTS = 8 };

/* Reads all parts or none; at most SMP_SAFE_PARTS. */
bool smp_safe_read_parts(const struct smp_safe_part *parts, size_t count);

/* Test seam: replaces the next first try. NULL: a real one. Not for production. */
typedef bool smp_safe_read_trial(const char **refusal);
void smp_safe_read_set_trial(smp_safe_read_trial *trial);

/* Test seam: *calls counts the system calls; NULL ends the counting. Not for production. */
void smp_safe_read_count_calls(_Atomic uint64_t *calls);

#endif

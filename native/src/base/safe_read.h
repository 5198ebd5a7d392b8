/* SPDX-License-Identifier: Apache-2.0 */
/*
 * safe_read.h - reads memory that may not be mapped, without a handler for the fault.
 *
 * The kernel copies (process_vm_readv on this very process) and says so where it cannot. A
 * filter of system calls (seccomp) may forbid that, even by ending the process: so it is tried
 * once before it is used, in a process of its own wherever this one has such a filter.
 *
 * Threads  any. smp_safe_read: signal handlers included; errno is left as it was.
 * Errors   false: not all of it can be read, or this way of reading was never found to be
 *          permitted.
 * Cost     one system call, below a microsecond for up to 4 KB.
 */
#ifndef SMP_BASE_SAFE_READ_H
#define SMP_BASE_SAFE_READ_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Tries it, the first time. NULL: it is permitted; else why not, static storage. */
const char *smp_safe_read_refusal(void);
/* All or nothing: copies size bytes from the address. On false *to is undefined. */
bool smp_safe_read(void *to, uintptr_t address, size_t size);

/* Several places at once, in one system call: each more costs about a quarter of the first one. */
struct smp_safe_part {
    void *to;
    uintptr_t address;
    size_t size;
};

enum { SMP_SAFE_PARTS = 8 };

/* All parts or nothing; at most SMP_SAFE_PARTS. */
bool smp_safe_read_parts(const struct smp_safe_part *parts, size_t count);

/* Test seam: what the next first try finds. NULL: a real one. Not for production. */
typedef bool smp_safe_read_trial(const char **refusal);
void smp_safe_read_set_trial(smp_safe_read_trial *trial);

/* Test seam: *calls grows by one with each system call. NULL: no more. Not for production. */
void smp_safe_read_count_calls(_Atomic uint64_t *calls);

#endif

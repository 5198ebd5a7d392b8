/* SPDX-License-Identifier: Apache-2.0 */
/*
 * code_copies.h - the debug data of compiled methods that were read last, where they lie outside of
 * the code heap (from JDK 25 on).
 *
 *   a place in a method ─take─► the copy of its data, or of another's ─► read, decode ─give_back─►
 *
 * A method is seen at many places, each for the first time once: at its calls, and wherever it is
 * interrupted as a leaf. Its data do not change, so one system call is enough for all of them.
 *
 * Owns     SMP_CODE_COPIES copies, two for each hash of a blob's address; 512 KB, of which only
 *          what is used is real.
 * Threads  take, give_back: any, signal handlers included; a copy is one thread's in between.
 *          empty: any but signal handlers.
 * Errors   take: NULL, other threads have both.
 * Cost     some atomic operations.
 */
#ifndef SMP_HOTSPOT_CODE_COPIES_H
#define SMP_HOTSPOT_CODE_COPIES_H

#include <stddef.h>
#include <stdint.h>

enum {
    SMP_CODE_COPIES = 32, /* a power of two */
    SMP_CODE_COPY_DEBUG = 14 * 1024,
    SMP_CODE_COPY_METADATA = 2 * 1024
};

/* Whose data, and where they were. A compile id is never one of another method; 0: of no method. */
struct smp_code_copy_key {
    uintptr_t blob;
    uintptr_t compile_id;
    uintptr_t debug;
    uintptr_t debug_bytes;
    uintptr_t metadata;
    uintptr_t metadata_bytes;
};

/* A thread may also have one of its own, with less room, for what is not kept. */
struct smp_code_copy {
    struct smp_code_copy_key key;
    char *debug;
    size_t debug_room;
    char *metadata;
    size_t metadata_room;
};

struct smp_code_copy *smp_code_copies_take(uintptr_t blob);
void smp_code_copies_give_back(struct smp_code_copy *copy);
/* All are of no method, and use no memory, but for those that a thread has now. */
void smp_code_copies_empty(void);

#endif

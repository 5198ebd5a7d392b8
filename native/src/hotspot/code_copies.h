/* SPDX-License-Identifier: Apache-2.0 */
/*
 * code_copies.h - copies of the debug data of the compiled methods that were read last. From JDK 25
 * on these data are outside the code heap.
 *
 *   a place in a method ─take─► the copy of its data, or of another's ─► read, decode ─give_back─►
 *
 * A walk meets a method at many places: at its calls, and wherever it is interrupted as a leaf. The
 * data do not change, so one system call serves all of these places.
 *
 * Owns     SMP_CODE_COPIES copies, two for each hash of a blob's address; 512 KB, of which only
 *          the used pages are real.
 * Threads  take, give_back: any, signal handlers included; in between the thread owns the copy.
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

/* The method that the data belong to, and their place in memory. compile_id 0: the copy is
 * empty. */
struct smp_code_copy_key {
    uintptr_t blob;
    uintptr_t compile_id;
    uintptr_t debug;
    uintptr_t debug_bytes;
    uintptr_t metadata;
    uintptr_t metadata_bytes;
};

/* A thread may also have a copy of its own, with less room, for data that are not kept. */
struct smp_code_copy {
    struct smp_code_copy_key key;
    char *debug;
    size_t debug_room;
    char *metadata;
    size_t metadata_room;
};

struct smp_code_copy *smp_code_copies_take(uintptr_t blob);
void smp_code_copies_give_back(struct smp_code_copy *copy);
/* Empties all copies that no thread owns now, and returns their memory to the system. */
void smp_code_copies_empty(void);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * code_map.h - the list of compiled methods and runtime stubs, for the handler to read.
 *
 *   add, remove ─► recent ─full─► a new sorted view ─► code_view.h
 *
 * The JVM reuses addresses, and its unload events may come late. So a method that is added ends
 * each method whose addresses it takes.
 *
 * Owns     the views, and the names of stubs, which last until close.
 * Threads  any; writers take one mutex, never across a call to the JVM. Readers: code_view.h.
 * Errors   past SMP_CODE_MAX_PIECES, or without memory, new code stays unknown and is counted.
 * Cost     add: a pass over the recent pieces and, now and then, a merge, O(n). 32 bytes a piece.
 */
#ifndef SMP_JVM_CODE_CODE_MAP_H
#define SMP_JVM_CODE_CODE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "handler/code_view.h"

enum {
    SMP_CODE_MAX_PIECES = 65536,
    SMP_CODE_MAX_NAMES = 4096,
    SMP_CODE_NAME_BYTES = 128 /* with brackets; longer names are cut */
};

struct smp_code_map_stats {
    size_t pieces; /* alive, and dead ones that no merge has dropped yet */
    size_t names;
    size_t bytes;
    uint64_t refused;
};

/* SMP_ENOMEM. Between close and open nothing is kept, and find finds nothing. */
SMP_CHECKED enum smp_status smp_code_map_open(void);
/* Waits for readers. Frees the texts of names. */
void smp_code_map_close(void);

void smp_code_map_add_method(uintptr_t start, uint32_t size, uint64_t method);
void smp_code_map_remove_method(uintptr_t start, uint64_t method);
/* The call that returns to this address gets the line of pc. Called after the method was added; the
 * entry ends with the method. */
void smp_code_map_add_call_site(uintptr_t return_address, uintptr_t pc);
void smp_code_map_add_stub(uintptr_t start, uint32_t size, const char *name);

/* Returns "[name]" of a stub's key, valid until close; NULL if there is no such key. */
const char *smp_code_map_name(uint64_t key);
/* Returns whether the address is in a stub whose name contains part. */
bool smp_code_map_is_stub(uintptr_t address, const char *part);
/* Returns whether pc is in a compiled method or in the interpreter. */
bool smp_code_map_is_java(uintptr_t pc);
void smp_code_map_get_stats(struct smp_code_map_stats *out);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * method.h - from the JVM's Method* to what a sample keeps of it: its method id, or, where it
 * has none yet, its names.
 *
 * Only for a method that is alive: that is, inside the proof that its thread has not run (see
 * walk/outside.h), or in the handler of the thread whose frame it is.
 *
 * Threads  any, signal handlers included: no lock, no allocation, no call into the JVM.
 * Errors   0 or false: no id, or memory that is no method.
 * Cost     system calls (base/safe_read.h): three or four for the code, one or two for the byte
 *          codes alone; one more for an id; three more than the code for names; one, of five parts,
 *          to see that nothing has changed.
 */
#ifndef SMP_HOTSPOT_METHOD_H
#define SMP_HOTSPOT_METHOD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hotspot/layout.h"

enum { SMP_METHOD_NAME_BYTES = 256 /* of each name; longer ones are cut */ };

struct smp_method_names {
    char class_name[SMP_METHOD_NAME_BYTES]; /* as the class file has it: com/acme/Outer$Inner */
    char name[SMP_METHOD_NAME_BYTES];
    uintptr_t const_method; /* with the Method* the key of this method while it is loaded */
};

/* What an interpreted frame is checked with. */
struct smp_method_code {
    uintptr_t const_method;
    uintptr_t code;      /* its byte codes */
    uint32_t code_bytes; /* 0: none */
    bool is_native;
    bool has_lines;  /* a table of its lines follows the byte codes */
    uint16_t number; /* among its class's methods */
    uintptr_t ids;   /* address of the pointer to the ids of its class's methods */
    uintptr_t pool;
    uintptr_t id_array; /* what ids points to */
    bool is_unsure;     /* of frame_cache.h's: see smp_frames_confirm */
};

/*
 * Looks like a Method: its ConstMethod has room for its byte codes, and its constant pool is as
 * long as the pool's tags. For words that may be anything.
 */
bool smp_method_code(const struct smp_layout *layout, uintptr_t method,
                     struct smp_method_code *out);
/* 0: it has no id yet. */
uint64_t smp_method_code_id(const struct smp_method_code *code);
/* Of a word that is known to be a Method*: only what an interpreted frame is checked with. */
bool smp_method_byte_codes(const struct smp_layout *layout, uintptr_t method,
                           struct smp_method_code *out);
/*
 * Are all words that led from this Method* to its code and to its id, which is not 0, as they were?
 * Then reading them anew would find nothing else.
 */
bool smp_method_is_same(const struct smp_layout *layout, uintptr_t method,
                        const struct smp_method_code *code, uint64_t id);
uint64_t smp_method_id(const struct smp_layout *layout, uintptr_t method);
bool smp_method_names(const struct smp_layout *layout, uintptr_t method,
                      struct smp_method_names *out);
/* The byte code index of a pointer into the method's byte codes; -1: native; -2: not in it. */
int32_t smp_method_code_bci(const struct smp_method_code *code, uintptr_t bcp);

#endif

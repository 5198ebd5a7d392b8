/* SPDX-License-Identifier: Apache-2.0 */
/*
 * method.h - reads a Method* of the JVM: its method id, or its names if it has no id yet.
 *
 * The method must be alive: inside the proof that its thread has not run (walk/outside.h), or in
 * the handler of the thread whose frame it is.
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

enum { SMP_METHOD_NAME_BYTES = 256 /* a longer name is cut */ };

struct smp_method_names {
    char class_name[SMP_METHOD_NAME_BYTES]; /* as the class file has it: com/acme/Outer$Inner */
    char name[SMP_METHOD_NAME_BYTES];
    uintptr_t const_method; /* with the Method* the key of this method while it is loaded */
};

/* An interpreted frame is checked with this. */
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
    bool is_unsure;     /* set by frame_cache.h: see smp_frames_confirm */
};

/*
 * Does this word, which may be anything, point to a Method? Its ConstMethod must have room for its
 * byte codes, and its constant pool must be as long as the pool's tags.
 */
bool smp_method_code(const struct smp_layout *layout, uintptr_t method,
                     struct smp_method_code *out);
/* 0: it has no id yet. */
uint64_t smp_method_code_id(const struct smp_method_code *code);
/* For a word that is known to be a Method*: sets only the members up to number, without the checks.
 * */
bool smp_method_byte_codes(const struct smp_layout *layout, uintptr_t method,
                           struct smp_method_code *out);
/*
 * Are all words that led from this Method* to its code and its id unchanged? Then reading them anew
 * would give the same. The id is not 0.
 */
bool smp_method_is_same(const struct smp_layout *layout, uintptr_t method,
                        const struct smp_method_code *code, uint64_t id);
uint64_t smp_method_id(const struct smp_layout *layout, uintptr_t method);
bool smp_method_names(const struct smp_layout *layout, uintptr_t method,
                      struct smp_method_names *out);
/* The index of a pointer into the method's byte codes; -1: a native method; -2: not in them. */
int32_t smp_method_code_bci(const struct smp_method_code *code, uintptr_t bcp);

#endif

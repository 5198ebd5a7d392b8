/* SPDX-License-Identifier: Apache-2.0 */
/*
 * method.h - reads a Method* of the JVM: its method id, where its byte codes are, or, for a method
 * that has no id yet, a copy of what a report shows.
 *
 *   Method*, byte code index ─► class, name, file as the class file has them · line · native
 *
 * JVMTI returns the same texts and lines for the method's id, so frames with and without an id are
 * one row. A name is never cut: if there is no room, nothing is copied.
 *
 * The method must be alive: inside the proof that its thread has not run (walk/outside.h), or in
 * the handler of the thread whose frame it is.
 *
 * Threads  any, signal handlers included: no lock, no allocation, no call into the JVM.
 * Errors   0 or false: no id, no room, or memory that is not a method.
 * Cost     system calls (base/safe_read.h): three or four for the code, one or two for the byte
 *          codes alone; one more for an id; 7 to 9 for a copy, more if the table of lines takes
 *          over 512 bytes; one, of five parts, to see that nothing has changed.
 */
#ifndef SMP_HOTSPOT_METHOD_H
#define SMP_HOTSPOT_METHOD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hotspot/layout.h"

/* The byte codes of a method, and the words that lead from the Method* to them and to its id. */
struct smp_method_code {
    uintptr_t const_method;
    uintptr_t code;      /* its byte codes */
    uint32_t code_bytes; /* 0: none */
    bool is_native;
    bool has_lines;  /* a table of its lines follows the byte codes */
    uint16_t number; /* among its class's methods */
    uintptr_t ids;   /* address of the pointer to the ids of its class's methods */
    uintptr_t pool;
    uintptr_t id_array; /* the address that ids holds */
    bool is_unsure;     /* set by frame_cache.h: see smp_frames_confirm */
};

/* A copy. The texts are modified UTF-8 without a NUL, one behind the other. */
struct smp_method_copy {
    int32_t line;       /* 0: unknown */
    int32_t first_line; /* the smallest line of the method; 0: unknown */
    bool is_native;
    uint16_t class_bytes; /* com/acme/Outer$Inner */
    uint16_t name_bytes;
    uint16_t file_bytes; /* 0: unknown */
    char texts[];
};

/*
 * Accepts any word. Returns false unless it points to a Method: its ConstMethod must have room for
 * its byte codes, and its constant pool must be as long as the pool's tags.
 */
bool smp_method_code(const struct smp_layout *layout, uintptr_t method,
                     struct smp_method_code *out);
/* Returns 0 if the method has no id yet. */
uint64_t smp_method_code_id(const struct smp_method_code *code);
/* For a word that is known to be a Method*: sets only the members up to number, without the
 * checks. */
bool smp_method_byte_codes(const struct smp_layout *layout, uintptr_t method,
                           struct smp_method_code *out);
/*
 * Compares all words that led from this Method* to its code and to its id, which is not 0. Returns
 * true if they are unchanged, so that reading them again would give the same.
 */
bool smp_method_is_same(const struct smp_layout *layout, uintptr_t method,
                        const struct smp_method_code *code, uint64_t id);
uint64_t smp_method_id(const struct smp_layout *layout, uintptr_t method);
/* Returns a pointer's index in the method's byte codes; -1: a native method; -2: not in them. */
int32_t smp_method_code_bci(const struct smp_method_code *code, uintptr_t bcp);

/* Returns the bytes used, a multiple of 8. room is aligned to 8. */
size_t smp_method_copy(const struct smp_layout *layout, uintptr_t method, int32_t bci, char *room,
                       size_t bytes);

/* Lines of a method. */
struct smp_method_lines {
    int32_t line;  /* as smp_line_find; 0: none */
    int32_t first; /* the smallest line of the method; 0: none */
};

/*
 * Reads the compressed table of lines behind a method's byte codes, in [start, end). A negative bci
 * means the method's beginning. base: see layout.h. Returns false if the table does not end inside
 * the method, or cannot be read.
 *
 *   byte below 255          the byte code index grows by its upper five bits, the line by the rest
 *   byte 255, two numbers   both grow by these, which may be negative
 *   byte 0                  the end
 */
bool smp_method_lines_read(uint32_t base, uintptr_t start, uintptr_t end, int32_t bci,
                           struct smp_method_lines *out);

#endif

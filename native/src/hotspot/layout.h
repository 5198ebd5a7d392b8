/* SPDX-License-Identifier: Apache-2.0 */
/*
 * layout.h - the offsets and addresses that a stack walk needs: one table of the JVM's fields, with
 * their alternatives from version to version, and the check that all of them are there.
 *
 *   gHotSpotVMStructs, gHotSpotVMTypes, gHotSpotVM*Constants ─► the table ─► struct smp_layout
 *                                                                  └─ a row is missing, or its type
 *                                                                     is another ─► the reason
 *
 * libjvm exports its fields for debuggers, which is not a supported interface. So a layout is used
 * only if every required row was found, with the type that the table expects; and then only after
 * jvm/check/check.h has compared walks of known stacks.
 *
 * Threads  find: any. A found layout, which is constant: any, signal handlers included.
 * Errors   find: false, with the reason.
 * Cost     find: one pass over about three thousand names.
 */
#ifndef SMP_HOTSPOT_LAYOUT_H
#define SMP_HOTSPOT_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hotspot/exports.h"
#include "hotspot/thread_layout.h"

enum {
    SMP_LAYOUT_REASON_BYTES = 160,
    SMP_LAYOUT_HAS_LINES = 1 /* in const_method.flags: line numbers follow the byte codes */
};

/*
 * Numbers without a unit are offsets of a field in its object, in bytes; addresses are those of
 * static variables. If JDKs keep something in different ways, the members of the ways that this JDK
 * does not use are 0.
 */
struct smp_layout {
    int version;              /* of the Java platform */
    uint32_t compressed_base; /* 0 or 1: subtracted from each byte of a compressed number */

    struct {
        uint32_t anchor;
        uint32_t state;
    } thread;                     /* JavaThread */
    struct smp_jvm_states states; /* of threads */
    struct {
        uint32_t sp;
        uint32_t pc;
        uint32_t fp;
    } anchor; /* JavaFrameAnchor: the last Java frame of a thread, or of an entry into Java */
    struct {
        uintptr_t return_pc; /* address of the variable with the return address */
        uint32_t anchor;     /* in the call wrapper */
    } entry;
    struct {
        uintptr_t list;  /* address of the pointer to the list of code heaps */
        uint32_t length; /* of the list */
        uint32_t data;   /* its elements */
        uint32_t memory; /* in a code heap: the space of its code */
        uint32_t map;    /* the space of its segment map */
        uint32_t shift;  /* log2 of the bytes of a segment */
        uint32_t low;    /* in a space */
        uint32_t high;
        uint32_t block_bytes; /* of the header before a blob */
        uint32_t block_used;
    } heap;
    struct {
        uint32_t name;
        uint32_t bytes;
        uint32_t frame_words;
        uint32_t frame_complete;
        uint32_t frame_complete_short; /* the same as a 16-bit number */
        uint32_t code_start;           /* pointers */
        uint32_t code_end;
        uint32_t code_start_offset; /* the same as distances from the blob's start */
        uint32_t code_end_offset;
        uint32_t kind; /* 0: unknown; only to recognise the stubs of upcalls */
    } blob;
    struct {
        uint32_t method;
        uint32_t compile_id;
        uint32_t state;       /* a signed byte, not negative once it is installed; 0: unknown */
        uint32_t original_pc; /* distance from the frame's sp */
        /* Debug data inside of the blob. */
        uint32_t scopes;     /* pointer */
        uint32_t scopes_end; /* distance from the blob's start, as the next two */
        uint32_t pcs_end;
        uint32_t metadata;
        /* Debug data outside of it. */
        uint32_t outside; /* pointer */
        uint32_t outside_bytes;
        uint32_t outside_pcs; /* distances from that pointer */
        uint32_t outside_scopes;
        uint32_t mutable_data; /* pointer */
        uint32_t mutable_bytes;
        uint32_t relocation_bytes; /* the metadata begin behind these */
        /* The place to which a deoptimised frame is sent. */
        uint32_t deopt; /* pointers */
        uint32_t deopt_mh;
        uint32_t deopt_offset; /* distances from the blob's start */
        uint32_t deopt_mh_offset;
    } nmethod;
    struct {
        uint32_t bytes;
        uint32_t pc;
        uint32_t scope;
    } pc_record; /* PcDesc */
    struct {
        uintptr_t code; /* address of the pointer to its code */
        uint32_t start;
        uint32_t bytes;
    } interpreter;
    struct {
        uint32_t bytes;
        uint32_t const_method;
        uint32_t flags;
    } method;
    struct {
        uint32_t bytes; /* the byte codes begin behind these */
        uint32_t words; /* its size with all that follows */
        uint32_t pool;
        uint32_t code_bytes;
        uint32_t name;
        uint32_t number;
        uint32_t flags; /* of which the first two bytes count */
    } const_method;
    struct {
        uint32_t bytes; /* the entries begin behind these */
        uint32_t length;
        uint32_t tags;
        uint32_t holder;
        uint32_t source_file; /* the entry with its name; 0: none */
    } pool;
    struct {
        uint32_t name;
        uint32_t ids; /* pointer to the method ids: their count, then one for each number */
    } klass;
    struct {
        uint32_t length;
        uint32_t body;
    } symbol;

    struct {
        bool is_known;
        int32_t kind;    /* of its blob */
        uint32_t anchor; /* distance from the frame's sp, in a field of the blob */
        uint32_t frame_anchor;
    } upcall;
    uintptr_t barrier_pc;       /* address of the variable; 0: this JDK does not export it */
    const uint64_t *safepoints; /* the JVM's count of them; NULL: not known */
};

/*
 * exports: NULL, or a test's. reason: what is missing, such as "no field CodeBlob::_name" or "the
 * field CodeBlob::_size is a short, expected int".
 */
bool smp_layout_find(const struct smp_exports *exports, int version, struct smp_layout *out,
                     char reason[SMP_LAYOUT_REASON_BYTES]);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * code.h - reads the JVM's generated code from memory: which blob contains a pc, and which frames a
 * compiled method has at a return address.
 *
 *   pc ─► code heap ─► segment map ─► blob ─► kind, frame size
 *                                      └──► record of exactly this pc ─► scopes ─► frames
 *
 * The code heap is never unmapped, so reading a blob cannot fault; its contents can only be stale.
 * Data that a method keeps elsewhere (its scopes, from JDK 25 on) are read by base/safe_read.h. A
 * caller must not use the result before it has proved that the stack has not changed meanwhile.
 *
 * Threads  any, signal handlers included: no lock, no allocation, no call into the JVM.
 * Errors   false, or 0 frames: not code of a known kind, or a record that makes no sense.
 * Cost     find: some loads. frames: a binary search and one decoded scope for each frame; if the
 *          debug data are outside the code heap, one system call, three if they are large.
 */
#ifndef SMP_HOTSPOT_CODE_H
#define SMP_HOTSPOT_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hotspot/layout.h"

enum smp_blob_kind {
    SMP_BLOB_COMPILED,    /* an nmethod */
    SMP_BLOB_NATIVE,      /* the wrapper of a native method */
    SMP_BLOB_INTERPRETER, /* the interpreter's code */
    SMP_BLOB_UPCALL,      /* through which native code calls Java */
    SMP_BLOB_BARRIER,     /* the stubs of continuations; if a frame returns into them, its caller is
                           * in the heap */
    SMP_BLOB_DEOPT,       /* replaces a compiled frame by interpreted ones, step by step */
    SMP_BLOB_STUB         /* any other blob: runtime stubs, adapters */
};

struct smp_blob {
    uintptr_t start;    /* of its header */
    uintptr_t code;     /* of its instructions */
    uintptr_t end;      /* of its instructions */
    uintptr_t data_end; /* of its data in the code heap */
    enum smp_blob_kind kind;
    uint32_t frame_bytes;   /* of its complete frame; 0: unknown */
    int32_t frame_complete; /* from this offset in the code on the frame is complete; -1: never */
    uint32_t compile_id;    /* never reused for another method; 0: not a method */
    uintptr_t method;       /* Method*; 0: not a method */
    bool is_data_mapped;    /* by smp_code_map_data: reading its debug data takes no system call */
};

/* A frame as HotSpot knows it. */
struct smp_raw_frame {
    uintptr_t method; /* Method* */
    int32_t bci;      /* as JVMTI counts: -1 in a native method */
};

enum { SMP_CODE_MAX_FRAMES = 128 /* at one return address; deeper inlining is not read */ };

/* The interpreter's code; low == high: there is none yet. */
struct smp_code_range {
    uintptr_t low;
    uintptr_t high;
};

struct smp_code_range smp_code_interpreter(const struct smp_layout *layout);

/* Returns whether this is the interpreter's own blob, with pc in it. */
static inline bool smp_blob_is_interpreter(struct smp_code_range interpreter, uintptr_t pc,
                                           struct smp_blob *out)
{
    if (pc < interpreter.low || pc >= interpreter.high)
        return false;
    *out = (struct smp_blob){ .start = interpreter.low,
                              .code = interpreter.low,
                              .end = interpreter.high,
                              .kind = SMP_BLOB_INTERPRETER };
    return true;
}

bool smp_blob_find(const struct smp_layout *layout, uintptr_t pc, struct smp_blob *out);

/*
 * Writes the frames of a compiled or native method at the return address pc, innermost first.
 * Returns 0 if there is no record of exactly this pc, or no room for all frames.
 */
size_t smp_code_frames(const struct smp_layout *layout, const struct smp_blob *blob, uintptr_t pc,
                       struct smp_raw_frame *out, size_t room);
/* As smp_code_frames, with the first record at or behind pc. */
size_t smp_code_frames_near(const struct smp_layout *layout, const struct smp_blob *blob,
                            uintptr_t pc, struct smp_raw_frame *out, size_t room);

/*
 * Recognizes a debug record that has the line of another place of its method. Returns the offset of
 * the record that counts in its place; 0: the record at this offset of a compiled method's code is
 * its own.
 *
 * C2 writes an instruction's record at the instruction's end. An instruction that takes no bytes,
 * such as "the thread's object", which is always in a register, ends where the instruction before
 * it ends, and its record replaces that one's. C2 shares it among all instructions that need the
 * thread's object, so its line is that of the first of them: of Thread.currentThread(), say, in
 * another inlined method. A poll of a safepoint needs the thread's object:
 *
 *   0x7ba  call *%r10             System.nanoTime() of a loop, line 253: its record was at 0x7c5
 *   0x7c5                         the thread's object: line 207, of the loop's caller, at 0x7c5
 *   0x7c5  mov 0x30(%r15), %r10   address of the page; other instructions may follow
 *   0x7c9  test %eax, (%r10)      the poll's own record, line 253
 *
 * The instruction before the poll has the poll's line, so the poll's record counts, and not the one
 * at the load. Other instructions that need the thread's object are not looked for: their line is
 * not always that of the instruction before them.
 */
int32_t smp_code_poll_record(const struct smp_blob *blob, int32_t offset);

/*
 * Reads a method's data safely once, so that smp_code_frames may load them. The JVM must keep the
 * method meanwhile, as it does during the method's event. Returns false if they cannot be read.
 */
bool smp_code_map_data(const struct smp_layout *layout, struct smp_blob *blob);

/*
 * Returns whether pc is the place to which the JVM sends a frame whose method it has deoptimised.
 * If so, the frame's own pc is in the word at *offset, which may be 0, from its stack pointer.
 */
bool smp_code_deoptimised_pc_offset(const struct smp_layout *layout, const struct smp_blob *blob,
                                    uintptr_t pc, uint32_t *offset);

#endif

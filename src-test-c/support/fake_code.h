/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fake_code.h - memory that looks like the code heap and the methods of a JVM, laid out as JDK
 * 17, 21 or 25 does, and stacks that look like those of its threads.
 *
 *   struct fake_code *code = fake_code_create(25);
 *   uintptr_t method = fake_code_method(code, "app/Main", "main", 0x1234);
 *   uintptr_t pc = fake_code_compile(code, method, 6, records, count);        start of its code
 * fake_stack_enter(code);                                                   native code calls
 * Java
 *   fake_stack_compiled(code, pc + 16);                                       the leaf so far
 * smp_frames_walk(fake_code_layout(code), NULL, fake_stack_start(code), fake_stack_high(code),
 * &out);
 *
 * Debug data is written by an encoder of its own. A test may change any word afterwards.
 *
 * Owns     all of its memory, from malloc; each part of it apart, so that a sanitizer sees a
 *          read beyond.
 * Threads  one writes, any read.
 * Errors   fail the test.
 * Cost     small inputs.
 */
#ifndef SMP_SUPPORT_FAKE_CODE_H
#define SMP_SUPPORT_FAKE_CODE_H

#include "hotspot/exports.h"
#include "hotspot/frames.h"
#include "hotspot/layout.h"
#include "model/sample.h"

enum {
    FAKE_RECORD_FRAMES = 16,
    FAKE_CODE_BYTES = 512,   /* of a method's or a stub's instructions */
    FAKE_BYTE_CODES = 300,   /* of each method */
    FAKE_LINE_BYTES = 4096,  /* room for its lines */
    FAKE_ORIGINAL_PC = 8,    /* offset from sp of a deoptimised frame's own pc */
    FAKE_DEOPT_OFFSET = 400, /* offsets in the code, of where it is sent then */
    FAKE_DEOPT_MH_OFFSET = 410,
    FAKE_UPCALL_DATA = 16 /* offset from sp of an upcall's anchor */
};

struct fake_code;

/* Debug data of one pc, innermost frame first. */
struct fake_record {
    int32_t pc; /* offset in the code; in ascending order */
    size_t count;
    struct smp_raw_frame frames[FAKE_RECORD_FRAMES];
};

struct fake_code *fake_code_create(int version);
void fake_code_destroy(struct fake_code *code);
const struct smp_layout *fake_code_layout(const struct fake_code *code);

/* What the layout is found in. */
struct smp_exports fake_code_exports(struct fake_code *code);

/* A Method*. id 0: it has none. */
uintptr_t fake_code_method(struct fake_code *code, const char *class_name, const char *name,
                           uint64_t id);
/* Its source file, and where its lines begin: in the order in which they are written. */
void fake_code_set_file(struct fake_code *code, uintptr_t method, const char *file);
void fake_code_set_lines(struct fake_code *code, uintptr_t method, const struct smp_line *lines,
                         size_t count);
void fake_code_set_native(struct fake_code *code, uintptr_t method);
void fake_code_set_id(struct fake_code *code, uintptr_t method, uint64_t id);
/* Address of its byte code. */
uintptr_t fake_code_bcp(struct fake_code *code, uintptr_t method, int32_t bci);

/*
 * Each returns the start of the instructions. frame_words: of the whole frame. name: a constant,
 * as the JVM's are.
 */
uintptr_t fake_code_compile(struct fake_code *code, uintptr_t method, uint32_t frame_words,
                            const struct fake_record *records, size_t count);
uintptr_t fake_code_native(struct fake_code *code, uintptr_t method, uint32_t frame_words);
uintptr_t fake_code_stub(struct fake_code *code, const char *name, uint32_t frame_words);
uintptr_t fake_code_upcall(struct fake_code *code, uint32_t frame_words);
uintptr_t fake_code_interpreter(const struct fake_code *code);
/* The start of the blob of these instructions. */
uintptr_t fake_code_blob(const struct fake_code *code, uintptr_t pc);
/* Writes lines as HotSpot does; returns the bytes written. base: smp_layout.compressed_base. */
size_t fake_code_encode_lines(uint32_t base, const struct smp_line *lines, size_t count,
                              uint8_t *out, size_t room);
/* The compile id of a method, for the test to change. */
void fake_code_set_compile_id(struct fake_code *code, uintptr_t pc, uint32_t id);
/* The memory of the code, to be damaged. */
uint8_t *fake_code_heap(struct fake_code *code, size_t *bytes);
uint8_t *fake_code_segment_map(struct fake_code *code, size_t *bytes);

/* A stack grows by calls; begins anew: as after create. */
void fake_stack_begin(struct fake_code *code);
void fake_stack_enter(struct fake_code *code);
void fake_stack_compiled(struct fake_code *code, uintptr_t pc);
/* With extra words between its own and the caller's frame; its real size is in the frame. */
void fake_stack_larger(struct fake_code *code, uintptr_t pc, uint32_t extra_words);
/* With extra words of locals, by which the caller's frame was extended. */
void fake_stack_interpreted(struct fake_code *code, uintptr_t method, int32_t bci,
                            uint32_t extra_words);
void fake_stack_upcall(struct fake_code *code, uintptr_t pc);
/* From now on its own pc is in the frame, and it returns to where frames are deoptimised. */
void fake_stack_deoptimise(struct fake_code *code, bool is_method_handle);
/* Words that belong to no frame. */
void fake_stack_leave(struct fake_code *code, uint32_t words);
struct smp_frames_start fake_stack_start(const struct fake_code *code);
uintptr_t fake_stack_high(const struct fake_code *code);
/* The words of the stack, from its sp up. */
uintptr_t *fake_stack_words(struct fake_code *code, size_t *count);

#endif

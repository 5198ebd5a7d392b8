/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fake_code.h - memory that looks like the code heap and the methods of a JVM, laid out as JDK
 * 17, 21 or 25 does, and stacks that look like those of its threads.
 *
 *   struct fake_code *code = fake_code_create(25);
 *   uintptr_t method = fake_code_method(code, "app/Main", "main", 0x1234);
 *   uintptr_t pc = fake_code_compile(code, method, 6, records, count);   start of its code
 *   fake_stack_enter(code);                                              native code calls Java
 *   fake_stack_compiled(code, pc + 16);                                  the leaf so far
 *   smp_frames_walk(fake_code_layout(code), NULL, fake_stack_start(code),
 *                   fake_stack_high(code), &out);
 *
 * A separate encoder writes the debug data. A test may change any word afterwards.
 *
 * Owns     all of its memory. Each part has its own malloc, so that a sanitizer reports a read
 *          beyond the end.
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
    FAKE_CODE_BYTES = 512,   /* size of the instructions of a method or a stub */
    FAKE_BYTE_CODES = 300,   /* byte codes of each method */
    FAKE_LINE_BYTES = 4096,  /* room for the line table of a method */
    FAKE_ORIGINAL_PC = 8,    /* offset from sp at which a deoptimised frame keeps its own pc */
    FAKE_DEOPT_OFFSET = 400, /* offset in the code of the deoptimisation handler */
    FAKE_DEOPT_MH_OFFSET = 410,
    FAKE_UPCALL_DATA = 16 /* offset from sp of an upcall's anchor */
};

struct fake_code;

/* Debug data of one pc, innermost frame first. */
struct fake_record {
    int32_t pc; /* offset in the code; ascending */
    size_t count;
    struct smp_raw_frame frames[FAKE_RECORD_FRAMES];
};

struct fake_code *fake_code_create(int version);
void fake_code_destroy(struct fake_code *code);
const struct smp_layout *fake_code_layout(const struct fake_code *code);

/* The exports from which a layout is read. */
struct smp_exports fake_code_exports(struct fake_code *code);

/* Returns a Method*. id 0: the method has no jmethodID. */
uintptr_t fake_code_method(struct fake_code *code, const char *class_name, const char *name,
                           uint64_t id);
/* Sets its source file and its line table, in the order in which the lines are written. */
void fake_code_set_file(struct fake_code *code, uintptr_t method, const char *file);
void fake_code_set_lines(struct fake_code *code, uintptr_t method, const struct smp_line *lines,
                         size_t count);
void fake_code_set_native(struct fake_code *code, uintptr_t method);
void fake_code_set_id(struct fake_code *code, uintptr_t method, uint64_t id);
/* Returns the address of its byte code. */
uintptr_t fake_code_bcp(struct fake_code *code, uintptr_t method, int32_t bci);

/* Each function returns the start of the instructions. frame_words: the size of the whole frame.
 * name: must be a constant, as the JVM's names are. */
uintptr_t fake_code_compile(struct fake_code *code, uintptr_t method, uint32_t frame_words,
                            const struct fake_record *records, size_t count);
uintptr_t fake_code_native(struct fake_code *code, uintptr_t method, uint32_t frame_words);
uintptr_t fake_code_stub(struct fake_code *code, const char *name, uint32_t frame_words);
uintptr_t fake_code_upcall(struct fake_code *code, uint32_t frame_words);
uintptr_t fake_code_interpreter(const struct fake_code *code);
/* Returns the start of the code blob with these instructions. */
uintptr_t fake_code_blob(const struct fake_code *code, uintptr_t pc);
/* Writes lines as HotSpot does; returns the bytes written. base: smp_layout.compressed_base. */
size_t fake_code_encode_lines(uint32_t base, const struct smp_line *lines, size_t count,
                              uint8_t *out, size_t room);
/* Changes the compile id of a method. */
void fake_code_set_compile_id(struct fake_code *code, uintptr_t pc, uint32_t id);
/* Returns the code heap, for a test that damages it. */
uint8_t *fake_code_heap(struct fake_code *code, size_t *bytes);
uint8_t *fake_code_segment_map(struct fake_code *code, size_t *bytes);

/* Calls extend the stack. fake_stack_begin makes it empty again. */
void fake_stack_begin(struct fake_code *code);
void fake_stack_enter(struct fake_code *code);
void fake_stack_compiled(struct fake_code *code, uintptr_t pc);
/* Pushes a frame that has extra words between itself and the caller's frame. The frame contains
 * its real size. */
void fake_stack_larger(struct fake_code *code, uintptr_t pc, uint32_t extra_words);
/* Pushes a frame with extra words of locals, which extend the caller's frame. */
void fake_stack_interpreted(struct fake_code *code, uintptr_t method, int32_t bci,
                            uint32_t extra_words);
void fake_stack_upcall(struct fake_code *code, uintptr_t pc);
/* Deoptimises the innermost frame: its own pc moves into the frame, and it returns to the
 * deoptimisation handler. */
void fake_stack_deoptimise(struct fake_code *code, bool is_method_handle);
/* Leaves words between two frames that belong to neither. */
void fake_stack_leave(struct fake_code *code, uint32_t words);
struct smp_frames_start fake_stack_start(const struct fake_code *code);
uintptr_t fake_stack_high(const struct fake_code *code);
/* Returns the words of the stack, from its sp up. */
uintptr_t *fake_stack_words(struct fake_code *code, size_t *count);

#endif

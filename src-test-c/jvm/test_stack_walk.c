/* SPDX-License-Identifier: Apache-2.0 */
/* The frame with which a walk in the handler begins, on an artificial stack in artificial code.
 * Our own walk takes exactly one frame and AsyncGetCallTrace exactly one set of registers; both
 * refuse all others. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>
#include <ucontext.h>

#include "handler/registers.h"
#include "handler/signal_frame.h"
#include "handler/stack_walk.h"
#include "hotspot/machine_code.h"
#include "jvm/code/code_map.h"
#include "support/registers_set.h"
#include "support/thread_states.h"

#if defined(__x86_64__)

enum {
    CALLER = 0x100, /* offsets in the artificial code */
    METHOD = 0x400,
    NATIVE = 0x500,
    NEW_METHOD = 0x680, /* its event has not come yet */
    STUB = 0x800,
    OTHER_STUB = 0x880,
    THROW_STUB = 0x8c0,
    DEOPT = 0x900,
    INTERPRETER = 0xa00,
    FRAME_BYTES = 48, /* of METHOD: push, sub $32 */
    FRAME_COMPLETE = 12,
    CALLER_ID = 11,
    METHOD_ID = 12,
    ROOT_ID = 13,
    NATIVE_ID = 14,
    NEW_ID = 15,
    NO_METHOD = 100,
    WORDS = 256,
    FRAMES = 16
};

static uint8_t code[0x1000] __attribute__((aligned(64)));
static uintptr_t stack[WORDS] __attribute__((aligned(16)));
static struct smp_jvm_frame frames[FRAMES];
static struct smp_walk_answer answer;
/* Ends as the C library's handlers do; the JVM's own code is elsewhere. */
enum { OTHER_SIGNAL = 27 };

static uint8_t restorer[16] = { 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05 };
static bool no_own_walk; /* the engine is AsyncGetCallTrace */
static bool no_engine;
static bool no_bounds;
static bool was_alive;
static bool is_frameless; /* the code of the native method has no frame */
static uintptr_t bcp;     /* registers of the interpreter */
static uintptr_t method_register;
static uintptr_t result_register;
static struct smp_left_registers native_left;
static struct smp_exception_registers exception;
static _Atomic int64_t ended_ns;

/* The arguments of AsyncGetCallTrace. */
static struct {
    uintptr_t pc;
    uintptr_t sp;
    int32_t code;   /* for all other registers */
    uintptr_t root; /* the root of its frames */
    int calls;
} jvm;

/* The arguments of our own walk. */
static struct {
    struct smp_frames_start from; /* fp, bcp 0: any */
    bool is_at_root;              /* there is no further frame */
    struct smp_stack_cut cut;
    int calls;
} own;

/* The JVM's thread object. */
static struct {
    uint64_t reserved;
    int32_t state;
    uintptr_t sp;
    uintptr_t pc;
    uintptr_t fp;
    uintptr_t exception_pc;
} java_thread;

static struct smp_jvm_layout layout = { .states = STATES_UNTIL_27,
                                        .state = 8,
                                        .last_sp = 16,
                                        .last_pc = 24,
                                        .last_fp = 32,
                                        .exception_pc = 40 };

static uintptr_t at(size_t offset)
{
    return (uintptr_t)code + offset;
}

static uintptr_t slot(size_t word)
{
    return (uintptr_t)stack + word * sizeof(uintptr_t); /* may be outside the stack */
}

/* Register sets that the kernel has saved: the interrupted ones, and those in frames of other
 * handlers. */
static struct smp_registers saved[4];
static size_t saved_count;

static bool has_saved(struct smp_registers registers)
{
    bool found = false;

    for (size_t i = 0; i < saved_count; i++)
        found = found || memcmp(&saved[i], &registers, sizeof(registers)) == 0;
    return found;
}

static void save(struct smp_registers registers)
{
    if (has_saved(registers))
        return;
    assert_in_range(saved_count, 0, sizeof(saved) / sizeof(saved[0]) - 1);
    saved[saved_count++] = registers;
}

static int32_t put_frames(struct smp_jvm_frame *out)
{
    out[0] = (struct smp_jvm_frame){ 5, (void *)CALLER_ID };
    out[1] = (struct smp_jvm_frame){ 6, (void *)jvm.root };
    return 2;
}

static void walk_as_expected(struct smp_jvm_trace *trace, int32_t depth, void *context)
{
    const struct smp_registers registers = smp_registers_get(context);

    jvm.calls++;
    assert_int_equal(depth, FRAMES - 1);
    assert_non_null(trace->env);
    assert_true(has_saved(registers)); /* it must not get other registers, which can crash a JVM */
    if (registers.pc != jvm.pc || registers.sp != jvm.sp) {
        trace->count = jvm.code;
        return;
    }
    trace->count = put_frames(trace->frames);
}

static int32_t walk_own(const struct smp_own_walk *self, struct smp_frames_start from,
                        uintptr_t stack_high, struct smp_jvm_frame *out, uint32_t capacity,
                        struct smp_stack_cut *cut)
{
    (void)self;
    own.calls++;
    *cut = own.cut;
    assert_int_equal(capacity, FRAMES - 1);
    assert_true(from.sp < stack_high);
    if (from.pc != own.from.pc || from.sp != own.from.sp || from.line_pc != own.from.line_pc ||
        (own.from.fp != 0 && from.fp != own.from.fp) ||
        (own.from.bcp != 0 && from.bcp != own.from.bcp))
        return SMP_OWN_WALK_FAILED;
    return own.is_at_root ? 0 : put_frames(out);
}

static const struct {
    uintptr_t start;
    uintptr_t bytes;
    enum smp_blob_kind kind;
    uintptr_t method;
} blobs[] = {
    { CALLER, 0x100, SMP_BLOB_COMPILED, CALLER_ID },
    { METHOD, 0x100, SMP_BLOB_COMPILED, METHOD_ID },
    { NATIVE, 0x100, SMP_BLOB_NATIVE, NATIVE_ID },
    { NEW_METHOD, 0x80, SMP_BLOB_COMPILED, NEW_ID },
    { STUB, 0x40, SMP_BLOB_STUB, 0 },
    { OTHER_STUB, 0x40, SMP_BLOB_STUB, 0 },
    { THROW_STUB, 0x40, SMP_BLOB_STUB, 0 },
    { DEOPT, 0x40, SMP_BLOB_DEOPT, 0 },
    { INTERPRETER, 0x100, SMP_BLOB_INTERPRETER, 0 },
};

/* New code of CALLER's method, beyond all code known from events. */
static uint8_t late_code[64];

static bool find_late_code(uintptr_t pc, struct smp_blob *out)
{
    *out = (struct smp_blob){ .code = (uintptr_t)late_code,
                              .end = (uintptr_t)late_code + sizeof(late_code),
                              .kind = SMP_BLOB_COMPILED,
                              .frame_complete = FRAME_COMPLETE,
                              .method = CALLER_ID };
    return pc - out->code < sizeof(late_code);
}

static bool find_blob(const struct smp_own_walk *self, uintptr_t pc, struct smp_blob *out)
{
    (void)self;
    for (size_t i = 0; i < sizeof(blobs) / sizeof(blobs[0]); i++) {
        const uintptr_t start = at(blobs[i].start);
        if (pc - start >= blobs[i].bytes)
            continue;
        const bool has_frame = blobs[i].kind != SMP_BLOB_NATIVE || !is_frameless;
        *out = (struct smp_blob){ .start = start,
                                  .code = start,
                                  .end = start + blobs[i].bytes,
                                  .kind = blobs[i].kind,
                                  .frame_bytes = has_frame ? FRAME_BYTES : 0,
                                  .frame_complete = has_frame ? FRAME_COMPLETE : 0xf0,
                                  .method = blobs[i].method };
        return true;
    }
    return find_late_code(pc, out);
}

/* Here a Method* is its own id. */
static bool find_id(const struct smp_own_walk *self, uintptr_t method, struct smp_jvm_frame *to,
                    uint32_t capacity, uint64_t *id)
{
    (void)self;
    (void)to;
    (void)capacity;
    *id = method;
    return method < NO_METHOD;
}

static const struct smp_own_walk own_walk = { .walk = walk_own,
                                              .find = find_blob,
                                              .id_of = find_id };

/* call rel32 to target; the next instruction is at the offset. */
static void put_call(size_t offset, size_t target)
{
    const int32_t distance = (int32_t)target - (int32_t)offset;

    code[offset - 5] = 0xe8;
    memcpy(&code[offset - 4], &distance, sizeof(distance));
}

static int make(void **state)
{
    static const uint8_t prologue[] = { 0x89, 0x84, 0x24, 0x00, 0xc0, 0xfe, 0xff, /* bang */
                                        0x55, 0x48, 0x83, 0xec, 0x20 };

    (void)state;
    memset(code, 0x90, sizeof(code));
    memset(stack, 0, sizeof(stack));
    memset(&jvm, 0, sizeof(jvm));
    memset(&own, 0, sizeof(own));
    memset(&java_thread, 0, sizeof(java_thread));
    no_own_walk = false;
    no_engine = false;
    no_bounds = false;
    was_alive = true;
    is_frameless = false;
    bcp = 0;
    method_register = 0;
    result_register = 0;
    native_left = (struct smp_left_registers){ 0 };
    exception = (struct smp_exception_registers){ 0 };
    layout.exception_pc = 40;
    ended_ns = 0;
    saved_count = 0;
    jvm.code = SMP_JVM_UNKNOWN_JAVA;
    jvm.root = ROOT_ID;
    memcpy(code + METHOD, prologue, sizeof(prologue));
    put_call(CALLER + 0x40, METHOD);
    put_call(CALLER + 0x60, STUB);
    put_call(CALLER + 0xf0, THROW_STUB);
    if (smp_code_map_open() != SMP_OK)
        return -1;
    smp_code_map_add_method(at(CALLER), 0x100, CALLER_ID);
    smp_code_map_add_method(at(METHOD), 0x100, METHOD_ID);
    smp_code_map_add_stub(at(STUB), 0x40, "copy");
    smp_code_map_add_stub(at(OTHER_STUB), 0x40, "other");
    smp_code_map_add_stub(at(THROW_STUB), 0x40, "handle_exception_from_callee Runtime1 stub");
    smp_code_map_add_stub(at(INTERPRETER), 0x100, "Interpreter");
    return 0;
}

static int unmake(void **state)
{
    (void)state;
    smp_code_map_close();
    return 0;
}

/* Walks with the thread caught at pc and the stack pointer at a word. The registers must come back
 * unchanged. */
static void catch_with(struct smp_registers caught, struct smp_walk_target target)
{
    ucontext_t context;

    memset(&context, 0, sizeof(context));
    /* its handler may be what was interrupted */
    (void)sigaddset(&context.uc_sigmask, OTHER_SIGNAL);
    registers_set(&context, caught);
    context.uc_mcontext.gregs[REG_R13] = (greg_t)bcp;
    context.uc_mcontext.gregs[REG_RBX] = (greg_t)method_register;
    context.uc_mcontext.gregs[REG_RAX] = (greg_t)result_register;
    context.uc_mcontext.gregs[REG_R11] = (greg_t)native_left.sender_sp;
    context.uc_mcontext.gregs[REG_RDI] = (greg_t)native_left.return_address;
    context.uc_mcontext.gregs[REG_RDX] = (greg_t)exception.pc;
    context.uc_mcontext.gregs[REG_RCX] = (greg_t)exception.handler;
    save(caught);
    smp_stack_walk(&target, &context, frames, FRAMES, &answer);
    saved_count--;
    const struct smp_registers after = smp_registers_get(&context);
    assert_memory_equal(&after, &caught, sizeof(after));
}

static struct smp_walk_target target_with(uintptr_t stack_low, uintptr_t stack_high, void *root)
{
    return (struct smp_walk_target){ .own = no_own_walk || no_engine ? NULL : &own_walk,
                                     .walk = no_own_walk ? walk_as_expected : NULL,
                                     .layout = layout,
                                     .env = &jvm,
                                     .java_thread = (uintptr_t)&java_thread,
                                     .ended_ns = &ended_ns,
                                     .was_alive = was_alive,
                                     .stack_low = stack_low,
                                     .stack_high = stack_high,
                                     .root = root };
}

static void catch_with_fp(uintptr_t pc, size_t word, uintptr_t fp, void *root)
{
    catch_with((struct smp_registers){ .pc = pc, .sp = slot(word), .fp = fp },
               target_with(no_bounds ? 0 : slot(0), no_bounds ? 0 : slot(WORDS), root));
}

static void catch_at(uintptr_t pc, size_t word, void *root)
{
    catch_with_fp(pc, word, 0x77, root);
}

static void expect(enum smp_answer expected, uint32_t count, uintptr_t leaf)
{
    assert_int_equal(answer.answer, expected);
    assert_int_equal(answer.count, count);
    if (count > 0)
        assert_int_equal((uintptr_t)frames[answer.first].method, leaf);
}

static void take(uintptr_t pc, uintptr_t sp)
{
    jvm.pc = pc;
    jvm.sp = sp;
}

static void take_own(uintptr_t pc, uintptr_t line_pc, uintptr_t sp)
{
    own.from = (struct smp_frames_start){ .sp = sp, .pc = pc, .line_pc = line_pc };
}

/* The line of a stub's caller is recorded at its return address or after it. */
static void take_own_stub_caller(uintptr_t sp)
{
    take_own(at(CALLER + 0x60), at(CALLER + 0x60), sp);
}

static void test_prologues_are_recognised(void **state)
{
    static const uint8_t second[] = {
        0x48, 0x81, 0xec, 0x18, 0, 0, 0, 0x48, 0x89, 0x6c, 0x24, 0x10
    };
    static const uint8_t kept[] = { 0x55, 0x48, 0x8b, 0xec, 0x48, 0x81, 0xec, 0x50, 1, 0, 0 };
    uint8_t text[64];

    (void)state;
    struct smp_code_frame frame = smp_machine_code_frame(code + METHOD, 0x100);
    assert_int_equal(frame.bytes, FRAME_BYTES);
    assert_int_equal(frame.pushed_at, 8);
    assert_int_equal(frame.lowered_at, 12);
    memset(text, 0x90, sizeof(text));
    memcpy(text, second, sizeof(second));
    frame = smp_machine_code_frame(text, sizeof(text));
    assert_int_equal(frame.bytes, 0x18 + 8);
    assert_int_equal(frame.pushed_at, 7);
    assert_int_equal(frame.lowered_at, 7);
    memset(text, 0x90, sizeof(text));
    memcpy(text + 8, kept, sizeof(kept));
    frame = smp_machine_code_frame(text, sizeof(text));
    assert_int_equal(frame.bytes, 0x150 + 16);
    assert_int_equal(frame.lowered_at, 8 + sizeof(kept));
    memset(text, 0x90, sizeof(text));
    assert_int_equal(smp_machine_code_frame(text, sizeof(text)).bytes, 0);
    assert_int_equal(smp_machine_code_frame(text, 3).bytes, 0);
}

static void test_a_complete_frame_is_walked_without_the_jvm(void **state)
{
    (void)state;
    take_own(at(METHOD + 0x50), at(METHOD + 0x51), slot(8));
    catch_at(at(METHOD + 0x50), 8, NULL);
    expect(SMP_ANSWER_WHOLE, 2, CALLER_ID);
    assert_int_equal(jvm.calls, 0);
    assert_int_equal(own.calls, 1);
    take_own(at(NEW_METHOD + 0x50), at(NEW_METHOD + 0x51), slot(8)); /* code_map.h gets it later */
    catch_at(at(NEW_METHOD + 0x50), 8, NULL);
    expect(SMP_ANSWER_WHOLE, 2, CALLER_ID);
    take_own(at(NATIVE + 0x50), 0, slot(8));
    catch_at(at(NATIVE + 0x50), 8, NULL);
    expect(SMP_ANSWER_WHOLE, 2, CALLER_ID);
}

static void test_a_stack_without_enough_room_is_cut(void **state)
{
    (void)state;
    own.cut = (struct smp_stack_cut){ .root_count = 1, .omitted = 9 };
    take_own(at(METHOD + 0x50), at(METHOD + 0x51), slot(8));
    catch_at(at(METHOD + 0x50), 8, NULL);
    assert_int_equal(answer.cut.omitted, 9);
    assert_int_equal(answer.cut.root_count, 1);
    own.cut.root_count = 0;
    catch_at(at(METHOD + 0x50), 8, NULL);
    expect(SMP_ANSWER_WHOLE, 2, CALLER_ID);
    assert_int_equal(answer.cut.omitted, 9);
}

static void test_at_the_entry(void **state)
{
    (void)state;
    take_own(at(CALLER + 0x40), 0, slot(9)); /* before push */
    stack[8] = at(CALLER + 0x40);
    catch_at(at(METHOD), 8, NULL);
    expect(SMP_ANSWER_AT_ENTRY, 3, METHOD_ID);
    assert_int_equal(frames[answer.first].bci, 0);
    assert_false(answer.is_pseudo);
    take_own(at(CALLER + 0x40), 0, slot(10)); /* after push */
    stack[8] = 0;
    stack[9] = at(CALLER + 0x40);
    catch_at(at(METHOD + 8), 8, NULL);
    expect(SMP_ANSWER_AT_ENTRY, 3, METHOD_ID);
    /* complete, but not declared to be */
    take_own(at(CALLER + 0x40), 0, slot(8 + FRAME_BYTES / 8));
    stack[9] = 0;
    stack[8 + FRAME_BYTES / 8 - 1] = at(CALLER + 0x40);
    catch_at(at(METHOD + 12), 8, NULL);
    expect(SMP_ANSWER_AT_ENTRY, 3, METHOD_ID);
}

static void test_at_the_return(void **state)
{
    (void)state;
    /* words that are left: none, or the saved frame pointer */
    for (size_t left = 0; left < 2; left++) {
        memset(stack, 0, sizeof(stack));
        stack[10 + left] = at(CALLER + 0x40);
        take_own(at(METHOD + 0x50), at(METHOD + 0x51), slot(10 + left) + 8 - FRAME_BYTES);
        catch_at(at(METHOD + 0x50), 10, NULL);
        expect(SMP_ANSWER_AT_RETURN, 2, CALLER_ID);
    }
    /* The caller does not expect this frame, so the frame counts as left. */
    memset(stack, 0, sizeof(stack));
    stack[10] = at(CALLER + 0x40);
    take_own(at(CALLER + 0x40), 0, slot(11));
    catch_at(at(METHOD + 0x50), 10, NULL);
    expect(SMP_ANSWER_AT_RETURN, 3, METHOD_ID);
}

/* The code shows that the frame has been removed. The words on the stack look like a frame, but
 * belong to an earlier call. */
static void test_a_frame_that_was_taken_down_is_not_walked(void **state)
{
    static const struct {
        uint8_t text[16];
        size_t at; /* the offset of the instruction that is interrupted */
        size_t left;
    } ends[] = {
        { { 0x5d, 0xc3 }, 0, 1 },
        { { 0x5d, 0xc3 }, 1, 0 },
        { { 0x5d, 0x49, 0x3b, 0xa7, 0x48, 0x03, 0, 0, 0x0f, 0x87, 1, 0, 0, 0, 0xc3 }, 1, 0 },
        { { 0x5d, 0x49, 0x3b, 0xa7, 0x48, 0x03, 0, 0, 0x0f, 0x87, 1, 0, 0, 0, 0xc3 }, 8, 0 },
        { { 0x5d, 0x49, 0x3b, 0x67, 0x28, 0x0f, 0x87, 1, 0, 0, 0, 0xc3 }, 5, 0 },
        { { 0x5d, 0xe9, 1, 2, 3, 4 }, 1, 0 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        const uintptr_t pc = at(METHOD + 0x50 + ends[i].at);
        const size_t returns = 10 + ends[i].left;
        memset(stack, 0, sizeof(stack));
        memcpy(code + METHOD + 0x50, ends[i].text, sizeof(ends[i].text));
        stack[10 + FRAME_BYTES / 8 - 1] = at(CALLER + 0x40);
        take_own(pc, pc + 1, slot(10));
        catch_at(pc, 10, NULL);
        assert_int_not_equal(answer.answer, SMP_ANSWER_WHOLE);
        stack[returns] = at(INTERPRETER + 8); /* where it certainly returns to */
        take_own(pc, pc + 1, slot(returns) + 8 - FRAME_BYTES);
        catch_at(pc, 10, NULL);
        expect(SMP_ANSWER_AT_RETURN, 2, CALLER_ID);
    }
}

/* add $0x5d, %eax; jmp: the byte before the jump is also that of pop %rbp. The target of
 * the jump tells them apart: a method that has left its frame jumps to a stub. */
static void test_a_jump_inside_the_method_keeps_its_frame(void **state)
{
    static const struct {
        size_t target;
        bool is_inside;
    } jumps[] = { { METHOD + 0x40, true },
                  { METHOD, true },
                  { METHOD + 0xff, true },
                  { METHOD + 0x100, false },
                  { METHOD - 1, false } };
    const size_t jump = METHOD + 0x53;
    const uint8_t add[] = { 0x83, 0xc0, 0x5d, 0xe9 };

    (void)state;
    stack[10 + FRAME_BYTES / 8 - 1] = at(CALLER + 0x40);
    memcpy(code + jump - 3, add, sizeof(add));
    for (size_t i = 0; i < sizeof(jumps) / sizeof(jumps[0]); i++) {
        const int32_t distance = (int32_t)jumps[i].target - (int32_t)(jump + 5);
        memcpy(code + jump + 1, &distance, sizeof(distance));
        take_own(at(jump), at(jump + 1), slot(10));
        own.calls = 0;
        catch_at(at(jump), 10, NULL);
        assert_int_equal(answer.answer == SMP_ANSWER_WHOLE, jumps[i].is_inside);
        if (jumps[i].is_inside)
            assert_int_equal(own.calls, 1);
    }
}

/* There is no frame below a thread's first frame in Java. */
static void test_while_the_first_frame_is_created(void **state)
{
    (void)state;
    stack[8] = (uintptr_t)restorer; /* native code has called it: not in any method */
    take_own((uintptr_t)restorer, 0, slot(9));
    own.is_at_root = true;
    catch_at(at(METHOD), 8, NULL);
    expect(SMP_ANSWER_AT_ENTRY, 1, METHOD_ID);
}

static void test_a_method_whose_prologue_is_not_understood(void **state)
{
    (void)state;
    for (size_t pushed = 0; pushed < 2; pushed++) {
        memset(stack, 0, sizeof(stack));
        stack[8 + pushed] = at(CALLER + 0x40);
        take_own(at(CALLER + 0x40), 0, slot(9 + pushed));
        catch_at(at(NEW_METHOD + 4), 8, NULL); /* before its frame is complete */
        expect(SMP_ANSWER_AT_ENTRY, 3, NEW_ID);
    }
    take_own(at(NEW_METHOD + FRAME_COMPLETE), at(NEW_METHOD + FRAME_COMPLETE + 1), slot(8));
    catch_at(at(NEW_METHOD + FRAME_COMPLETE), 8, NULL);
    expect(SMP_ANSWER_WHOLE, 2, CALLER_ID);
}

static void test_with_registers_pushed(void **state)
{
    (void)state;
    stack[8 + 2 + FRAME_BYTES / 8 - 1] = at(CALLER + 0x40);
    take_own(at(METHOD + 0x50), at(METHOD + 0x51), slot(8 + 2));
    catch_at(at(METHOD + 0x50), 8, NULL);
    expect(SMP_ANSWER_PUSHED, 2, CALLER_ID);
}

/* The frame is above this many pushed words. An old return address is where the right one would be
 * if nothing were pushed. */
static void expect_frame_above(uintptr_t pc, size_t pushed)
{
    memset(stack, 0, sizeof(stack));
    stack[8 + FRAME_BYTES / 8 - 1] = at(CALLER + 0x60);
    stack[8 + pushed + FRAME_BYTES / 8 - 1] = at(CALLER + 0x40);
    take_own(pc, pc + 1, slot(8 + pushed));
    own.calls = 0;
    catch_at(pc, 8, NULL);
    expect(pushed > 0 ? SMP_ANSWER_PUSHED : SMP_ANSWER_WHOLE, 2, CALLER_ID);
    assert_int_equal(own.calls, 1);
}

/* C1's type check: an old return address is where the frame's own would be if no argument were on
 * the stack. So the right place is tried first. */
static void test_between_the_pushes_and_pops_of_arguments(void **state)
{
    static const struct {
        uint8_t text[16];
        struct {
            uint8_t offset, pushed;
        } at[7];
    } checks[] = {
        { { 0x53, 0x50, 0xe8, 0, 0, 0, 0, 0x5b, 0x5b, 0x85, 0xdb },
          { { 0, 0 }, { 1, 1 }, { 2, 2 }, { 7, 2 }, { 8, 1 }, { 9, 0 } } },
        { { 0x56, 0x41, 0x50, 0xe8, 0, 0, 0, 0, 0x41, 0x58, 0x5e, 0x4d, 0x85, 0xc0 },
          { { 0, 0 }, { 1, 1 }, { 3, 2 }, { 8, 2 }, { 10, 1 }, { 11, 0 } } },
        /* no call, and the end of a frame */
        { { 0x53, 0x50, 0x5b, 0x5b }, { { 0, 0 }, { 1, 0 }, { 2, 0 }, { 3, 0 } } },
        { { 0xe8, 0, 0, 0, 0, 0x85, 0xdb }, { { 0, 0 }, { 5, 0 } } },
        /* cmp: no push, although the bytes after it would be one */
        { { 0x39, 0x50, 0xe8, 0, 0, 0, 0, 0x5b, 0x5b }, { { 0, 0 } } },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++) {
        memcpy(code + METHOD + 0x50, checks[i].text, sizeof(checks[i].text));
        for (size_t j = 0; j == 0 || checks[i].at[j].offset > 0; j++) {
            const uintptr_t pc = at(METHOD + 0x50 + checks[i].at[j].offset);
            const size_t pushed = checks[i].at[j].pushed;
            expect_frame_above(pc, pushed);
        }
    }
}

/* C1's copy of an array of objects, as JDK 17 has it. */
static const uint8_t array_copy[] = {
    0x56, 0x51,                                        /* 0: push %rsi; push %rcx */
    0x8b, 0x76, 0x08,                                  /* 2: the source's class */
    0x49, 0xba, 0,    0,    0,    0x30, 0x88, 0x7f,    /* 5: its base */
    0,    0,    0x49, 0x03, 0xf2,                      /* 15 */
    0x8b, 0x49, 0x08,                                  /* 18: the destination's */
    0x48, 0x3b, 0xf1, 0x0f, 0x84, 0x26, 0,    0,    0, /* 21: the same? */
    0x56, 0x51,                                        /* 30: the type check */
    0xe8, 0,    0,    0,    0,                         /* 32 */
    0x59, 0x5e,                                        /* 37 */
    0x83, 0xfe, 0x00, 0x0f, 0x85, 0x15, 0,    0,    0, /* 39 */
    0x59, 0x5e,                                        /* 48 */
    0x8b, 0xf1                                         /* 50 */
};

static void test_while_arrays_are_saved(void **state)
{
    static const struct {
        uint8_t offset, pushed;
    } moments[] = { { 0, 0 },  { 1, 1 },  { 2, 2 },  { 5, 2 },  { 15, 2 }, { 21, 2 },
                    { 30, 2 }, { 31, 3 }, { 32, 4 }, { 37, 4 }, { 38, 3 }, { 39, 2 },
                    { 42, 2 }, { 48, 2 }, { 49, 1 }, { 50, 0 } };
    enum { COPY = METHOD + 0x50 };

    (void)state;
    memcpy(code + COPY, array_copy, sizeof(array_copy));
    for (size_t i = 0; i < sizeof(moments) / sizeof(moments[0]); i++) {
        const uintptr_t pc = at(COPY + moments[i].offset);
        const size_t pushed = moments[i].pushed;
        expect_frame_above(pc, pushed);
    }
    assert_int_equal(smp_machine_code_kept_at(at(COPY + 2), at(COPY + 1), at(COPY + 60)), 0);
    assert_int_equal(smp_machine_code_kept_at(at(COPY + 21), at(COPY), at(COPY + 30)), 0);
    assert_int_equal(smp_machine_code_kept_at(at(COPY + 21), at(COPY), at(COPY + 22)), 0);
    /* In the stub of the type check. */
    put_call(COPY + 37, STUB);
    stack[12] = at(COPY + 37);
    take_own(at(COPY + 37), at(COPY + 37), slot(17));
    catch_at(at(STUB + 4), 10, NULL);
    expect(SMP_ANSWER_IN_STUB, 3, (uintptr_t)frames[0].method);
}

static void test_in_a_stub(void **state)
{
    (void)state;
    stack[10] = at(CALLER + 0x40); /* an old return address of another call */
    stack[14] = at(CALLER + 0x60);
    take_own_stub_caller(slot(15));
    catch_at(at(STUB + 4), 8, NULL);
    expect(SMP_ANSWER_IN_STUB, 3, frames[0].method == NULL ? 0 : (uintptr_t)frames[0].method);
    assert_true(answer.is_pseudo);
    assert_string_equal(smp_code_map_name((uint64_t)(uintptr_t)frames[0].method), "[copy]");
}

/* C1 pushes the arguments of a type check and pops them after the call: push; push; call; pop %r8;
 * pop %rsi. The frame begins above them. */
static void test_in_a_stub_with_pushed_arguments(void **state)
{
    static const uint8_t pops[] = { 0x41, 0x58, 0x5e };

    (void)state;
    memcpy(code + CALLER + 0x60, pops, sizeof(pops));
    stack[10] = at(CALLER + 0x40); /* an old return address of another call */
    stack[14] = at(CALLER + 0x60);
    take_own_stub_caller(slot(17));
    catch_at(at(STUB + 4), 8, NULL);
    expect(SMP_ANSWER_IN_STUB, 3, (uintptr_t)frames[0].method);
    assert_int_equal(own.calls, 1);
    memset(code + CALLER + 0x60, 0x5d, 2); /* pop %rbp twice: the end of a frame, no arguments */
    take_own_stub_caller(slot(15));
    catch_at(at(STUB + 4), 8, NULL);
    expect(SMP_ANSWER_IN_STUB, 3, (uintptr_t)frames[0].method);
    memset(code + CALLER + 0x60, 0x90, sizeof(pops));
}

/* Of two candidates, the one that called this stub is taken. */
static void test_the_caller_of_this_stub_is_preferred(void **state)
{
    (void)state;
    stack[10] = at(CALLER + 0x40);
    stack[14] = at(CALLER + 0x60);
    /* the JVM would take the wrong one */
    take_own(at(CALLER + 0x40), at(CALLER + 0x40), slot(11));
    catch_at(at(STUB + 4), 8, NULL);
    assert_int_equal(answer.count, 3); /* it is the last resort */
    jvm.calls = 0;
    own.calls = 0;
    take_own_stub_caller(slot(15));
    catch_at(at(STUB + 4), 8, NULL);
    assert_int_equal(jvm.calls, 0);
    assert_int_equal(own.calls, 1); /* the right one at once */
}

/* Stubs that copy arrays jump into each other after push %rbp; mov %rsp, %rbp: the caller has
 * called another stub than the one that is running. The caller's frame still contains the return
 * address of an earlier call of the running one. */
static void test_a_stub_that_another_has_jumped_to(void **state)
{
    static const uint8_t enter[] = { 0x55, 0x48, 0x8b, 0xec };
    enum { RETURN = STUB + 0x30, OTHERS_CALL = CALLER + 0x80 };
    static const struct {
        size_t pc;
        size_t sp; /* words */
        size_t fp;
    } moments[] = { { STUB, 11, 30 },        { STUB + 1, 10, 30 },   { STUB + 4, 10, 10 },
                    { STUB + 0x10, 10, 10 }, { STUB + 0x20, 6, 10 }, { RETURN, 11, 30 },
                    { STUB + 0x10, 10, 20 }, { STUB + 0x10, 10, 4 } };

    (void)state;
    memcpy(code + STUB, enter, sizeof(enter));
    code[RETURN] = 0xc3;
    put_call(OTHERS_CALL, OTHER_STUB);
    stack[10] = slot(30);
    stack[11] = at(OTHERS_CALL);
    stack[14] = at(CALLER + 0x60); /* an earlier call of this stub */
    take_own(at(OTHERS_CALL), at(OTHERS_CALL), slot(12));
    for (size_t i = 0; i < sizeof(moments) / sizeof(moments[0]); i++) {
        own.calls = 0;
        catch_with_fp(at(moments[i].pc), moments[i].sp, slot(moments[i].fp), NULL);
        expect(SMP_ANSWER_IN_STUB, 3, (uintptr_t)frames[0].method);
        assert_string_equal(smp_code_map_name((uint64_t)(uintptr_t)frames[0].method), "[copy]");
        /* The last two use %rbp for something else: found by the words on the stack. */
        assert_int_equal(own.calls, i < 6 ? 1 : 2);
    }
}

/* ------------------------------------------------------------------------------- exceptions */

enum {
    THROWN = CALLER + 0x40,  /* the exception's pc: after the call that threw */
    EARLIER = CALLER + 0x60, /* the pc of an earlier exception */
    HANDLER = CALLER + 0xc0, /* no call precedes it */
    LOOK_UP = CALLER + 0xf0  /* after the method's call of the stub */
};

static void expect_in_throw_stub(void)
{
    expect(SMP_ANSWER_IN_STUB, 3, (uintptr_t)frames[0].method);
    assert_true(answer.is_pseudo);
    assert_string_equal(smp_code_map_name((uint64_t)(uintptr_t)frames[0].method),
                        "[handle_exception_from_callee Runtime1 stub]");
    assert_int_equal(own.calls, 1); /* the right one at once */
    own.calls = 0;
}

static void test_a_method_about_to_search_for_a_handler(void **state)
{
    const uintptr_t pc = at(LOOK_UP) - 5;

    (void)state;
    exception.pc = at(THROWN);
    java_thread.exception_pc = at(EARLIER);
    take_own(at(THROWN), 0, slot(8));
    catch_at(pc, 8, NULL);
    expect(SMP_ANSWER_WHOLE, 2, CALLER_ID);
    exception.pc = at(METHOD + 0x50); /* any value */
    take_own(pc, pc + 1, slot(8));
    catch_at(pc, 8, NULL);
    expect(SMP_ANSWER_WHOLE, 2, CALLER_ID);
    exception.pc = at(THROWN);
    take_own(at(EARLIER) - 5, at(EARLIER) - 4, slot(8)); /* a call of another stub */
    catch_at(at(EARLIER) - 5, 8, NULL);
    expect(SMP_ANSWER_WHOLE, 2, CALLER_ID);
}

static void test_searching_for_a_handler_before_the_jvm_is_called(void **state)
{
    (void)state;
    exception.pc = at(THROWN);
    java_thread.exception_pc = at(EARLIER);
    stack[8] = at(LOOK_UP);
    take_own(at(THROWN), 0, slot(9));
    catch_at(at(THROW_STUB), 8, NULL);
    expect_in_throw_stub();
    stack[8] = 0x77; /* the frame pointer was pushed */
    stack[9] = at(LOOK_UP);
    take_own(at(THROWN), 0, slot(10));
    catch_at(at(THROW_STUB + 1), 8, NULL);
    expect_in_throw_stub();
    catch_with_fp(at(THROW_STUB + 4), 8, slot(8), NULL);
    expect_in_throw_stub();
}

/* By then its return address is the exception's pc. */
static void test_searching_for_a_handler_around_the_call_of_the_jvm(void **state)
{
    (void)state;
    exception.pc = at(EARLIER); /* the call has overwritten it */
    java_thread.exception_pc = at(THROWN);
    stack[12] = at(THROWN);
    take_own(at(THROWN), 0, slot(13));
    catch_with_fp(at(THROW_STUB + 0x10), 8, slot(11), NULL);
    expect_in_throw_stub();
}

static void test_a_handler_is_found(void **state)
{
    (void)state;
    exception.pc = at(EARLIER);
    java_thread.exception_pc = at(THROWN);
    stack[9] = at(HANDLER);
    take_own(at(THROWN), 0, slot(10));
    catch_with_fp(at(THROW_STUB + 0x20), 8, slot(8), NULL);
    expect_in_throw_stub();
    catch_at(at(THROW_STUB + 0x21), 9, NULL); /* its frame is removed */
    expect_in_throw_stub();
    catch_at(at(OTHER_STUB + 0x21), 9, NULL); /* only this stub has such a return address */
    expect(SMP_ANSWER_UNKNOWN_JAVA, 0, 0);
}

static void test_about_to_jump_to_a_handler(void **state)
{
    (void)state;
    code[THROW_STUB + 0x22] = 0xff;
    code[THROW_STUB + 0x23] = 0xe1;
    exception = (struct smp_exception_registers){ .pc = at(EARLIER), .handler = at(HANDLER) };
    java_thread.exception_pc = at(THROWN);
    stack[10] = at(EARLIER); /* an old one */
    take_own(at(THROWN), 0, slot(10));
    catch_at(at(THROW_STUB + 0x22), 10, NULL);
    expect_in_throw_stub();
}

static void test_an_exception_from_an_unknown_pc(void **state)
{
    const uintptr_t others[] = { 0, at(METHOD + 0x50) };

    (void)state;
    exception.handler = at(HANDLER);
    stack[9] = at(HANDLER);
    code[THROW_STUB + 0x22] = 0xff;
    code[THROW_STUB + 0x23] = 0xe1;
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        java_thread.exception_pc = others[i];
        take_own(at(HANDLER), at(HANDLER), slot(10));
        catch_at(at(THROW_STUB + 0x21), 9, NULL);
        expect_in_throw_stub();
        catch_at(at(THROW_STUB + 0x22), 10, NULL);
        expect_in_throw_stub();
    }
    java_thread.exception_pc = at(THROWN);
    layout.exception_pc = 0;
    catch_at(at(THROW_STUB + 0x21), 9, NULL);
    expect_in_throw_stub();
    java_thread.exception_pc = 0;
    layout.exception_pc = 40;
    exception.handler = 0;
    catch_at(at(THROW_STUB + 0x22), 10, NULL);
    expect(SMP_ANSWER_UNKNOWN_JAVA, 0, 0);
}

static void test_a_recorded_call_site_is_taken(void **state)
{
    (void)state;
    smp_code_map_add_call_site(at(CALLER + 0x60), at(CALLER + 0xa0));
    stack[14] = at(CALLER + 0x60);
    take_own(at(CALLER + 0x60), at(CALLER + 0xa0), slot(15));
    catch_at(at(STUB + 4), 8, NULL);
    assert_int_equal(answer.answer, SMP_ANSWER_IN_STUB);
    smp_code_map_remove_method(at(CALLER), CALLER_ID); /* and its call sites */
    smp_code_map_add_method(at(CALLER), 0x100, CALLER_ID);
    catch_at(at(STUB + 4), 8, NULL);
    assert_int_equal(answer.answer, SMP_ANSWER_UNKNOWN_JAVA);
}

/* mov $stub, %r10; call *%r10, as stubs are called, with a vzeroupper before. */
static void test_a_call_by_register(void **state)
{
    static const uint8_t text[] = { 0xc5, 0xf8, 0x77, 0x49, 0xba, 0,    0,    0,
                                    0,    0,    0,    0,    0,    0x41, 0xff, 0xd2 };
    const uintptr_t target = at(STUB);
    struct smp_call call;

    (void)state;
    memcpy(code + CALLER + 0x80, text, sizeof(text));
    memcpy(code + CALLER + 0x85, &target, sizeof(target));
    assert_true(smp_machine_code_follows_call(at(CALLER + 0x90), &call));
    assert_int_equal(call.target, target);
    assert_int_equal(call.start, at(CALLER + 0x80));
    assert_int_equal(smp_machine_code_next_leaf_call(code + CALLER, 0x100, 0, &call), 0x90);
    assert_int_equal(smp_machine_code_next_leaf_call(code + CALLER, 0x100, 0x91, &call), 0);
    stack[10] = at(CALLER + 0x60); /* also calls the stub, but its frame does not fit */
    stack[14] = at(CALLER + 0x90);
    take_own(at(CALLER + 0x90), at(CALLER + 0x90), slot(15));
    catch_at(at(STUB + 4), 8, NULL);
    assert_int_equal(answer.answer, SMP_ANSWER_IN_STUB);
}

/* mov $target, %r10; call *%r10; the next instruction is at the offset. */
static void put_leaf_call(size_t offset, uintptr_t target)
{
    static const uint8_t text[] = { 0x49, 0xba, 0, 0, 0, 0, 0, 0, 0, 0, 0x41, 0xff, 0xd2 };

    memcpy(code + offset - sizeof(text), text, sizeof(text));
    memcpy(code + offset - sizeof(text) + 2, &target, sizeof(target));
}

enum { LEAF_CALL = CALLER + 0xb0 };

/* Two functions of the C library called by a method, in a thread that runs Java code. */
static void put_leaf_stack(void)
{
    java_thread.state = STATE_IN_JAVA;
    put_leaf_call(LEAF_CALL, (uintptr_t)restorer);
    stack[12] = slot(40); /* frame pointer of the running function */
    stack[13] = (uintptr_t)restorer;
    stack[40] = 0x77; /* any value: the method has no frame pointer */
    stack[41] = at(LEAF_CALL);
}

static void test_a_leaf_call(void **state)
{
    (void)state;
    put_leaf_stack();
    stack[9] = at(CALLER + 0x60); /* an old return address, which is not searched for */
    take_own(at(LEAF_CALL), at(LEAF_CALL), slot(42));
    catch_with_fp((uintptr_t)restorer, 8, slot(12), NULL);
    expect(SMP_ANSWER_WHOLE, 2, CALLER_ID);
    assert_int_equal(own.calls, 1);
    assert_int_equal(jvm.calls, 0); /* it takes another line */
}

/* A function that uses the register for something else and has saved the frame pointer among other
 * words, in a frame larger than the part that is searched for return addresses. */
static void test_a_leaf_call_by_a_saved_frame_pointer(void **state)
{
    (void)state;
    put_leaf_stack();
    stack[9] = at(LEAF_CALL); /* an old one: no frame pointer leads to it */
    stack[10] = slot(30);     /* any pointer to the stack */
    stack[11] = slot(12);
    take_own(at(LEAF_CALL), at(LEAF_CALL), slot(42));
    catch_at((uintptr_t)restorer, 8, NULL);
    expect(SMP_ANSWER_WHOLE, 2, CALLER_ID);
    assert_int_equal(own.calls, 1);
    assert_int_equal(jvm.calls, 0);
    stack[11] = 0;
    stack[12] = 0;
    stack[8 + SMP_WALK_SAVED_WORDS - 1] = slot(8 + SMP_WALK_SAVED_WORDS);
    stack[8 + SMP_WALK_SAVED_WORDS + 1] = at(LEAF_CALL);
    take_own(at(LEAF_CALL), at(LEAF_CALL), slot(8 + SMP_WALK_SAVED_WORDS + 2));
    catch_at((uintptr_t)restorer, 8, NULL);
    expect(SMP_ANSWER_WHOLE, 2, CALLER_ID);
    catch_at((uintptr_t)restorer, 7, NULL); /* one word too far */
    expect(SMP_ANSWER_UNKNOWN_JAVA, 0, 0);
    catch_at((uintptr_t)restorer, WORDS - 2, NULL); /* the stack ends before it */
    expect(SMP_ANSWER_UNKNOWN_JAVA, 0, 0);
}

static void test_a_leaf_call_of_the_interpreter(void **state)
{
    (void)state;
    put_leaf_stack();
    put_leaf_call(INTERPRETER + 0x40, (uintptr_t)restorer);
    stack[40] = slot(60); /* of the interpreted frame */
    stack[41] = at(INTERPRETER + 0x40);
    take_own(at(INTERPRETER + 0x40), 0, slot(42));
    own.from.fp = slot(60);
    catch_with_fp((uintptr_t)restorer, 8, slot(12), NULL);
    expect(SMP_ANSWER_WHOLE, 2, CALLER_ID);
    assert_int_equal(jvm.calls, 0);
}

/* C1's code calls a stub to release a lock; the stub calls the JVM, which wakes another thread
 * through a function of the C library. */
static void put_stack_of_a_wake(void)
{
    put_leaf_stack();
    stack[13] = at(STUB + 0x20);
    stack[41] = at(CALLER + 0x60);
    take_own_stub_caller(slot(42));
}

static void test_a_leaf_call_of_a_stub(void **state)
{
    (void)state;
    put_stack_of_a_wake();
    catch_with_fp((uintptr_t)restorer, 8, slot(12), NULL);
    expect(SMP_ANSWER_IN_STUB, 3, (uintptr_t)frames[0].method);
    assert_true(answer.is_pseudo);
    stack[9] = slot(30); /* any pointer to the stack */
    stack[11] = slot(12);
    catch_at((uintptr_t)restorer, 8, NULL);
    expect(SMP_ANSWER_IN_STUB, 3, (uintptr_t)frames[0].method);
    assert_true(answer.is_pseudo);
    assert_int_equal(jvm.calls, 0);
}

/* C1's code of ZGC's barrier passes arguments on the stack and may save a register there. Its line
 * is where it continues. */
static void test_a_leaf_call_of_a_barrier(void **state)
{
    static const uint8_t taken[] = { 0x48, 0x83, 0xc4, 0x10, 0x4c, 0x8b, 0xc0, 0x58, 0xeb, 0x10 };

    (void)state;
    put_stack_of_a_wake();
    memcpy(code + CALLER + 0x60, taken, sizeof(taken));
    take_own(at(CALLER + 0x60), at(CALLER + 0x7a), slot(45));
    catch_with_fp((uintptr_t)restorer, 8, slot(12), NULL);
    expect(SMP_ANSWER_IN_STUB, 3, (uintptr_t)frames[0].method);
    memcpy(code + CALLER + 0x67, taken + 8, 2); /* it saves none */
    take_own(at(CALLER + 0x60), at(CALLER + 0x79), slot(44));
    catch_with_fp((uintptr_t)restorer, 8, slot(12), NULL);
    expect(SMP_ANSWER_IN_STUB, 3, (uintptr_t)frames[0].method);
    code[CALLER + 0x64] = 0xe9; /* the result is in its place */
    memset(code + CALLER + 0x65, 0, 4);
    take_own(at(CALLER + 0x60), at(CALLER + 0x69), slot(44));
    catch_with_fp((uintptr_t)restorer, 8, slot(12), NULL);
    expect(SMP_ANSWER_IN_STUB, 3, (uintptr_t)frames[0].method);
    code[CALLER + 0x64] = 0x5d; /* so a frame is being left */
    take_own_stub_caller(slot(42));
    catch_with_fp((uintptr_t)restorer, 8, slot(12), NULL);
    expect(SMP_ANSWER_IN_STUB, 3, (uintptr_t)frames[0].method);
    assert_int_equal(jvm.calls, 0);
}

/* At its entry a method calls a stub, which calls the JVM. */
static void test_a_barrier_at_the_entry(void **state)
{
    (void)state;
    java_thread.state = STATE_IN_JAVA;
    stack[12] = slot(40);
    stack[13] = at(STUB + 0x20);
    stack[41] = UINTPTR_MAX;
    stack[42] = at(METHOD + 0x30);
    put_call(METHOD + 0x30, STUB);
    stack[42 + FRAME_BYTES / sizeof(uintptr_t)] = at(CALLER + 0x40);
    take_own(at(CALLER + 0x40), 0, slot(43 + FRAME_BYTES / sizeof(uintptr_t)));
    catch_with_fp((uintptr_t)restorer, 8, slot(12), NULL);
    expect(SMP_ANSWER_AT_ENTRY, 3, METHOD_ID);
    assert_false(answer.is_pseudo);
    assert_int_equal(jvm.calls, 0);
    catch_with_fp(at(OTHER_STUB + 0x10), 8, slot(12), NULL); /* the JVM has called one */
    expect(SMP_ANSWER_AT_ENTRY, 3, METHOD_ID);
    stack[13] = at(OTHER_STUB + 0x20); /* another one has called the JVM */
    catch_with_fp((uintptr_t)restorer, 8, slot(12), NULL);
    expect(SMP_ANSWER_UNKNOWN_JAVA, 0, 0);
    stack[13] = at(STUB + 0x20);
    put_call(METHOD + 0x30, CALLER); /* it is another call */
    catch_with_fp((uintptr_t)restorer, 8, slot(12), NULL);
    expect(SMP_ANSWER_UNKNOWN_JAVA, 0, 0);
}

/* Frame pointers of finished functions lead to a caller that has called this stub before: the
 * frame above it has called code other than Java code, or another method. */
static void test_a_dead_frame_below_a_leaf_call_of_a_stub(void **state)
{
    const size_t above = 41 + FRAME_BYTES / sizeof(uintptr_t);

    (void)state;
    put_stack_of_a_wake();
    stack[11] = slot(12);
    stack[above] = at(LEAF_CALL);
    put_leaf_call(LEAF_CALL, at(CALLER));
    catch_at((uintptr_t)restorer, 8, NULL);
    expect(SMP_ANSWER_IN_STUB, 3, (uintptr_t)frames[0].method);
    put_leaf_call(LEAF_CALL, (uintptr_t)late_code);
    catch_at((uintptr_t)restorer, 8, NULL);
    expect(SMP_ANSWER_IN_STUB, 3, (uintptr_t)frames[0].method);
    put_leaf_call(LEAF_CALL, (uintptr_t)restorer);
    catch_at((uintptr_t)restorer, 8, NULL);
    expect(SMP_ANSWER_UNKNOWN_JAVA, 0, 0);
    put_leaf_call(LEAF_CALL, at(METHOD));
    catch_at((uintptr_t)restorer, 8, NULL);
    expect(SMP_ANSWER_UNKNOWN_JAVA, 0, 0);
    put_leaf_call(LEAF_CALL, at(STUB)); /* it has called the stub now */
    catch_at((uintptr_t)restorer, 8, NULL);
    expect(SMP_ANSWER_UNKNOWN_JAVA, 0, 0);
}

/* The JVM's code that enters the method of a method handle; with a barrier it is long. */
static void test_code_without_a_frame(void **state)
{
    static const size_t kept[] = { 0, 1, 18, SMP_WALK_KEPT_WORDS };

    (void)state;
    is_frameless = true;
    for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++) {
        memset(stack, 0, sizeof(stack));
        stack[8 + kept[i]] = at(CALLER + 0x40);
        take_own(at(CALLER + 0x40), 0, slot(9 + kept[i]));
        catch_at(at(NATIVE + 0xd0), 8, NULL);
        expect(SMP_ANSWER_AT_ENTRY, 3, NATIVE_ID);
        assert_int_equal(jvm.calls, 0);
    }
    memset(stack, 0, sizeof(stack));
    stack[9 + SMP_WALK_KEPT_WORDS] = at(CALLER + 0x40);
    take_own(at(CALLER + 0x40), 0, slot(10 + SMP_WALK_KEPT_WORDS));
    catch_at(at(NATIVE + 0xd0), 8, NULL);
    expect(SMP_ANSWER_NOT_WALKABLE_JAVA, 0, 0);
}

/* Saved registers may contain addresses of the interpreter: only its return addresses are
 * accepted. */
static void test_registers_above_code_without_a_frame(void **state)
{
    static const uint8_t returned[] = { 0x48, 0x8b, 0x65, 0xf0 }; /* mov -16(%rbp), %rsp */

    (void)state;
    is_frameless = true;
    stack[9] = at(INTERPRETER + 0x20);
    take_own(at(INTERPRETER + 0x20), 0, slot(10));
    catch_at(at(NATIVE + 0xd0), 8, NULL);
    expect(SMP_ANSWER_NOT_WALKABLE_JAVA, 0, 0);
    memcpy(code + INTERPRETER + 0x20, returned, sizeof(returned));
    catch_at(at(NATIVE + 0xd0), 8, NULL);
    expect(SMP_ANSWER_AT_ENTRY, 3, NATIVE_ID);
}

/* A word that a barrier leaves unchanged may be the return address of a finished call. */
static void test_a_dead_frame_above_code_without_a_frame(void **state)
{
    const size_t above = 9 + FRAME_BYTES / sizeof(uintptr_t);

    (void)state;
    is_frameless = true;
    stack[9] = at(CALLER + 0x40);
    take_own(at(CALLER + 0x40), 0, slot(10));
    stack[above] = at(CALLER + 0xe0);
    put_call(CALLER + 0xe0, METHOD);
    catch_at(at(NATIVE + 0xd0), 8, NULL);
    expect(SMP_ANSWER_NOT_WALKABLE_JAVA, 0, 0);
    put_call(CALLER + 0xe0, CALLER);
    catch_at(at(NATIVE + 0xd0), 8, NULL);
    expect(SMP_ANSWER_AT_ENTRY, 3, NATIVE_ID);
}

/* Then the JVM walks first, as for all other code that is not Java code. */
static void test_unproven_leaf_calls_are_left_to_the_jvm(void **state)
{
    enum { IN_VM, OF_JAVA, OF_ANOTHER_STUB, BY_REGISTER, BY_THE_INTERPRETER, MAY_HAVE_ENDED, ALL };

    for (int how = 0; how < ALL; how++) {
        (void)unmake(state);
        assert_int_equal(make(state), 0);
        put_leaf_stack();
        if (how == IN_VM)
            java_thread.state = 0; /* it is unknown whether it runs Java code */
        else if (how == OF_JAVA)
            put_leaf_call(LEAF_CALL, at(METHOD));
        else if (how == OF_ANOTHER_STUB)
            stack[13] = at(STUB + 0x20);
        else if (how == BY_REGISTER)
            memset(code + LEAF_CALL - 13, 0x90, 10);
        else if (how == BY_THE_INTERPRETER)
            stack[41] = at(INTERPRETER + 0x20);
        else
            was_alive = false;
        take_own(stack[41], how == BY_THE_INTERPRETER ? 0 : at(LEAF_CALL), slot(42));
        catch_with_fp((uintptr_t)restorer, 8, slot(12), NULL);
        expect(how == MAY_HAVE_ENDED ? SMP_ANSWER_UNKNOWN_NOT_JAVA : SMP_ANSWER_UNKNOWN_JAVA, 0, 0);
        assert_int_equal(own.calls, 0);
    }
}

static void test_an_interpreted_caller(void **state)
{
    (void)state;
    stack[11] = slot(30); /* its frame pointer, pushed by the stub */
    stack[12] = at(INTERPRETER + 0x20);
    take_own(at(INTERPRETER + 0x20), 0, slot(13));
    own.from.fp = slot(30);
    catch_at(at(STUB + 4), 10, NULL);
    expect(SMP_ANSWER_IN_STUB, 3, (uintptr_t)frames[0].method);
}

/* Words that only look like the caller's return address are not searched for. */
static void test_code_other_than_java_code(void **state)
{
    (void)state;
    java_thread.state = STATE_IN_JAVA;
    stack[20] = at(CALLER + 0x60);
    take_own_stub_caller(slot(21));
    catch_at((uintptr_t)stack, 8, NULL);
    expect(SMP_ANSWER_UNKNOWN_JAVA, 0, 0);
    assert_int_equal(own.calls, 0);
}

/* A frame of an earlier call may be below the caller: the call in the method above shows it. */
static void test_a_dead_frame_below_the_caller_of_a_stub(void **state)
{
    const size_t outer = 15 + FRAME_BYTES / sizeof(uintptr_t); /* behind the dead frame */

    (void)state;
    stack[14] = at(METHOD + 0x60); /* a return address in METHOD, and the words after its frame */
    put_call(METHOD + 0x60, CALLER);
    stack[outer - 1] = at(CALLER + 0x80);
    put_call(CALLER + 0x80, CALLER);
    for (int is_dead = 0; is_dead < 2; is_dead++) {
        put_call(CALLER + 0x80, is_dead ? CALLER : METHOD);
        take_own(is_dead ? at(CALLER + 0x80) : at(METHOD + 0x60),
                 is_dead ? at(CALLER + 0x80) : at(METHOD + 0x60), slot(is_dead ? outer : 15));
        own.calls = 0;
        catch_at(at(STUB + 4), 8, NULL);
        expect(SMP_ANSWER_IN_STUB, 3, (uintptr_t)frames[0].method);
        assert_int_equal(own.calls, 1);
    }
}

/* If a method was interpreted when it was called and is compiled while it runs, the call leads to
 * a stub behind the caller's code. On AArch64 each far call does. */
static void test_a_caller_called_through_a_stub_of_its_callers_code(void **state)
{
    (void)state;
    stack[14] = at(METHOD + 0x60);
    put_call(METHOD + 0x60, CALLER);
    stack[15 + FRAME_BYTES / sizeof(uintptr_t) - 1] = at(CALLER + 0x80);
    put_call(CALLER + 0x80, CALLER + 0xe0);
    take_own(at(METHOD + 0x60), at(METHOD + 0x60), slot(15));
    catch_at(at(STUB + 4), 8, NULL);
    expect(SMP_ANSWER_IN_STUB, 3, (uintptr_t)frames[0].method);
}

/* A barrier of G1: functions of the JVM called by a stub that copies references, which a method
 * has called; it uses more stack than is searched. */
static void put_barrier(void)
{
    java_thread.state = STATE_IN_JAVA;
    stack[12] = slot(40); /* frame pointer of the running function */
    stack[13] = (uintptr_t)restorer;
    stack[40] = slot(70); /* of its caller, which the stub has called */
    stack[41] = at(STUB + 0x20);
    stack[70] = slot(100); /* of the stub */
    stack[71] = at(CALLER + 0x60);
}

static void test_a_stub_that_calls_into_the_jvm(void **state)
{
    (void)state;
    put_barrier();
    take_own_stub_caller(slot(72));
    catch_with_fp((uintptr_t)stack, 8, slot(12), NULL);
    expect(SMP_ANSWER_IN_STUB, 3, (uintptr_t)frames[0].method);
    assert_true(answer.is_pseudo);
    assert_string_equal(smp_code_map_name((uint64_t)(uintptr_t)frames[0].method), "[copy]");
    assert_int_equal(own.calls, 1);
}

/* Frame pointers lead up the stack, and not endlessly. */
static void test_invalid_frame_pointers(void **state)
{
    const uintptr_t wrong[] = { 0,           slot(12),        slot(11),       slot(40) + 1,
                                slot(WORDS), slot(WORDS - 1), UINTPTR_MAX - 7 };

    (void)state;
    take_own_stub_caller(slot(72));
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        put_barrier();
        stack[12] = wrong[i];
        catch_with_fp((uintptr_t)stack, 8, slot(12), NULL);
        expect(SMP_ANSWER_UNKNOWN_JAVA, 0, 0);
    }
}

/* A word that only looks like code, or is too far up, is no return address. */
static void test_words_that_are_no_return_addresses(void **state)
{
    (void)state;
    stack[9] = at(CALLER + 0x50); /* there is no call before it */
    stack[10] = at(OTHER_STUB + 8);
    stack[11] = at(0xf00);
    stack[8 + SMP_WALK_SCAN_WORDS] = at(CALLER + 0x60);
    catch_at(at(STUB + 4), 8, NULL);
    expect(SMP_ANSWER_UNKNOWN_JAVA, 0, 0);
}

/* The event of a new method comes a little late, when the method is already running. */
static void test_a_method_not_known_yet(void **state)
{
    (void)state;
    stack[9] = at(0x700);
    stack[14] = at(CALLER + 0x60);
    take_own(at(0x700), at(0x700), slot(10));
    catch_at(at(STUB + 4), 8, NULL);
    expect(SMP_ANSWER_IN_STUB, 3, (uintptr_t)frames[0].method);
}

/* Nothing beyond the end of the stack is read, and nothing of an unknown stack. */
static void test_the_end_of_the_stack(void **state)
{
    (void)state;
    catch_at(at(STUB + 4), WORDS - 2, NULL);
    expect(SMP_ANSWER_UNKNOWN_JAVA, 0, 0);
    catch_at(at(STUB + 4), WORDS + 1000000, NULL);
    expect(SMP_ANSWER_UNKNOWN_JAVA, 0, 0);
    catch_at(at(METHOD + 0x50), WORDS - 1, NULL);
    expect(SMP_ANSWER_NOT_WALKABLE_JAVA, 0, 0);
}

/* A stack without known bounds is not read, unless the engine is AsyncGetCallTrace. */
static void test_a_stack_of_unknown_bounds(void **state)
{
    static const uintptr_t pcs[] = { METHOD + 0x50, INTERPRETER + 4, STUB + 4 };

    (void)state;
    no_bounds = true;
    for (size_t i = 0; i < sizeof(pcs) / sizeof(pcs[0]); i++) {
        const struct smp_registers caught = { .pc = at(pcs[i]), .sp = SIZE_MAX / 16 };
        own.calls = 0;
        take(caught.pc, caught.sp);
        no_own_walk = true;
        catch_with(caught, target_with(0, 0, NULL));
        expect(SMP_ANSWER_WHOLE, 2, CALLER_ID);
        no_own_walk = false;
        catch_with(caught, target_with(0, 0, NULL));
        expect(SMP_ANSWER_UNKNOWN_STATE, 0, 0); /* worth another try, with bounds */
        assert_int_equal(own.calls, 0);
    }
}

static void test_a_stack_of_the_jvm_without_its_root_is_rejected(void **state)
{
    (void)state;
    no_own_walk = true;
    take((uintptr_t)stack, slot(8));
    jvm.root = ROOT_ID + 1;
    catch_at((uintptr_t)stack, 8, (void *)ROOT_ID);
    expect(SMP_ANSWER_NOT_WALKABLE_JAVA, 0, 0);
    assert_int_equal((uintptr_t)answer.root, ROOT_ID + 1);
    jvm.root = ROOT_ID;
    catch_at((uintptr_t)stack, 8, (void *)ROOT_ID);
    expect(SMP_ANSWER_WHOLE, 2, CALLER_ID);
}

static void set_anchor(int32_t state, uintptr_t sp, uintptr_t pc, uintptr_t fp)
{
    java_thread.state = state;
    java_thread.sp = sp;
    java_thread.pc = pc;
    java_thread.fp = fp;
    jvm.code = SMP_JVM_UNKNOWN_NOT_JAVA;
}

static void test_inside_the_jvm(void **state)
{
    (void)state;
    set_anchor(STATE_IN_VM, slot(20), 0, 0x55); /* recorded without its pc */
    stack[19] = at(CALLER + 0x40);
    take_own(at(CALLER + 0x40), 0, slot(20));
    catch_at((uintptr_t)stack, 8, NULL);
    expect(SMP_ANSWER_WHOLE, 2, CALLER_ID);
    assert_int_equal(jvm.calls, 0);
    assert_int_equal(java_thread.pc, 0);
    assert_int_equal(java_thread.sp, slot(20));
    assert_int_equal(java_thread.fp, 0x55);
}

static void test_inside_the_jvm_by_a_stub(void **state)
{
    (void)state;
    set_anchor(STATE_FROM_VM, slot(20), at(OTHER_STUB + 8), slot(40));
    stack[40] = slot(60);
    stack[41] = at(CALLER + 0x40);
    take_own(at(CALLER + 0x40), 0, slot(42));
    own.from.fp = slot(60);
    catch_at((uintptr_t)stack, 8, NULL);
    expect(SMP_ANSWER_WHOLE, 2, CALLER_ID);
    assert_int_equal(java_thread.sp, slot(20));
    assert_int_equal(java_thread.pc, at(OTHER_STUB + 8));
    assert_int_equal(java_thread.fp, slot(40));
}

/* Its anchor is only read, so other threads may read it as well. */
static void test_in_native_code_or_blocked(void **state)
{
    static const int32_t states[] = { STATE_IN_NATIVE, STATE_BLOCKED, 11, 8 };

    (void)state;
    for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
        set_anchor(states[i], slot(20), 0, 0);
        stack[19] = at(CALLER + 0x40);
        take_own(at(CALLER + 0x40), 0, slot(20));
        jvm.calls = 0;
        catch_at((uintptr_t)stack, 8, NULL);
        expect(SMP_ANSWER_WHOLE, 2, CALLER_ID);
        assert_int_equal(answer.state, states[i]);
        assert_int_equal(jvm.calls, 0);
    }
}

/* Native code reads an object's field through a stub: a call of the stub by Java code is an
 * earlier one. */
static void test_in_a_stub_that_native_code_has_called(void **state)
{
    (void)state;
    set_anchor(STATE_IN_NATIVE, slot(20), at(CALLER + 0x40), 0x55);
    stack[9] = at(CALLER + 0x60);
    take_own_stub_caller(slot(10));
    catch_at(at(STUB + 4), 8, NULL);
    expect(SMP_ANSWER_NOT_WALKABLE_NOT_JAVA, 0, 0);
    take_own(at(CALLER + 0x40), 0, slot(20));
    catch_at(at(STUB + 4), 8, NULL);
    expect(SMP_ANSWER_WHOLE, 2, CALLER_ID);
    set_anchor(STATE_IN_NATIVE, 0, 0, 0); /* there is no Java code below */
    catch_at(at(STUB + 4), 8, NULL);
    expect(SMP_ANSWER_EMPTY, 0, 0);
    set_anchor(STATE_IN_JAVA, 0, 0, 0);
    take_own_stub_caller(slot(10));
    catch_at(at(STUB + 4), 8, NULL);
    expect(SMP_ANSWER_IN_STUB, 3, (uintptr_t)frames[0].method);
}

/* The wrapper of a native method that is about to return; its frame is not where its code says. */
static void test_a_native_method_by_its_anchor(void **state)
{
    (void)state;
    set_anchor(STATE_IN_JAVA, slot(20), at(NATIVE + 0x30), 0);
    take_own(at(NATIVE + 0x30), 0, slot(20));
    catch_at(at(NATIVE + 0x50), 8, NULL);
    expect(SMP_ANSWER_WHOLE, 2, CALLER_ID);
}

/* Compiled frames are replaced by interpreted ones: until these are filled, they contain older
 * words. */
static void test_while_frames_are_replaced(void **state)
{
    (void)state;
    for (size_t i = 8; i < 40; i++)
        stack[i] = at(CALLER + 0x40); /* any of them looks like a caller */
    take_own(at(CALLER + 0x40), 0, slot(20));
    catch_at(at(DEOPT + 4), 8, NULL);
    expect(SMP_ANSWER_DEOPT, 0, 0);
    set_anchor(STATE_IN_JAVA, slot(10), at(DEOPT + 8), slot(18));
    catch_at((uintptr_t)stack, 8, NULL);
    expect(SMP_ANSWER_DEOPT, 0, 0);
    assert_int_equal(jvm.calls, 0);
    take_own(at(DEOPT + 8), 0, slot(10)); /* not begun yet */
    catch_at((uintptr_t)stack, 8, NULL);
    expect(SMP_ANSWER_WHOLE, 2, CALLER_ID);
}

/* After its ThreadEnd the JVM may free its object at any time: it is not read. */
static void test_a_thread_that_has_ended(void **state)
{
    (void)state;
    set_anchor(STATE_IN_VM, slot(20), at(CALLER + 0x40), 0);
    take_own(at(CALLER + 0x40), 0, slot(20));
    ended_ns = 5;
    catch_at((uintptr_t)stack, 8, NULL);
    expect(SMP_ANSWER_THREAD_EXIT, 0, 0);
    assert_int_equal(answer.state, 0);
    assert_int_equal(jvm.calls + own.calls, 0);
}

/* It is older than the sampler and may have ended before. In Java code it is alive; in other code
 * nothing of it is read. */
static void test_a_thread_that_may_have_ended(void **state)
{
    (void)state;
    was_alive = false;
    take_own(at(METHOD + 0x50), at(METHOD + 0x51), slot(8));
    catch_at(at(METHOD + 0x50), 8, NULL);
    expect(SMP_ANSWER_WHOLE, 2, CALLER_ID);
    set_anchor(STATE_IN_VM, slot(20), at(CALLER + 0x40), 0);
    take_own(at(CALLER + 0x40), 0, slot(20));
    own.calls = 0;
    catch_at((uintptr_t)stack, 8, NULL);
    expect(SMP_ANSWER_UNKNOWN_NOT_JAVA, 0, 0);
    assert_int_equal(answer.state, 0);
    assert_int_equal(own.calls, 0);
}

/* AsyncGetCallTrace reports whether it is alive. */
static void test_the_jvm_reports_whether_a_thread_has_ended(void **state)
{
    (void)state;
    was_alive = false;
    no_own_walk = true;
    java_thread.state = STATE_IN_VM;
    jvm.code = SMP_JVM_UNKNOWN_NOT_JAVA;
    catch_at((uintptr_t)stack, 8, NULL);
    expect(SMP_ANSWER_UNKNOWN_NOT_JAVA, 0, 0);
    assert_int_equal(answer.state, STATE_IN_VM);
    jvm.code = SMP_JVM_THREAD_EXIT;
    catch_at((uintptr_t)stack, 8, NULL);
    expect(SMP_ANSWER_THREAD_EXIT, 0, 0);
    assert_int_equal(answer.state, 0);
}

static void test_without_an_engine_nothing_is_walked(void **state)
{
    (void)state;
    no_engine = true;
    take_own(at(METHOD + 0x50), at(METHOD + 0x51), slot(8));
    catch_at(at(METHOD + 0x50), 8, NULL);
    expect(SMP_ANSWER_UNKNOWN_STATE, 0, 0);
    assert_int_equal(own.calls + jvm.calls, 0);
}

/* --------------------------------------------------------------------------- in the interpreter */

static void test_an_interpreted_frame(void **state)
{
    (void)state;
    bcp = 0x12345;
    take_own(at(INTERPRETER + 8), 0, slot(8));
    own.from.fp = slot(30);
    own.from.bcp = bcp;
    catch_with_fp(at(INTERPRETER + 8), 8, slot(30), NULL);
    expect(SMP_ANSWER_WHOLE, 2, CALLER_ID);
    assert_int_equal(own.calls, 1);
    /* Too near: it has just been begun, and its slots contain older words. */
    own.from.fp = slot(8 + SMP_WALK_ENTRY_WORDS - 1);
    catch_with_fp(at(INTERPRETER + 8), 8, own.from.fp, NULL);
    assert_int_not_equal(answer.answer, SMP_ANSWER_WHOLE);
}

/* The caller's stack pointer is in r13 until the frame is made; the method is in rbx. */
static void test_an_interpreted_method_is_entered(void **state)
{
    (void)state;
    bcp = slot(20);
    method_register = METHOD_ID;
    take_own(at(CALLER + 0x40), 0, slot(20));
    own.from.fp = slot(40);
    stack[8] = at(CALLER + 0x40); /* the return address is on top */
    catch_with_fp(at(INTERPRETER + 8), 8, slot(40), NULL);
    expect(SMP_ANSWER_AT_ENTRY, 3, METHOD_ID);
    stack[8] = slot(40); /* below the frame pointer */
    stack[9] = at(CALLER + 0x40);
    catch_with_fp(at(INTERPRETER + 8), 8, slot(40), NULL);
    expect(SMP_ANSWER_AT_ENTRY, 3, METHOD_ID);
    catch_with_fp(at(INTERPRETER + 8), 8, slot(8), NULL); /* in the new frame */
    expect(SMP_ANSWER_AT_ENTRY, 3, METHOD_ID);
    stack[7] = bcp; /* which saves it */
    catch_with_fp(at(INTERPRETER + 8), 7, slot(8), NULL);
    expect(SMP_ANSWER_AT_ENTRY, 3, METHOD_ID);
    stack[9] = 0;
    result_register = at(CALLER + 0x40); /* in rax, while locals are pushed */
    catch_with_fp(at(INTERPRETER + 8), 8, slot(40), NULL);
    expect(SMP_ANSWER_AT_ENTRY, 3, METHOD_ID);
    method_register = NO_METHOD;
    catch_with_fp(at(INTERPRETER + 8), 8, slot(40), NULL);
    expect(SMP_ANSWER_AT_ENTRY, 2, CALLER_ID);
}

enum {
    NEW_FRAME = 20,
    NEW_FRAME_CALLER = NEW_FRAME + 4 /* its parameters and locals are in between */
};

/* A compiled caller's stack pointer is not at the end of the return address. */
static void begin_frame(void)
{
    bcp = 0x12345; /* or the address of the method's byte codes */
    method_register = METHOD_ID;
    stack[NEW_FRAME + 1] = at(CALLER + 0x40);
    stack[NEW_FRAME] = slot(90);
    stack[NEW_FRAME - 1] = slot(NEW_FRAME_CALLER);
    take_own(at(CALLER + 0x40), 0, slot(NEW_FRAME_CALLER));
    own.from.fp = slot(90);
}

/* Word by word; r13 is the byte code pointer before most of the words exist. */
static void test_while_an_interpreted_frame_is_created(void **state)
{
    (void)state;
    begin_frame();
    for (size_t words = 1; words < SMP_WALK_ENTRY_WORDS; words++) {
        catch_with_fp(at(INTERPRETER + 8), NEW_FRAME - words, slot(NEW_FRAME), NULL);
        expect(SMP_ANSWER_AT_ENTRY, 3, METHOD_ID);
        assert_int_equal(frames[answer.first].bci, 0);
        assert_int_equal(own.calls, words);
    }
    /* With the byte code pointer it is complete. */
    own.from = (struct smp_frames_start){ .pc = at(INTERPRETER + 8),
                                          .sp = slot(NEW_FRAME - SMP_WALK_ENTRY_WORDS),
                                          .fp = slot(NEW_FRAME),
                                          .bcp = bcp };
    catch_with_fp(own.from.pc, NEW_FRAME - SMP_WALK_ENTRY_WORDS, slot(NEW_FRAME), NULL);
    expect(SMP_ANSWER_WHOLE, 2, CALLER_ID);
}

/* Compiled code may have left any value in the frame pointer's register. */
static void test_words_that_are_no_frame_being_created(void **state)
{
    enum { NO_METHOD_ENTERED, NO_STACK_POINTER, ONE_BELOW, OTHER_ONE, ALL };

    (void)state;
    for (int how = 0; how < ALL; how++) {
        begin_frame();
        if (how == NO_METHOD_ENTERED)
            method_register = NO_METHOD;
        else if (how == NO_STACK_POINTER)
            stack[NEW_FRAME - 1] = 0x12345;
        else if (how == ONE_BELOW)
            stack[NEW_FRAME - 1] = own.from.sp = slot(NEW_FRAME + 1);
        else
            bcp = slot(NEW_FRAME_CALLER + 1);
        catch_with_fp(at(INTERPRETER + 8), NEW_FRAME - 3, slot(NEW_FRAME), NULL);
        assert_int_not_equal(answer.answer, SMP_ANSWER_AT_ENTRY);
    }
}

/* With -XX:+PreserveFramePointer the frame pointer of a compiled caller is as near. */
static void test_an_interpreted_method_is_entered_near_a_frame_pointer(void **state)
{
    (void)state;
    bcp = slot(10);
    method_register = METHOD_ID;
    stack[8] = at(CALLER + 0x40);
    stack[13] = at(CALLER + 0x60); /* of the caller */
    take_own(at(CALLER + 0x40), 0, slot(10));
    own.from.fp = slot(12);
    catch_with_fp(at(INTERPRETER + 8), 8, slot(12), NULL);
    expect(SMP_ANSWER_AT_ENTRY, 3, METHOD_ID);
}

/* Its return address is in rax, and nothing valid is below the caller's stack pointer: the words
 * there belong to earlier calls. */
static void test_an_interpreted_method_without_parameters_is_entered(void **state)
{
    (void)state;
    method_register = METHOD_ID;
    result_register = at(CALLER + 0x40);
    for (size_t pad = 0; pad < 2; pad++) {
        bcp = slot(8 + pad);
        stack[8] = pad == 0 ? at(CALLER + 0x60) : slot(40);
        stack[9] = at(CALLER + 0x60);
        take_own(at(CALLER + 0x40), 0, bcp);
        catch_with_fp(at(INTERPRETER + 8), 8, slot(40), NULL);
        expect(SMP_ANSWER_AT_ENTRY, 3, METHOD_ID);
        take_own(at(CALLER + 0x60), 0, bcp);
        catch_with_fp(at(INTERPRETER + 8), 8, slot(40), NULL);
        assert_int_not_equal(answer.answer, SMP_ANSWER_AT_ENTRY);
    }
}

static void test_an_interpreted_method_has_left_its_frame(void **state)
{
    (void)state;
    stack[8] = at(CALLER + 0x40);
    take_own(at(CALLER + 0x40), 0, slot(9));
    catch_at(at(INTERPRETER + 8), 8, NULL);
    expect(SMP_ANSWER_AT_RETURN, 2, CALLER_ID);
}

/* The return address is on top, is popped, and is jumped to with the caller's stack pointer. The
 * return address of a compiled caller is further up; and its frame pointer is that of an
 * interpreted frame above. */
static void test_an_interpreted_method_returns_to_a_compiled_one(void **state)
{
    enum { SENDER = 20 };
    static const size_t words[] = { SENDER - 4, SENDER - 3, SENDER };
    const uintptr_t address = at(CALLER + 0x40);

    (void)state;
    take_own(address, 0, slot(SENDER));
    stack[SENDER] = at(CALLER + 0x60); /* of an earlier call */
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        stack[SENDER - 4] = i == 0 ? address : 0;
        bcp = i == 0 ? 0x12345 : address;
        method_register = slot(SENDER);
        catch_with_fp(at(INTERPRETER + 8), words[i], slot(40), NULL);
        expect(SMP_ANSWER_AT_RETURN, 2, CALLER_ID);
        bcp = 0; /* a native one uses other registers */
        method_register = 0;
        native_left = (struct smp_left_registers){ slot(SENDER), i == 0 ? 0 : address };
        catch_with_fp(at(INTERPRETER + 8), words[i], slot(40), NULL);
        expect(SMP_ANSWER_AT_RETURN, 2, CALLER_ID);
        native_left = (struct smp_left_registers){ 0 };
    }
    assert_int_equal(own.calls, 6); /* nothing else was tried */
    method_register = slot(SENDER);
    exception.pc = address; /* rdx, by an exception */
    catch_with_fp(at(INTERPRETER + 8), SENDER, slot(40), NULL);
    expect(SMP_ANSWER_AT_RETURN, 2, CALLER_ID);
}

/* Other code of the interpreter has other values in these registers. */
static void test_an_interpreted_frame_with_addresses_of_the_stack_in_registers(void **state)
{
    (void)state;
    bcp = 0x12345;
    method_register = slot(10);
    native_left.sender_sp = slot(8);
    take_own(at(INTERPRETER + 8), 0, slot(8));
    own.from.fp = slot(30);
    own.from.bcp = bcp;
    catch_with_fp(at(INTERPRETER + 8), 8, slot(30), NULL);
    expect(SMP_ANSWER_WHOLE, 2, CALLER_ID);
}

/* The callee has returned and left its values in the registers: a method, and the stack pointer
 * with which it was called. Its return address is still on the stack. */
static void test_an_interpreted_frame_is_returned_to(void **state)
{
    static const struct {
        uint8_t bytes[9];
        size_t instructions[2]; /* where they begin */
    } ways[] = {
        { { 0x48, 0x8b, 0x65, 0xf0 }, { 0, 0 } },
        { { 0x48, 0x8b, 0x4d, 0xf0, 0x48, 0x8d, 0x64, 0xcd, 0x00 }, { 0, 4 } },
        { { 0x4c, 0x8b, 0x55, 0xf0, 0x4a, 0x8d, 0x64, 0xd5, 0x00 }, { 0, 4 } },
    };
    const uintptr_t entry = at(INTERPRETER + 8);

    (void)state;
    stack[8] = entry;
    bcp = slot(10);
    method_register = METHOD_ID;
    for (size_t i = 0; i < 6; i++) {
        const uintptr_t pc = entry + ways[i / 2].instructions[i % 2];
        memcpy(code + INTERPRETER + 8, ways[i / 2].bytes, sizeof(ways[0].bytes));
        take_own(pc, 0, slot(8));
        own.from.fp = slot(30);
        catch_with_fp(pc, 8, slot(30), NULL);
        expect(SMP_ANSWER_WHOLE, 2, CALLER_ID);
        /* At any other pc the method in the register is used. */
        take_own(entry, 0, slot(10));
        catch_with_fp(pc, 8, slot(30), NULL);
        expect(SMP_ANSWER_AT_ENTRY, 3, METHOD_ID);
    }
}

/* An anchor of zeros or outside the stack is no anchor. */
static void test_an_invalid_anchor_is_ignored(void **state)
{
    (void)state;
    take_own(at(CALLER + 0x40), 0, slot(20));
    set_anchor(STATE_IN_VM, 0, 0, 0);
    catch_at((uintptr_t)stack, 8, NULL);
    expect(SMP_ANSWER_UNKNOWN_NOT_JAVA, 0, 0);
    set_anchor(STATE_IN_NATIVE, 0, 0, 0); /* native code that has never called Java */
    catch_at((uintptr_t)stack, 8, NULL);
    expect(SMP_ANSWER_EMPTY, 0, 0);
    set_anchor(STATE_IN_VM, slot(WORDS + 1), at(CALLER + 0x40), 0);
    catch_at((uintptr_t)stack, 8, NULL);
    expect(SMP_ANSWER_NOT_WALKABLE_NOT_JAVA, 0, 0);
    assert_int_equal(own.calls, 0);
}

static void test_every_error_code_has_its_answer(void **state)
{
    static const struct {
        int32_t code;
        enum smp_answer answer;
    } cases[] = {
        { SMP_JVM_NO_JAVA_FRAME, SMP_ANSWER_EMPTY },
        { SMP_JVM_NO_CLASS_LOAD, SMP_ANSWER_UNKNOWN_STATE },
        { SMP_JVM_GC_ACTIVE, SMP_ANSWER_GC_ACTIVE },
        { SMP_JVM_UNKNOWN_NOT_JAVA, SMP_ANSWER_UNKNOWN_NOT_JAVA },
        { SMP_JVM_NOT_WALKABLE_NOT_JAVA, SMP_ANSWER_NOT_WALKABLE_NOT_JAVA },
        { SMP_JVM_UNKNOWN_JAVA, SMP_ANSWER_UNKNOWN_JAVA },
        { SMP_JVM_NOT_WALKABLE_JAVA, SMP_ANSWER_NOT_WALKABLE_JAVA },
        { SMP_JVM_UNKNOWN_STATE, SMP_ANSWER_UNKNOWN_STATE },
        { SMP_JVM_THREAD_EXIT, SMP_ANSWER_THREAD_EXIT },
        { SMP_JVM_DEOPT, SMP_ANSWER_DEOPT },
        { -100, SMP_ANSWER_UNKNOWN_STATE },
    };

    (void)state;
    no_own_walk = true;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        jvm.code = cases[i].code;
        catch_at((uintptr_t)stack, 8, NULL);
        expect(cases[i].answer, 0, 0);
    }
}

/* ------------------------------------------------------------------ in another signal's handler */

enum { FRAME_WORDS = SMP_SIGNAL_FRAME_BYTES / sizeof(uintptr_t), FRAME_AT = 41 };

/* The kernel's frame of a handler that has interrupted code at pc, with sp at a word. If that is
 * behind the restorer, the interrupted code is another handler of the same signal. */
static void put_frame(size_t word, uintptr_t pc, size_t sp)
{
    ucontext_t *context = (ucontext_t *)slot(word + 1);
    const int number = OTHER_SIGNAL;

    context->uc_sigmask.__val[0] = pc == (uintptr_t)restorer + 0x2000 ? 1UL << (number - 1) : 0;

    smp_signal_frame_learn((uintptr_t)restorer);
    stack[word] = (uintptr_t)restorer;
    context->uc_mcontext.gregs[REG_CSGSFS] = 0x33;
    memcpy((char *)context + SMP_SIGNAL_CONTEXT_BYTES, &number, sizeof(number));
    const struct smp_registers interrupted = { .pc = pc, .sp = slot(sp), .fp = 0x77 };
    registers_set(context, interrupted);
    save(interrupted);
}

/* Walks with the thread caught in a handler and the stack pointer at a word; the handler's frame
 * must not change. */
static void catch_in_handler(size_t word)
{
    static uintptr_t before[WORDS];
    const uint64_t walks = smp_signal_frame_walks();

    memcpy(before, stack, sizeof(stack));
    catch_at((uintptr_t)restorer + 0x1000, word, NULL);
    assert_memory_equal(before, stack, sizeof(stack));
    assert_int_equal(smp_signal_frame_walks(), walks + answer.in_handler);
}

static void test_at_the_beginning_of_another_handler(void **state)
{
    (void)state;
    put_frame(FRAME_AT, at(METHOD + 0x50), 110);
    take_own(at(METHOD + 0x50), at(METHOD + 0x51), slot(110));
    catch_in_handler(FRAME_AT);
    expect(SMP_ANSWER_WHOLE, 2, CALLER_ID);
    assert_true(answer.in_handler);
    assert_int_equal(own.calls, 1); /* no registers other than those */
    take(at(METHOD + 0x50), slot(110));
    no_own_walk = true;
    no_bounds = true; /* they are not needed for that */
    catch_in_handler(FRAME_AT);
    expect(SMP_ANSWER_WHOLE, 2, CALLER_ID);
    assert_true(answer.in_handler);
}

/* The code that the other handler interrupted is recovered as if our handler had interrupted
 * it. */
static void test_a_stub_below_another_handler(void **state)
{
    (void)state;
    put_frame(FRAME_AT, at(STUB + 4), 110);
    stack[60] = at(CALLER + 0x40); /* in the frame: perhaps a register's value */
    stack[116] = at(CALLER + 0x60);
    take_own_stub_caller(slot(117));
    catch_in_handler(FRAME_AT);
    expect(SMP_ANSWER_IN_STUB, 3, (uintptr_t)frames[0].method);
    assert_true(answer.in_handler);
    assert_string_equal(smp_code_map_name((uint64_t)(uintptr_t)frames[0].method), "[copy]");
}

static void test_deep_inside_another_handler(void **state)
{
    (void)state;
    put_frame(FRAME_AT, at(METHOD + 0x50), 110);
    take_own(at(METHOD + 0x50), at(METHOD + 0x51), slot(110));
    java_thread.state = STATE_IN_JAVA;
    catch_in_handler(8);
    expect(SMP_ANSWER_WHOLE, 2, CALLER_ID);
    assert_true(answer.in_handler);
    assert_int_equal(jvm.calls, 0);
    /* Even if a word above the handler looks like a caller. */
    stack[8 + 3] = at(CALLER + 0x40);
    catch_in_handler(8);
    expect(SMP_ANSWER_WHOLE, 2, CALLER_ID);
    assert_true(answer.in_handler);
    /* In all other states the anchor is used. */
    java_thread.state = STATE_IN_NATIVE;
    catch_in_handler(8);
    assert_false(answer.in_handler);
    assert_int_equal(answer.state, STATE_IN_NATIVE);
}

static void test_deep_inside_another_handler_on_jdk_28(void **state)
{
    const struct smp_jvm_states states = layout.states;

    (void)state;
    layout.states = (struct smp_jvm_states)STATES_SINCE_28;
    put_frame(FRAME_AT, at(METHOD + 0x50), 110);
    take_own(at(METHOD + 0x50), at(METHOD + 0x51), slot(110));
    java_thread.state = layout.states.in_java;
    catch_in_handler(8);
    assert_true(answer.in_handler);
    java_thread.state = STATE_IN_JAVA;
    catch_in_handler(8);
    assert_false(answer.in_handler);
    layout.states = states;
}

/* Two others, one on top of the other. */
static void test_handlers_that_interrupt_each_other(void **state)
{
    (void)state;
    put_frame(FRAME_AT, (uintptr_t)restorer + 0x2000, FRAME_AT + FRAME_WORDS + 5);
    put_frame(FRAME_AT + FRAME_WORDS + 5, at(METHOD + 0x50), 220);
    take_own(at(METHOD + 0x50), at(METHOD + 0x51), slot(220));
    catch_in_handler(FRAME_AT);
    expect(SMP_ANSWER_WHOLE, 2, CALLER_ID);
    stack[FRAME_AT + FRAME_WORDS] = 1;
    put_frame(FRAME_AT, (uintptr_t)restorer + 0x2000, FRAME_AT + FRAME_WORDS + 1);
    java_thread.state = STATE_IN_JAVA; /* the lower one was deep inside */
    catch_in_handler(FRAME_AT);
    expect(SMP_ANSWER_WHOLE, 2, CALLER_ID);
}

/* In code of the JVM there is no handler; only the registers are used. */
static void test_a_handlers_frame_above_java_code_is_ignored(void **state)
{
    (void)state;
    put_frame(FRAME_AT, at(METHOD + 0x50), 110);
    take(at(METHOD + 0x50), slot(110));
    java_thread.state = STATE_IN_JAVA;
    catch_at(at(INTERPRETER + 8), 40, NULL);
    assert_false(answer.in_handler);
    catch_at(at(INTERPRETER + 8), FRAME_AT, NULL);
    assert_false(answer.in_handler);
}

/* AsyncGetCallTrace is called once. */
static void test_without_our_own_walk_nothing_is_recovered(void **state)
{
    (void)state;
    no_own_walk = true;
    stack[8] = at(CALLER + 0x40);
    take_own(at(CALLER + 0x40), 0, slot(9));
    catch_at(at(METHOD), 8, NULL);
    expect(SMP_ANSWER_UNKNOWN_JAVA, 0, 0);
    assert_int_equal(jvm.calls, 1);
    stack[14] = at(CALLER + 0x60);
    take_own_stub_caller(slot(15));
    catch_at(at(STUB + 4), 8, NULL);
    expect(SMP_ANSWER_UNKNOWN_JAVA, 0, 0);
    assert_int_equal(jvm.calls, 2);
    set_anchor(STATE_IN_VM, slot(20), 0, 0x55);
    stack[19] = at(CALLER + 0x40);
    take_own(at(CALLER + 0x40), 0, slot(20));
    catch_at((uintptr_t)stack, 8, NULL);
    expect(SMP_ANSWER_UNKNOWN_NOT_JAVA, 0, 0);
    assert_int_equal(jvm.calls, 3);
    assert_int_equal(own.calls, 0);
}

/* The kernel has saved these registers. */
static void test_code_interrupted_by_a_handler_needs_no_own_walk(void **state)
{
    (void)state;
    no_own_walk = true;
    put_frame(FRAME_AT, at(METHOD + 0x50), 110);
    take(at(METHOD + 0x50), slot(110));
    java_thread.state = STATE_IN_JAVA;
    catch_in_handler(8);
    expect(SMP_ANSWER_WHOLE, 2, CALLER_ID);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make, unmake)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_prologues_are_recognised),
        TEST(test_a_complete_frame_is_walked_without_the_jvm),
        TEST(test_a_stack_without_enough_room_is_cut),
        TEST(test_at_the_entry),
        TEST(test_at_the_return),
        TEST(test_a_frame_that_was_taken_down_is_not_walked),
        TEST(test_a_jump_inside_the_method_keeps_its_frame),
        TEST(test_while_the_first_frame_is_created),
        TEST(test_a_method_whose_prologue_is_not_understood),
        TEST(test_with_registers_pushed),
        TEST(test_between_the_pushes_and_pops_of_arguments),
        TEST(test_while_arrays_are_saved),
        TEST(test_in_a_stub),
        TEST(test_in_a_stub_with_pushed_arguments),
        TEST(test_the_caller_of_this_stub_is_preferred),
        TEST(test_a_stub_that_another_has_jumped_to),
        TEST(test_a_method_about_to_search_for_a_handler),
        TEST(test_searching_for_a_handler_before_the_jvm_is_called),
        TEST(test_searching_for_a_handler_around_the_call_of_the_jvm),
        TEST(test_a_handler_is_found),
        TEST(test_about_to_jump_to_a_handler),
        TEST(test_an_exception_from_an_unknown_pc),
        TEST(test_a_recorded_call_site_is_taken),
        TEST(test_a_call_by_register),
        TEST(test_a_leaf_call),
        TEST(test_a_leaf_call_by_a_saved_frame_pointer),
        TEST(test_a_leaf_call_of_the_interpreter),
        TEST(test_a_leaf_call_of_a_stub),
        TEST(test_a_leaf_call_of_a_barrier),
        TEST(test_a_barrier_at_the_entry),
        TEST(test_a_dead_frame_below_a_leaf_call_of_a_stub),
        TEST(test_code_without_a_frame),
        TEST(test_registers_above_code_without_a_frame),
        TEST(test_a_dead_frame_above_code_without_a_frame),
        TEST(test_unproven_leaf_calls_are_left_to_the_jvm),
        TEST(test_an_interpreted_caller),
        TEST(test_code_other_than_java_code),
        TEST(test_a_dead_frame_below_the_caller_of_a_stub),
        TEST(test_a_caller_called_through_a_stub_of_its_callers_code),
        TEST(test_a_stub_that_calls_into_the_jvm),
        TEST(test_invalid_frame_pointers),
        TEST(test_words_that_are_no_return_addresses),
        TEST(test_a_method_not_known_yet),
        TEST(test_the_end_of_the_stack),
        TEST(test_a_stack_of_unknown_bounds),
        TEST(test_a_stack_of_the_jvm_without_its_root_is_rejected),
        TEST(test_inside_the_jvm),
        TEST(test_inside_the_jvm_by_a_stub),
        TEST(test_in_native_code_or_blocked),
        TEST(test_in_a_stub_that_native_code_has_called),
        TEST(test_a_native_method_by_its_anchor),
        TEST(test_while_frames_are_replaced),
        TEST(test_a_thread_that_has_ended),
        TEST(test_a_thread_that_may_have_ended),
        TEST(test_the_jvm_reports_whether_a_thread_has_ended),
        TEST(test_without_an_engine_nothing_is_walked),
        TEST(test_an_interpreted_frame),
        TEST(test_an_interpreted_method_is_entered),
        TEST(test_while_an_interpreted_frame_is_created),
        TEST(test_words_that_are_no_frame_being_created),
        TEST(test_an_interpreted_method_is_entered_near_a_frame_pointer),
        TEST(test_an_interpreted_method_without_parameters_is_entered),
        TEST(test_an_interpreted_method_has_left_its_frame),
        TEST(test_an_interpreted_method_returns_to_a_compiled_one),
        TEST(test_an_interpreted_frame_with_addresses_of_the_stack_in_registers),
        TEST(test_an_interpreted_frame_is_returned_to),
        TEST(test_an_invalid_anchor_is_ignored),
        TEST(test_every_error_code_has_its_answer),
        TEST(test_at_the_beginning_of_another_handler),
        TEST(test_a_stub_below_another_handler),
        TEST(test_deep_inside_another_handler),
        TEST(test_deep_inside_another_handler_on_jdk_28),
        TEST(test_handlers_that_interrupt_each_other),
        TEST(test_a_handlers_frame_above_java_code_is_ignored),
        TEST(test_without_our_own_walk_nothing_is_recovered),
        TEST(test_code_interrupted_by_a_handler_needs_no_own_walk),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void)
{
    return 0; /* the code shapes above are for x86-64 */
}

#endif

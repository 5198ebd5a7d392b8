/* SPDX-License-Identifier: Apache-2.0 */
/* Handlers that really interrupt each other, and frames that look like the kernel's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include "handler/registers.h"
#include "handler/signal_frame.h"
#include "jvm/threads/threads.h"
#include "support/registers_set.h"

/* The findings of one round's handlers. */
static struct {
    struct smp_signal_stack stack; /* the stack as the search knows it */
    const ucontext_t *other;       /* the other handler's context */
    const ucontext_t *third;       /* the context of one more handler below it */
    const ucontext_t *at;          /* the context that was found */
    const ucontext_t *above;
    struct smp_registers copied; /* copied at that time, because the frame is gone later */
    struct smp_signal_stack on;  /* the interrupted stack */
    int depth; /* calls in the other handler before it sends our signal; 0: it does not send it */
} round_of;

static void handle_ours(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)info;
    smp_signal_frame_learn((uintptr_t)__builtin_return_address(0));
    round_of.at = smp_signal_frame_at(round_of.stack, context);
    round_of.above = smp_signal_frame_above(round_of.stack, context);
    const uintptr_t sp = smp_registers_get(context).sp;
    round_of.on = smp_signal_frame_stack(round_of.stack, context, sp);
    if (round_of.at != NULL)
        round_of.copied = smp_registers_get(round_of.at);
}

static __attribute__((noinline)) void descend(int depth)
{
    volatile char room[64];

    room[depth % 64] = (char)depth;
    if (depth > 1)
        descend(depth - 1);
    else
        (void)raise(SIGUSR2);
    room[0] = room[depth % 64];
}

static void handle_other(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)info;
    round_of.other = context;
    if (round_of.depth > 0)
        descend(round_of.depth);
}

static void handle_third(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)info;
    round_of.third = context;
}

static void install(int number, void (*handler)(int, siginfo_t *, void *), int flags)
{
    struct sigaction action = { .sa_sigaction = handler, .sa_flags = SA_SIGINFO | flags };

    assert_int_equal(sigaction(number, &action, NULL), 0);
}

static int set_up(void **state)
{
    const struct smp_stack_bounds own = smp_stack_bounds_own();

    (void)state;
    memset(&round_of, 0, sizeof(round_of));
    round_of.stack = (struct smp_signal_stack){ own.low, own.high };
    install(SIGHUP, handle_third, 0);
    install(SIGUSR1, handle_other, 0);
    install(SIGUSR2, handle_ours, 0);
    (void)raise(SIGUSR2); /* lets the code learn the restorer */
    round_of.at = NULL;
    round_of.above = NULL;
    return 0;
}

static int tear_down(void **state)
{
    const stack_t none = { .ss_flags = SS_DISABLE };

    (void)state;
    assert_int_equal(sigaltstack(&none, NULL), 0);
    return 0;
}

/* All signals are pending when the first one is delivered: each interrupts the previous handler at
 * its beginning. */
static void deliver(int first, int second, int third)
{
    sigset_t set;
    sigset_t old;

    (void)sigemptyset(&set);
    (void)sigaddset(&set, first);
    (void)sigaddset(&set, second);
    (void)sigaddset(&set, third);
    assert_int_equal(sigprocmask(SIG_BLOCK, &set, &old), 0);
    (void)raise(third);
    (void)raise(second);
    (void)raise(first);
    assert_int_equal(sigprocmask(SIG_SETMASK, &old, NULL), 0);
}

#if defined(__x86_64__)
/* Sends our signal from below a part of the stack that is never written. */
static __attribute__((noinline)) void send_from_far_below(void)
{
    volatile char room[8192];

    room[0] = 0;
    (void)raise(SIGUSR2);
    room[1] = room[0];
}

/* Frames of finished signals are still on the stack, complete. */
static void test_frames_of_finished_signals_are_not_taken(void **state)
{
    (void)state;
    (void)raise(SIGUSR1);
    (void)raise(SIGUSR2);
    round_of.at = round_of.above = NULL;
    send_from_far_below();
    assert_null(round_of.at);
    assert_null(round_of.above);
}
#endif

static void test_the_restorer_is_recognised_by_its_code(void **state)
{
    static const uint8_t other[16] = { 0xc3 };
    const uintptr_t known = smp_signal_frame_restorer();

    (void)state;
    assert_true(known != 0);
    assert_true(smp_registers_is_restorer(known));
    assert_false(smp_registers_is_restorer((uintptr_t)other));
    smp_signal_frame_learn((uintptr_t)other);
    assert_int_equal(smp_signal_frame_restorer(), known);
}

static void test_without_an_interrupted_handler_nothing_is_found(void **state)
{
    (void)state;
    (void)raise(SIGUSR2);
    assert_null(round_of.at);
    assert_null(round_of.above);
    assert_int_equal(round_of.on.low, round_of.stack.low);
}

static void test_at_the_first_instruction_of_a_handler(void **state)
{
    (void)state;
    deliver(SIGUSR1, SIGUSR2, SIGUSR2);
    assert_non_null(round_of.other);
    assert_ptr_equal(round_of.at, round_of.other);
    assert_true(round_of.copied.sp >= round_of.stack.low);
    assert_true(round_of.copied.sp < round_of.stack.high);
}

/* Also without the bounds of the stack: the kernel has just written the frame. */
static void test_a_handler_on_an_unknown_stack_is_found(void **state)
{
    (void)state;
    round_of.stack = (struct smp_signal_stack){ 0 };
    deliver(SIGUSR1, SIGUSR2, SIGUSR2);
    assert_ptr_equal(round_of.at, round_of.other);
    assert_null(round_of.above);
}

static void test_a_chain_of_interrupted_handlers_is_found(void **state)
{
    (void)state;
    deliver(SIGHUP, SIGUSR1, SIGUSR2);
    assert_non_null(round_of.third);
    assert_ptr_equal(round_of.at, round_of.other); /* and from there the third one is found */
}

static void test_on_an_alternate_stack(void **state)
{
    static char room[64 * 1024] __attribute__((aligned(16)));
    const stack_t alternate = { .ss_sp = room, .ss_size = sizeof(room) };

    (void)state;
    assert_int_equal(sigaltstack(&alternate, NULL), 0);
    install(SIGUSR1, handle_other, SA_ONSTACK);
    deliver(SIGUSR1, SIGUSR2, SIGUSR2);
    assert_true((uintptr_t)round_of.other >= (uintptr_t)room);
    assert_true((uintptr_t)round_of.other < (uintptr_t)room + sizeof(room));
    assert_int_equal(round_of.on.low, (uintptr_t)room);
    assert_int_equal(round_of.on.high, (uintptr_t)room + sizeof(room));
    assert_ptr_equal(round_of.at, round_of.other);
    assert_true(round_of.copied.sp >= round_of.stack.low);
    assert_true(round_of.copied.sp < round_of.stack.high);
#if defined(__x86_64__)
    round_of.depth = 5;
    (void)raise(SIGUSR1);
    assert_null(round_of.at);
    assert_ptr_equal(round_of.above, round_of.other);
#endif
    round_of.depth = 0;
    (void)raise(SIGUSR2);
    assert_null(round_of.at);
    assert_null(round_of.above);
}

#if defined(__x86_64__)

static void test_deep_inside_a_handler(void **state)
{
    (void)state;
    for (int depth = 1; depth <= 30; depth++) {
        round_of.depth = depth;
        (void)raise(SIGUSR1);
        assert_null(round_of.at);
        assert_non_null(round_of.above);
        assert_ptr_equal(round_of.above, round_of.other);
    }
}

/* The search is limited. */
static void test_too_deep_inside_a_handler(void **state)
{
    (void)state;
    round_of.depth = 300; /* more than 64 bytes each */
    (void)raise(SIGUSR1);
    assert_null(round_of.at);
    assert_null(round_of.above);
}

/* -------------------------------------------------------------------------- artificial frames */

enum {
    WORDS = SMP_SIGNAL_FRAME_WORDS + 200,
    FRAME_WORDS = SMP_SIGNAL_FRAME_BYTES / sizeof(uintptr_t),
    AT = 21 /* word at which the frame begins, with the kernel's alignment */
};

static uintptr_t words[WORDS] __attribute__((aligned(16)));

static uintptr_t slot(size_t word)
{
    return (uintptr_t)words + word * sizeof(uintptr_t);
}

static ucontext_t *make_frame(size_t word)
{
    ucontext_t *context = (ucontext_t *)slot(word + 1);
    const int number = SIGPROF;

    memset(words, 0, sizeof(words));
    words[word] = smp_signal_frame_restorer();
    context->uc_flags = 7;
    context->uc_mcontext.gregs[REG_CSGSFS] = 0x002b000000000033;
    context->uc_mcontext.gregs[REG_RIP] = 0x1234;
    context->uc_mcontext.gregs[REG_RSP] = (greg_t)slot(word + FRAME_WORDS + 4);
    context->uc_mcontext.fpregs = (void *)slot(word + FRAME_WORDS);
    memcpy((char *)context + SMP_SIGNAL_CONTEXT_BYTES, &number, sizeof(number));
    return context;
}

/* Searches with the stack pointer at a word. */
static const ucontext_t *find(size_t word, bool is_deep)
{
    static ucontext_t context;
    const struct smp_signal_stack stack = { slot(0), slot(WORDS) };

    memset(&context, 0, sizeof(context));
    context.uc_stack.ss_flags = SS_DISABLE;
    (void)sigaddset(&context.uc_sigmask, SIGPROF); /* its handler is running */
    registers_set(&context, (struct smp_registers){ .pc = 0x99, .sp = slot(word) });
    return is_deep ? smp_signal_frame_above(stack, &context) : smp_signal_frame_at(stack, &context);
}

static void test_a_complete_frame_is_taken(void **state)
{
    const ucontext_t *frame = make_frame(AT);

    (void)state;
    assert_ptr_equal(find(AT, false), frame);
    assert_null(find(AT - 1, false));
    assert_ptr_equal(find(AT - 1, true), frame);
    assert_ptr_equal(find(0, true), frame);
    assert_null(find(AT + 1, true));
}

/* Each property that the kernel's frames never have. */
static void test_frames_unlike_the_kernels_are_refused(void **state)
{
    const int wrong_number = 65;

    (void)state;
    make_frame(AT)->uc_flags = 8;
    assert_null(find(0, true));
    make_frame(AT)->uc_link = (ucontext_t *)words;
    assert_null(find(0, true));
    make_frame(AT)->uc_mcontext.gregs[REG_CSGSFS] = 0x2b;
    assert_null(find(0, true));
    make_frame(AT)->uc_mcontext.gregs[REG_RIP] = 0;
    assert_null(find(0, true));
    make_frame(AT)->uc_mcontext.gregs[REG_RSP] = (greg_t)slot(AT); /* below its handler */
    assert_null(find(0, true));
    make_frame(AT)->uc_mcontext.gregs[REG_RSP] = (greg_t)slot(WORDS); /* beyond the stack */
    assert_null(find(0, true));
    make_frame(AT)->uc_mcontext.gregs[REG_RSP] += 4;
    assert_null(find(0, true));
    make_frame(AT)->uc_mcontext.fpregs = (void *)slot(AT);
    assert_null(find(0, true));
    memset((char *)make_frame(AT) + SMP_SIGNAL_CONTEXT_BYTES, 0, sizeof(int));
    assert_null(find(0, true));
    memcpy((char *)make_frame(AT) + SMP_SIGNAL_CONTEXT_BYTES, &wrong_number, sizeof(int));
    assert_null(find(0, true));
    (void)make_frame(AT + 1); /* not aligned */
    assert_null(find(0, true));
    assert_null(find(AT + 1, false));
    (void)make_frame(AT);
    words[AT]++; /* another restorer */
    assert_null(find(0, true));
    assert_null(find(AT, false));
}

/* The other handler has returned and the restorer is running. */
static void test_in_the_restorer(void **state)
{
    const ucontext_t *frame = make_frame(AT);
    const struct smp_signal_stack stack = { slot(0), slot(WORDS) };
    struct smp_registers now = { .sp = slot(AT + 1) };
    ucontext_t context;

    (void)state;
    memset(&context, 0, sizeof(context));
    context.uc_stack.ss_flags = SS_DISABLE;
    (void)sigaddset(&context.uc_sigmask, SIGPROF);
    words[AT] = 0; /* popped, and perhaps overwritten */
    for (uintptr_t i = 0; i < SMP_RESTORER_BYTES; i++) {
        now.pc = smp_signal_frame_restorer() + i;
        registers_set(&context, now);
        assert_ptr_equal(smp_signal_frame_at(stack, &context), frame);
    }
    now.pc = smp_signal_frame_restorer() + SMP_RESTORER_BYTES;
    registers_set(&context, now);
    assert_null(smp_signal_frame_at(stack, &context));
}

/* Nothing beyond the end of the stack is read, and no more than a limit above the stack
 * pointer. */
static void test_the_search_is_limited(void **state)
{
    const size_t last = WORDS - FRAME_WORDS;
    const ucontext_t *frame = make_frame(SMP_SIGNAL_FRAME_WORDS - 1);

    (void)state;
    assert_ptr_equal(find(0, true), frame);
    (void)make_frame(SMP_SIGNAL_FRAME_WORDS + 1);
    assert_null(find(0, true));
    assert_non_null(find(2, true));
    memset(words, 0, sizeof(words));
    words[last] = smp_signal_frame_restorer(); /* it would end exactly at the end */
    assert_null(find(last, true));
    words[WORDS - 1] = smp_signal_frame_restorer(); /* it would end beyond the end */
    assert_null(find(WORDS - 1, true));
    assert_null(find(WORDS - 1, false));
    assert_null(find(WORDS + 10, true));
}

#endif

static void test_walks_are_counted(void **state)
{
    const uint64_t before = smp_signal_frame_walks();

    (void)state;
    smp_signal_frame_count();
    smp_signal_frame_count();
    assert_int_equal(smp_signal_frame_walks(), before + 2);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_the_restorer_is_recognised_by_its_code),
        TEST(test_without_an_interrupted_handler_nothing_is_found),
        TEST(test_at_the_first_instruction_of_a_handler),
        TEST(test_a_handler_on_an_unknown_stack_is_found),
        TEST(test_a_chain_of_interrupted_handlers_is_found),
        TEST(test_on_an_alternate_stack),
#if defined(__x86_64__)
        TEST(test_deep_inside_a_handler),
        TEST(test_too_deep_inside_a_handler),
        TEST(test_a_complete_frame_is_taken),
        TEST(test_frames_unlike_the_kernels_are_refused),
        TEST(test_in_the_restorer),
        TEST(test_frames_of_finished_signals_are_not_taken),
        TEST(test_the_search_is_limited),
#endif
        TEST(test_walks_are_counted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

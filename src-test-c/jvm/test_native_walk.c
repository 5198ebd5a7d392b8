/* SPDX-License-Identifier: Apache-2.0 */
/* Artificial threads, in native code or not: which of them the requesting thread walks, and which
 * get a signal. The test provides the walk function. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs the four headers above. */
#include <cmocka.h>

#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <string.h>

#include "base/clock.h"
#include "base/thread.h"
#include "jvm/threads/gate.h"
#include "jvm/walk/native_walk.h"
#include "jvm/walk/proven_walk.h"
#include "support/sleeping_thread.h"
#include "support/thread_states.h"

enum { DEPTH = 4, CAPACITY = 16, ROOM = 8 };

struct object {
    int32_t state;
    uintptr_t sp;
    uintptr_t fp;
    uintptr_t pc;
};

static struct {
    struct object object;
    uintptr_t stack[DEPTH];
    struct smp_walk_info info;
    int32_t tid;    /* a thread of the system, and its CPU clock; */
    int64_t cpu_ns; /* negative: it may move */
    struct smp_own_walk own;
    struct smp_signal_slot slot;
    struct smp_jvm_frame frames[CAPACITY];
    struct smp_frames_word read[ROOM];
    struct smp_frames_words words;
    int32_t found;         /* the result of the walk */
    unsigned leaves_after; /* after this many walks the thread is in Java; 0: never */
    unsigned walks;
    bool changes; /* at each walk it has called native code again */
} thread;

static int32_t walk_frames(const struct smp_own_walk *self, struct smp_frames_start from,
                           uintptr_t stack_high, struct smp_jvm_frame *frames, uint32_t capacity,
                           struct smp_stack_cut *cut)
{
    assert_int_equal(cut->omitted, 0);
    assert_ptr_equal(self->words, &thread.words);
    assert_null(from.chunks); /* a collection may move them */
    assert_int_equal(from.sp, (uintptr_t)thread.stack);
    assert_int_equal(stack_high, (uintptr_t)(thread.stack + DEPTH));
    assert_int_equal(capacity, CAPACITY - 1);
    thread.walks++;
    for (int32_t i = 0; i < thread.found; i++)
        frames[i] = (struct smp_jvm_frame){ .bci = i, .method = &thread.stack[i] };
    self->words->read[0] = (struct smp_frames_word){ (uintptr_t)&thread.stack[0], thread.stack[0] };
    self->words->count = 1;
    if (thread.walks == thread.leaves_after)
        thread.object.state = STATE_IN_JAVA;
    if (thread.changes)
        thread.stack[0]++;
    return thread.found;
}

static int setup(void **state)
{
    (void)state;
    memset(&thread, 0, sizeof(thread));
    thread.object = (struct object){ STATE_IN_NATIVE, (uintptr_t)thread.stack, 1, 2 };
    thread.found = DEPTH;
    thread.info.java_thread = (uintptr_t)&thread.object;
    thread.cpu_ns = -1;
    thread.info.stack_low = (uintptr_t)thread.stack;
    thread.info.stack_high = (uintptr_t)(thread.stack + DEPTH);
    thread.own.walk = walk_frames;
    thread.words = (struct smp_frames_words){ .read = thread.read, .capacity = ROOM };
    thread.slot.frames = thread.frames;
    thread.slot.capacity = CAPACITY;
    thread.slot.target = (struct smp_walk_target){
        .layout = { .states = STATES_UNTIL_27,
                    .state = offsetof(struct object, state),
                    .last_sp = offsetof(struct object, sp),
                    .last_fp = offsetof(struct object, fp),
                    .last_pc = offsetof(struct object, pc) },
        .java_thread = (uintptr_t)&thread.object,
        .stack_low = (uintptr_t)thread.stack,
        .stack_high = (uintptr_t)(thread.stack + DEPTH),
        .own = &thread.own,
    };
    smp_gate_open(&smp_gate_process);
    return 0;
}

static enum smp_status walk_now(void)
{
    return smp_native_walk(&thread.info, thread.tid, thread.cpu_ns, &thread.words, &thread.slot);
}

static void a_thread_in_native_code_is_walked(void **state)
{
    (void)state;
    assert_int_equal(walk_now(), SMP_OK);
    assert_int_equal(thread.slot.answer.answer, SMP_ANSWER_WHOLE);
    assert_int_equal(thread.slot.answer.first, 1);
    assert_int_equal(thread.slot.answer.count, DEPTH);
    assert_int_equal(thread.slot.answer.state, STATE_IN_NATIVE);
    assert_ptr_equal(thread.frames[1].method, &thread.stack[0]);
    assert_int_equal(thread.walks, 1);
    thread.object.state = STATE_BLOCKED;
    assert_int_equal(walk_now(), SMP_OK);
    assert_int_equal(thread.slot.answer.count, DEPTH);
}

static void a_thread_that_native_code_has_attached_has_no_java_frames(void **state)
{
    (void)state;
    thread.object.sp = 0;
    assert_int_equal(walk_now(), SMP_OK);
    assert_int_equal(thread.slot.answer.answer, SMP_ANSWER_EMPTY);
    assert_int_equal(thread.slot.answer.count, 0);
    assert_int_equal(thread.walks, 0);
}

static void a_thread_that_runs_java_gets_a_signal(void **state)
{
    static const int32_t others[] = { STATE_IN_JAVA, STATE_FROM_NATIVE, STATE_IN_VM,
                                      STATE_FROM_VM };

    (void)state;
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        thread.object.state = others[i];
        assert_int_equal(walk_now(), SMP_ESTATE);
    }
    assert_int_equal(thread.walks, 0);
}

static void a_thread_that_has_just_left_native_code_gets_a_signal(void **state)
{
    (void)state;
    thread.leaves_after = 1;
    assert_int_equal(walk_now(), SMP_ESTATE);
    assert_int_equal(thread.walks, 1);
    (void)setup(state);
    thread.changes = true; /* it is back in native code each time */
    assert_int_equal(walk_now(), SMP_ESTATE);
    assert_int_equal(thread.walks, SMP_NATIVE_TRIES);
}

/* --- a clock that does not advance --- */

static struct {
    sem_t may_end;
    _Atomic int32_t tid;
} waiting;

static void *wait_for_the_end(void *argument)
{
    waiting.tid = smp_thread_own_tid();
    while (sem_wait(&waiting.may_end) != 0)
        continue;
    return argument;
}

/* Reads its clock once it waits: then the clock does not advance any more. */
static int64_t clock_of_waiting(void)
{
    int64_t cpu_ns = 0;

    while (waiting.tid == 0 || !thread_sleeps(waiting.tid))
        (void)sched_yield();
    assert_true(smp_clock_thread_cpu_ns(waiting.tid, &cpu_ns));
    return cpu_ns;
}

static void a_thread_whose_clock_does_not_advance_is_not_watched(void **state)
{
    pthread_t waits;

    (void)state;
    assert_int_equal(sem_init(&waiting.may_end, 0, 0), 0);
    assert_int_equal(pthread_create(&waits, NULL, wait_for_the_end, NULL), 0);
    const int64_t cpu_ns = clock_of_waiting();
    thread.tid = waiting.tid;
    thread.cpu_ns = cpu_ns;
    thread.changes = true; /* its stack is not stable: the clock alone proves nothing */
    assert_int_equal(walk_now(), SMP_ESTATE);
    assert_int_equal(thread.walks, 1 + SMP_NATIVE_TRIES);
    thread.changes = false;
    thread.walks = 0;
    assert_int_equal(walk_now(), SMP_OK);
    assert_int_equal(thread.walks, 1);
    assert_int_equal(thread.slot.answer.count, DEPTH);
    thread.cpu_ns = cpu_ns - 1; /* it has run since, so it is watched */
    thread.walks = 0;
    assert_int_equal(walk_now(), SMP_OK);
    assert_int_equal(thread.walks, 2);
    thread.cpu_ns = cpu_ns;
    thread.object.state = STATE_IN_VM; /* its frames may change at any time */
    assert_int_equal(walk_now(), SMP_ESTATE);
    assert_int_equal(sem_post(&waiting.may_end), 0);
    assert_int_equal(pthread_join(waits, NULL), 0);
    assert_int_equal(sem_destroy(&waiting.may_end), 0);
}

static void a_thread_with_an_unreadable_stack_gets_no_signal(void **state)
{
    (void)state;
    thread.found = SMP_OWN_WALK_FAILED;
    assert_int_equal(walk_now(), SMP_EUNSUPPORTED);
    thread.object.sp++; /* not a word of its stack */
    assert_int_equal(walk_now(), SMP_EUNSUPPORTED);
}

static void threads_that_must_not_be_read_get_a_signal(void **state)
{
    (void)state;
    thread.slot.target.own = NULL;
    assert_int_equal(walk_now(), SMP_ESTATE);
    (void)setup(state);
    thread.slot.target.java_thread = 0;
    assert_int_equal(walk_now(), SMP_ESTATE);
    (void)setup(state);
    thread.slot.target.stack_high = 0;
    assert_int_equal(walk_now(), SMP_ESTATE);
    (void)setup(state);
    smp_gate_init_unsure(&thread.info.gate);
    assert_int_equal(walk_now(), SMP_ESTATE);
    smp_gate_confirm(&thread.info.gate);
    assert_int_equal(walk_now(), SMP_OK);
    smp_gate_close(&smp_gate_process);
    assert_int_equal(walk_now(), SMP_ESTATE);
    smp_gate_open(&smp_gate_process);
    assert_int_equal(thread.walks, 1);
}

/* The slot's answer belongs to the requester, and no signal is sent. */
static void a_slot_that_needs_no_signal_is_done(void **state)
{
    static struct smp_signal_mailbox mailbox;
    uint64_t cookie = 0;
    struct smp_signal_slot *slot = smp_signal_take(&cookie);

    (void)state;
    assert_non_null(slot);
    slot->mailbox = &mailbox;
    smp_signal_spare(cookie);
    assert_int_equal(smp_signal_state(cookie), SMP_SLOT_DONE);
    assert_int_equal(mailbox.pending, 0);
    smp_signal_release(cookie);
    assert_int_equal(smp_signal_state(cookie), SMP_SLOT_FREE);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup(name, setup)
    const struct CMUnitTest tests[] = {
        TEST(a_thread_in_native_code_is_walked),
        TEST(a_thread_that_native_code_has_attached_has_no_java_frames),
        TEST(a_thread_that_runs_java_gets_a_signal),
        TEST(a_thread_that_has_just_left_native_code_gets_a_signal),
        TEST(a_thread_whose_clock_does_not_advance_is_not_watched),
        TEST(a_thread_with_an_unreadable_stack_gets_no_signal),
        TEST(threads_that_must_not_be_read_get_a_signal),
        TEST(a_slot_that_needs_no_signal_is_done),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* An artificial thread: its thread object is a struct, its stack an array, its CPU clock the fake
 * one. Between any two reads of the proof, a step of the test may change them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs the four headers above. */
#include <cmocka.h>

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

#include "base/clock.h"
#include "base/random.h"
#include "jvm/walk/proven_walk.h"
#include "support/thread_states.h"

enum { DEPTH = 8, CAPACITY = 16, TID = 77 };

struct object {
    uintptr_t padding[3];
    _Atomic int32_t state;
    _Atomic uintptr_t sp;
    _Atomic uintptr_t fp;
    _Atomic uintptr_t pc;
};

static struct {
    struct object object;
    _Atomic uintptr_t stack[DEPTH]; /* the methods on the stack, leaf first */
    _Atomic int64_t cpu_ns;
    int64_t now_ns; /* each reading of the clock takes one of it */
    bool has_no_clock;
    enum smp_frames_end end;
    struct smp_walk_info info;
    struct smp_proven_walk how;
    /* Called before each read, with its number from 0. */
    void (*step)(unsigned number);
    unsigned steps;
    unsigned walks;
    unsigned confirmed;
} thread;

static struct smp_raw_frame raw[CAPACITY];
static uint64_t ids[CAPACITY];
static struct smp_frames_word read_words[CAPACITY];
static struct smp_frames_words words;
static struct smp_thread_walk proof_walk;
static struct smp_frames *const frames = &proof_walk.frames;

static void take_step(void)
{
    if (thread.step != NULL)
        thread.step(thread.steps);
    thread.steps++;
}

static bool read_cpu(void *self, int32_t tid, int64_t *out)
{
    (void)self;
    take_step();
    *out = thread.cpu_ns;
    return tid == TID && !thread.has_no_clock;
}

static int64_t read_clock(void *self)
{
    (void)self;
    take_step();
    return thread.now_ns++;
}

/* Reads word by word, as a walk does. */
static void walk(void *self, struct smp_frames_start start, uintptr_t stack_high,
                 struct smp_frames *out)
{
    (void)self;
    assert_int_equal(start.sp, (uintptr_t)thread.stack);
    assert_int_equal(stack_high, (uintptr_t)(thread.stack + DEPTH));
    thread.walks++;
    for (size_t i = 0; i < DEPTH; i++) {
        take_step();
        out->raw[i] = (struct smp_raw_frame){ .method = thread.stack[i], .bci = (int32_t)i };
        out->ids[i] = out->raw[i].method;
        if (i < out->words->capacity)
            out->words->read[i] =
                (struct smp_frames_word){ (uintptr_t)&thread.stack[i], out->raw[i].method };
    }
    out->words->count = DEPTH;
    out->count = DEPTH;
    out->leaf_count = DEPTH;
    out->end = thread.end;
}

static void confirm(void *self, const struct smp_frames *proven)
{
    (void)self;
    assert_ptr_equal(proven, frames);
    thread.confirmed++;
}

static const struct smp_clock_fake clock_seam = { .thread_cpu_ns = read_cpu };
static const struct smp_clock_fake watching_seam = { .thread_cpu_ns = read_cpu, .ns = read_clock };

static int setup(void **state)
{
    (void)state;
    memset(&thread, 0, sizeof(thread));
    thread.object.state = STATE_BLOCKED;
    thread.object.sp = (uintptr_t)thread.stack;
    thread.object.fp = 1;
    thread.object.pc = 2;
    for (size_t i = 0; i < DEPTH; i++)
        thread.stack[i] = 100 + i;
    thread.info.java_thread = (uintptr_t)&thread.object;
    thread.info.stack_low = (uintptr_t)thread.stack;
    thread.info.stack_high = (uintptr_t)(thread.stack + DEPTH);
    thread.how = (struct smp_proven_walk){
        .layout = { .states = STATES_UNTIL_27,
                    .state = offsetof(struct object, state),
                    .last_sp = offsetof(struct object, sp),
                    .last_fp = offsetof(struct object, fp),
                    .last_pc = offsetof(struct object, pc) },
        .walk = walk,
        .confirm = confirm,
    };
    words = (struct smp_frames_words){ .read = read_words, .capacity = CAPACITY };
    *frames = (struct smp_frames){ .raw = raw, .ids = ids, .capacity = CAPACITY, .words = &words };
    smp_clock_set_fake(&clock_seam);
    smp_gate_open(&smp_gate_process);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    smp_clock_set_fake(NULL);
    smp_gate_open(&smp_gate_process);
    return 0;
}

/* Starts with a clock reading of the caller, or -1. */
static enum smp_proof prove_from(int64_t cpu_ns)
{
    proof_walk.tid = TID;
    proof_walk.cpu_ns = cpu_ns;
    proof_walk.watched_ns = 0;
    proof_walk.is_native = false;
    return smp_proven_walk_thread(&thread.how, &thread.info, &proof_walk);
}

static enum smp_proof prove(void)
{
    return prove_from(-1);
}

static void assert_proof(enum smp_proof expected)
{
    thread.steps = 0;
    thread.walks = 0;
    thread.confirmed = 0;
    frames->count = 99;
    assert_int_equal(prove(), expected);
    if (expected != SMP_PROOF_PROVEN)
        assert_int_equal(frames->count, 0);
    assert_int_equal(thread.confirmed, expected == SMP_PROOF_PROVEN ? 1 : 0);
}

/* ---------------------------------------------------------------------- nothing happens */

static void the_stack_of_a_thread_that_does_not_run_is_proven(void **state)
{
    static const int32_t states[] = { STATE_IN_NATIVE, STATE_IN_VM, STATE_BLOCKED };

    (void)state;
    for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
        thread.object.state = states[i];
        assert_proof(SMP_PROOF_PROVEN);
        assert_int_equal(frames->count, DEPTH);
        assert_int_equal(frames->leaf_count, DEPTH);
        for (size_t j = 0; j < DEPTH; j++)
            assert_int_equal(ids[j], 100 + j);
        assert_int_equal(thread.walks, 1);
    }
}

static void a_thread_in_java_or_in_between_is_not_walked(void **state)
{
    static const int32_t states[] = { STATE_IN_JAVA,       STATE_FROM_NATIVE,
                                      STATE_FROM_VM,       STATE_IN_JAVA + 1,
                                      STATE_BLOCKED + 1,   0,
                                      STATE_IN_NATIVE - 2, -1 };

    (void)state;
    for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
        thread.object.state = states[i];
        assert_proof(SMP_PROOF_IN_JAVA);
        assert_int_equal(thread.walks, 0);
    }
}

static void jdk_28_has_other_state_numbers(void **state)
{
    static const int32_t outside[] = { 2, 3, 5 };
    static const int32_t inside[] = { 0, 1, 4, 6, 8, 10, -1 };

    (void)state;
    thread.how.layout.states = (struct smp_jvm_states)STATES_SINCE_28;
    for (size_t i = 0; i < sizeof(outside) / sizeof(outside[0]); i++) {
        thread.object.state = outside[i];
        assert_proof(SMP_PROOF_PROVEN);
    }
    for (size_t i = 0; i < sizeof(inside) / sizeof(inside[0]); i++) {
        thread.object.state = inside[i];
        assert_proof(SMP_PROOF_IN_JAVA);
    }
}

static bool reads_words(int32_t expected)
{
    struct smp_thread_words read = { .state = -1 };
    const bool is_read = smp_proven_walk_words(&thread.how, &thread.info, &read);

    assert_int_equal(read.state, is_read ? expected : -1);
    return is_read;
}

static void the_wait_word_is_read_only_if_the_thread_may_be_read(void **state)
{
    static const int32_t others[] = { STATE_IN_NATIVE, STATE_IN_VM, STATE_IN_JAVA, STATE_BLOCKED };
    const uintptr_t object = thread.info.java_thread;

    (void)state;
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        thread.object.state = others[i];
        assert_true(reads_words(others[i]));
    }
    thread.info.java_thread = 0;
    assert_false(reads_words(STATE_BLOCKED));
    thread.info.java_thread = object;
    smp_gate_close(&smp_gate_process);
    assert_false(reads_words(STATE_BLOCKED));
    smp_gate_open(&smp_gate_process);
    smp_gate_init_unsure(&thread.info.gate);
    assert_false(reads_words(STATE_BLOCKED));
    smp_gate_confirm(&thread.info.gate);
    assert_true(reads_words(STATE_BLOCKED));
    smp_gate_close(&thread.info.gate);
    assert_false(reads_words(STATE_BLOCKED));
    assert_true(smp_gate_wait(&thread.info.gate, 0)); /* no reader is left inside */
    assert_true(smp_gate_wait(&smp_gate_process, 0));
}

static void without_an_anchor_there_are_no_frames(void **state)
{
    (void)state;
    thread.object.sp = 0;
    assert_proof(SMP_PROOF_PROVEN);
    assert_int_equal(frames->count, 0);
    assert_int_equal(thread.walks, 0);
}

static void only_a_stack_with_known_bounds_is_read(void **state)
{
    const uintptr_t low = thread.info.stack_low;
    const uintptr_t high = thread.info.stack_high;

    (void)state;
    thread.info.stack_low = thread.info.stack_high = 0;
    assert_proof(SMP_PROOF_NO_STACK);
    thread.info.stack_low = low + sizeof(uintptr_t);
    thread.info.stack_high = high;
    assert_proof(SMP_PROOF_NO_STACK);
    thread.info.stack_low = low;
    thread.object.sp = high;
    assert_proof(SMP_PROOF_NO_STACK);
    thread.object.sp = low + 1;
    assert_proof(SMP_PROOF_NO_STACK);
    assert_int_equal(thread.walks, 0);
    thread.object.sp = low;
    assert_proof(SMP_PROOF_PROVEN);
}

static void the_thread_object_is_not_read_if_it_may_be_freed(void **state)
{
    (void)state;
    thread.info.java_thread = 8; /* reading it would crash this program */
    thread.has_no_clock = true;
    assert_proof(SMP_PROOF_NO_CLOCK);
    thread.has_no_clock = false;
    proof_walk.tid = 0;
    assert_int_equal(smp_proven_walk_thread(&thread.how, &thread.info, &proof_walk),
                     SMP_PROOF_NO_CLOCK);
    smp_gate_close(&smp_gate_process);
    assert_proof(SMP_PROOF_ENDED);
    smp_gate_open(&smp_gate_process);
    smp_gate_init_unsure(&thread.info.gate);
    assert_proof(SMP_PROOF_UNSURE);
    smp_gate_close(&thread.info.gate);
    smp_gate_confirm(&thread.info.gate);
    assert_proof(SMP_PROOF_ENDED);
    thread.info = (struct smp_walk_info){ 0 };
    assert_proof(SMP_PROOF_NO_CLOCK);
}

static void only_a_complete_walk_is_proven(void **state)
{
    static const enum smp_frames_end ends[] = { SMP_FRAMES_VIRTUAL_ROOT, SMP_FRAMES_BARRIER,
                                                SMP_FRAMES_UNWALKABLE };

    (void)state;
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        thread.end = ends[i];
        assert_proof(SMP_PROOF_UNWALKABLE);
        assert_int_equal(thread.walks, 1);
    }
    thread.end = SMP_FRAMES_FULL; /* all words that were read are proven, though not the root's */
    assert_proof(SMP_PROOF_PROVEN);
    thread.end = SMP_FRAMES_ROOT;
    frames->capacity = DEPTH - 1;
    assert_proof(SMP_PROOF_UNWALKABLE); /* more than fit */
}

static void a_stack_with_more_words_than_there_is_room_for_is_not_proven(void **state)
{
    (void)state;
    words.capacity = DEPTH;
    assert_proof(SMP_PROOF_PROVEN);
    words.capacity = DEPTH - 1;
    read_words[DEPTH - 1] = (struct smp_frames_word){ 0 }; /* beyond the buffer */
    assert_proof(SMP_PROOF_UNWALKABLE);
}

static void a_proof_uses_the_callers_clock_reading(void **state)
{
    (void)state;
    thread.cpu_ns = 5;
    assert_int_equal(prove_from(5), SMP_PROOF_PROVEN);
    assert_int_equal(thread.steps, DEPTH + 1); /* the clock was read once */
    assert_int_equal(prove_from(4), SMP_PROOF_HAS_RUN);
    assert_int_equal(proof_walk.cpu_ns, 5);           /* where the next proof begins */
    assert_true(smp_gate_wait(&thread.info.gate, 0)); /* no reader is left inside */
    assert_true(smp_gate_wait(&smp_gate_process, 0));
}

/* -------------------------------------------------------------- something happens in between */

static void (*change)(void);
static unsigned change_at;

static void change_once(unsigned number)
{
    if (number == change_at)
        change();
}

static void clock_moves(void)
{
    thread.cpu_ns++;
}

static void clock_goes(void)
{
    thread.has_no_clock = true;
}

static void word_changes(void)
{
    thread.stack[DEPTH / 2] = 999;
}

static void pc_changes(void)
{
    thread.object.pc = 3;
}

static void fp_changes(void)
{
    thread.object.fp = 3;
}

static void state_changes(void)
{
    thread.object.state = STATE_IN_NATIVE;
}

static void sp_goes(void)
{
    thread.object.sp = 0;
}

static unsigned count_steps(void)
{
    thread.step = NULL;
    assert_proof(SMP_PROOF_PROVEN);
    return thread.steps;
}

/* Returns whether this change may go unnoticed before the read with this number. The clock is read
 * first and last; in between the words are read once, and again with the anchor before the last
 * clock reading. */
static bool may_be_proven(void (*which)(void), unsigned at, unsigned steps)
{
    const unsigned word = 1 + DEPTH / 2;

    if (at == 0)
        return true; /* it was so from the beginning */
    if (which == word_changes && at <= word)
        return true; /* both readings are equal: only the clock could tell */
    return which != clock_moves && at == steps - 1;
}

static void a_stack_that_changes_in_between_is_not_proven(void **state)
{
    static void (*const changes[])(void) = { clock_moves, word_changes,  pc_changes,
                                             fp_changes,  state_changes, sp_goes };
    const unsigned steps = count_steps();

    assert_int_equal(steps, 2 + DEPTH);
    for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
        for (unsigned at = 0; at < steps; at++) {
            (void)setup(state);
            thread.step = change_once;
            change = changes[i];
            change_at = at;
            if (may_be_proven(changes[i], at, steps))
                assert_proof(SMP_PROOF_PROVEN);
            else
                assert_proof(SMP_PROOF_HAS_RUN);
        }
    }
}

static void a_thread_that_ended_before_the_second_clock_reading_has_run(void **state)
{
    const unsigned steps = count_steps();

    (void)state;
    thread.step = change_once;
    change = clock_goes;
    change_at = steps - 1;
    assert_proof(SMP_PROOF_HAS_RUN);
}

static void a_thread_that_could_not_be_walked_has_run_if_its_clock_advanced(void **state)
{
    (void)state;
    thread.step = change_once;
    change = clock_moves;
    change_at = 2;
    thread.end = SMP_FRAMES_UNWALKABLE;
    assert_proof(SMP_PROOF_HAS_RUN);
}

static void gives_up(void)
{
    smp_gate_close(&thread.info.gate);
    assert_false(smp_gate_wait(&thread.info.gate, 0));
}

static void jvm_gives_up(void)
{
    smp_gate_close(&smp_gate_process);
    assert_false(smp_gate_wait(&smp_gate_process, 0));
}

static void a_walk_is_discarded_if_its_thread_no_longer_waits(void **state)
{
    (void)state;
    thread.step = change_once;
    change_at = 4;
    change = gives_up;
    assert_proof(SMP_PROOF_LATE);
    assert_proof(SMP_PROOF_ENDED);
    (void)setup(state);
    thread.step = change_once;
    change = jvm_gives_up;
    assert_proof(SMP_PROOF_LATE);
    assert_proof(SMP_PROOF_ENDED);
}

/* -------------------------------------------------------------- a thread that is watched */

enum { WATCHED_NS = 3 };

static enum smp_proof watch(void)
{
    thread.steps = 0;
    thread.walks = 0;
    thread.now_ns = 0;
    frames->count = 99;
    proof_walk.tid = 0; /* its clock is not read */
    proof_walk.watched_ns = WATCHED_NS;
    proof_walk.is_native = true;
    smp_clock_set_fake(&watching_seam);
    const enum smp_proof proof = smp_proven_walk_thread(&thread.how, &thread.info, &proof_walk);
    smp_clock_set_fake(&clock_seam);
    if (proof != SMP_PROOF_PROVEN)
        assert_int_equal(frames->count, 0);
    return proof;
}

static void clock_runs(unsigned number)
{
    (void)number;
    thread.cpu_ns++;
}

static void a_thread_in_native_code_is_proven_although_it_runs(void **state)
{
    static const int32_t resting[] = { STATE_IN_NATIVE, STATE_BLOCKED };

    (void)state;
    thread.step = clock_runs;
    for (size_t i = 0; i < sizeof(resting) / sizeof(resting[0]); i++) {
        thread.object.state = resting[i];
        assert_int_equal(watch(), SMP_PROOF_PROVEN);
        assert_int_equal(frames->count, DEPTH);
        assert_int_equal(thread.now_ns, WATCHED_NS + 1);
        assert_int_equal(thread.walks, 1);
    }
    thread.object.sp = 0; /* native code has attached it and has not called Java */
    assert_int_equal(watch(), SMP_PROOF_PROVEN);
    assert_int_equal(frames->count, 0);
    thread.info.java_thread = 0;
    assert_int_equal(watch(), SMP_PROOF_NO_STACK);
}

static void a_thread_that_runs_java_or_the_jvm_is_not_watched(void **state)
{
    static const int32_t running[] = { STATE_IN_JAVA, STATE_FROM_NATIVE, STATE_IN_VM,
                                       STATE_FROM_VM, STATE_BLOCKED + 1, 0 };

    (void)state;
    for (size_t i = 0; i < sizeof(running) / sizeof(running[0]); i++) {
        thread.object.state = running[i];
        assert_int_equal(watch(), SMP_PROOF_IN_JAVA);
        assert_int_equal(thread.walks, 0);
    }
    thread.how.layout.states = (struct smp_jvm_states)STATES_SINCE_28;
    thread.object.state = 4; /* this number means "in Java" there */
    assert_int_equal(watch(), SMP_PROOF_IN_JAVA);
    thread.object.state = 2;
    assert_int_equal(watch(), SMP_PROOF_PROVEN);
}

static void runs_java(void)
{
    thread.object.state = STATE_IN_JAVA;
}

/* Each change is noticed, from the first reading of the state to the end of the time. */
static void a_thread_that_leaves_native_code_is_not_proven(void **state)
{
    static void (*const changes[])(void) = { word_changes, pc_changes, fp_changes, runs_java,
                                             sp_goes };
    const unsigned last = DEPTH + WATCHED_NS; /* then the last reading of the time */

    (void)state;
    for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
        for (unsigned at = 1; at < last; at++) {
            (void)setup(state);
            thread.object.state = STATE_IN_NATIVE;
            thread.step = change_once;
            change = changes[i];
            change_at = at;
            if (changes[i] == word_changes && at <= 1 + DEPTH / 2)
                assert_int_equal(watch(), SMP_PROOF_PROVEN); /* before it was read */
            else
                assert_int_equal(watch(), SMP_PROOF_HAS_RUN);
            assert_true(smp_gate_wait(&thread.info.gate, 0)); /* no reader is left inside */
        }
    }
}

static void an_unwalkable_watched_thread_is_reported_after_watching(void **state)
{
    (void)state;
    thread.object.state = STATE_IN_NATIVE;
    thread.end = SMP_FRAMES_UNWALKABLE;
    assert_int_equal(watch(), SMP_PROOF_UNWALKABLE);
    thread.step = change_once;
    change = runs_java;
    change_at = 2 + DEPTH;
    assert_int_equal(watch(), SMP_PROOF_HAS_RUN);
}

/* ---------------------------------------------------------------- random threads */

enum { ROUNDS = 20000 };

static uint64_t seed;

static unsigned draw(unsigned below)
{
    return (unsigned)(smp_random_next(&seed) % below);
}

/* The thread runs: it takes one of two complete stacks, and its clock advances. */
static void run_now_and_then(unsigned number)
{
    (void)number;
    if (draw(40) != 0)
        return;
    const uintptr_t shape = 100 * (1 + draw(2));
    thread.cpu_ns++;
    for (size_t i = 0; i < DEPTH; i++)
        thread.stack[i] = shape + i;
}

static void a_proven_stack_is_a_real_stack_of_the_thread(void **state)
{
    unsigned proven = 0;

    (void)state;
    seed = 42;
    thread.step = run_now_and_then;
    for (int i = 0; i < ROUNDS; i++) {
        if (prove() != SMP_PROOF_PROVEN)
            continue;
        proven++;
        for (size_t j = 1; j < DEPTH; j++)
            assert_int_equal(raw[j].method, raw[0].method + j);
    }
    assert_in_range(proven, ROUNDS / 4, ROUNDS - ROUNDS / 20);
}

/* ---------------------------------------------------------------- a running thread */

static _Atomic bool over;

/* It is in Java while its stack changes, and its clock advances with each word. */
static void *run_in_two_shapes(void *unused)
{
    (void)unused;
    for (uintptr_t turn = 0; !over; turn++) {
        thread.object.state = STATE_IN_JAVA;
        for (size_t i = 0; i < DEPTH; i++) {
            thread.stack[i] = 100 * (1 + turn % 2) + i;
            atomic_fetch_add(&thread.cpu_ns, 1);
        }
        thread.object.state = STATE_BLOCKED;
        for (int i = 0; i < 200 && !over; i++)
            (void)sched_yield();
    }
    return NULL;
}

/* Its anchor is the same before and after each change. */
static void no_torn_stack_is_proven(void **state)
{
    enum { ENOUGH = 20000 };
    pthread_t victim;
    unsigned proven = 0;

    (void)state;
    over = false;
    assert_int_equal(pthread_create(&victim, NULL, run_in_two_shapes, NULL), 0);
    while (proven < ENOUGH) {
        if (prove() != SMP_PROOF_PROVEN)
            continue;
        proven++;
        for (size_t j = 1; j < DEPTH; j++)
            assert_int_equal(raw[j].method, raw[0].method + j);
    }
    over = true;
    pthread_join(victim, NULL);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(the_stack_of_a_thread_that_does_not_run_is_proven),
        TEST(a_thread_in_java_or_in_between_is_not_walked),
        TEST(jdk_28_has_other_state_numbers),
        TEST(the_wait_word_is_read_only_if_the_thread_may_be_read),
        TEST(without_an_anchor_there_are_no_frames),
        TEST(only_a_stack_with_known_bounds_is_read),
        TEST(the_thread_object_is_not_read_if_it_may_be_freed),
        TEST(only_a_complete_walk_is_proven),
        TEST(a_stack_with_more_words_than_there_is_room_for_is_not_proven),
        TEST(a_proof_uses_the_callers_clock_reading),
        TEST(a_stack_that_changes_in_between_is_not_proven),
        TEST(a_thread_that_ended_before_the_second_clock_reading_has_run),
        TEST(a_thread_that_could_not_be_walked_has_run_if_its_clock_advanced),
        TEST(a_walk_is_discarded_if_its_thread_no_longer_waits),
        TEST(a_thread_in_native_code_is_proven_although_it_runs),
        TEST(a_thread_that_runs_java_or_the_jvm_is_not_watched),
        TEST(a_thread_that_leaves_native_code_is_not_proven),
        TEST(an_unwalkable_watched_thread_is_reported_after_watching),
        TEST(a_proven_stack_is_a_real_stack_of_the_thread),
        TEST(no_torn_stack_is_proven),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

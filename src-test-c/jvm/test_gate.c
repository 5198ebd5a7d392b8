/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs the four headers above. */
#include <cmocka.h>

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/clock.h"
#include "jvm/threads/gate.h"

static void many_readers_are_in_at_once(void **state)
{
    struct smp_gate gate = { 0 };

    (void)state;
    assert_true(smp_gate_enter(&gate));
    assert_true(smp_gate_enter(&gate));
    assert_true(smp_gate_leave(&gate));
    assert_true(smp_gate_leave(&gate));
    for (int i = 0; i < SMP_GATE_READERS; i++)
        assert_true(smp_gate_enter(&gate));
    assert_false(smp_gate_enter(&gate));
    assert_true(smp_gate_leave(&gate));
    assert_true(smp_gate_enter(&gate));
}

static void no_reader_enters_a_closed_gate(void **state)
{
    struct smp_gate gate = { 0 };

    (void)state;
    smp_gate_close(&gate);
    smp_gate_close(&gate);
    assert_false(smp_gate_enter(&gate));
    assert_true(smp_gate_wait(&gate, 0));
    assert_false(smp_gate_is_unsure(&gate));
}

static void evidence_of_life_opens_an_undecided_gate(void **state)
{
    struct smp_gate gate;

    (void)state;
    smp_gate_init_unsure(&gate);
    assert_true(smp_gate_is_unsure(&gate));
    assert_false(smp_gate_enter(&gate));
    smp_gate_confirm(&gate);
    assert_false(smp_gate_is_unsure(&gate));
    assert_true(smp_gate_enter(&gate));
    assert_true(smp_gate_leave(&gate));
}

static void evidence_of_life_does_not_open_a_closed_gate(void **state)
{
    struct smp_gate gate;

    (void)state;
    smp_gate_init_unsure(&gate);
    smp_gate_close(&gate);
    smp_gate_confirm(&gate);
    assert_false(smp_gate_enter(&gate));
}

static void the_gate_of_the_process_opens_again(void **state)
{
    (void)state;
    smp_gate_close(&smp_gate_process);
    assert_false(smp_gate_enter(&smp_gate_process));
    smp_gate_open(&smp_gate_process);
    assert_true(smp_gate_enter(&smp_gate_process));
    assert_true(smp_gate_leave(&smp_gate_process));
}

static void a_reader_learns_that_it_came_too_late(void **state)
{
    struct smp_gate gate = { 0 };

    (void)state;
    assert_true(smp_gate_enter(&gate));
    assert_true(smp_gate_enter(&gate));
    smp_gate_close(&gate);
    assert_false(smp_gate_wait(&gate, 1));
    assert_false(smp_gate_leave(&gate));
    assert_false(smp_gate_leave(&gate));
    assert_true(smp_gate_wait(&gate, 0));
}

/* ---------------------------------------------------------------------------------- waiting */

struct ending {
    struct smp_gate gate;
    _Atomic int began;
    _Atomic int ended;
    bool is_free; /* smp_gate_wait found no reader left */
};

static void *end_thread(void *self)
{
    struct ending *ending = self;

    smp_gate_close(&ending->gate);
    ending->began = 1;
    ending->is_free = smp_gate_wait(&ending->gate, SMP_GATE_MOST_MS * 1000LL);
    ending->ended = 1;
    return NULL;
}

/* The clock of a thread that waits: it counts its readings, and each one advances it. */
static struct {
    int64_t step_ns;
    _Atomic int64_t readings;
} waiting_clock;

static int64_t read_waiting_clock(void *self)
{
    (void)self;
    return waiting_clock.step_ns * ++waiting_clock.readings;
}

static const struct smp_clock_fake counting_clock = { .ns = read_waiting_clock };

/* A waiting thread reads the clock before and after each sleep. Returns once the thread has looked
 * at the gate again and begun another sleep, or has ended. */
static void let_it_sleep(const struct ending *ending)
{
    const int64_t until = waiting_clock.readings + 3;

    while (waiting_clock.readings < until && !ending->ended)
        (void)sched_yield();
}

static void a_thread_ends_after_the_last_reader_has_left(void **state)
{
    struct ending ending = { 0 };
    pthread_t thread;

    (void)state;
    waiting_clock.step_ns = 0;
    smp_clock_set_fake(&counting_clock);
    assert_true(smp_gate_enter(&ending.gate));
    assert_true(smp_gate_enter(&ending.gate));
    assert_int_equal(pthread_create(&thread, NULL, end_thread, &ending), 0);
    while (!ending.began)
        (void)sched_yield();
    assert_false(smp_gate_enter(&ending.gate));
    for (int i = 0; i < 5; i++) {
        let_it_sleep(&ending);
        assert_int_equal(ending.ended, 0);
    }
    assert_true(smp_gate_leave(&ending.gate));
    let_it_sleep(&ending);
    assert_int_equal(ending.ended, 0);
    assert_true(smp_gate_leave(&ending.gate));
    pthread_join(thread, NULL);
    assert_true(ending.is_free);
    smp_clock_set_fake(NULL);
}

/* Each reading advances the clock by a day, as if the process had been frozen. */
static void time_in_which_the_process_is_stopped_does_not_count(void **state)
{
    struct ending ending = { 0 };
    pthread_t thread;

    (void)state;
    waiting_clock.step_ns = 86400 * INT64_C(1000000000);
    smp_clock_set_fake(&counting_clock);
    assert_true(smp_gate_enter(&ending.gate));
    assert_int_equal(pthread_create(&thread, NULL, end_thread, &ending), 0);
    for (int i = 0; i < 5; i++)
        let_it_sleep(&ending);
    assert_int_equal(ending.ended, 0);
    assert_true(smp_gate_leave(&ending.gate));
    pthread_join(thread, NULL);
    assert_true(ending.is_free);
    smp_clock_set_fake(NULL);
}

/* --------------------------------------------------------------------------------- stress */

enum { LIVES = 20000, SLOTS = 8, READERS = 2, ALIVE = 0x5a5a };

/* A thread whose object is freed at its end. Here it is marked, in ordinary memory, so that the
 * thread sanitizer reports an access that is not ordered. */
struct life {
    struct smp_gate gate;
    int object;
};

static struct {
    struct life lives[LIVES];
    _Atomic size_t newest[SLOTS]; /* index of the slot's current thread, plus 1 */
    _Atomic int over;
    _Atomic size_t reads;
} world;

static void *read_lives(void *unused)
{
    size_t at = 0;

    (void)unused;
    while (!world.over) {
        const size_t index = world.newest[at++ % SLOTS];
        struct life *life = index > 0 ? &world.lives[index - 1] : NULL;
        if (life == NULL || !smp_gate_enter(&life->gate))
            continue;
        assert_int_equal(life->object, ALIVE);
        if (at % 64 == 0)
            (void)sched_yield(); /* the reader loses its CPU while it is inside */
        assert_int_equal(life->object, ALIVE);
        assert_true(smp_gate_leave(&life->gate));
        world.reads++;
    }
    return NULL;
}

static void no_object_is_read_after_its_end(void **state)
{
    pthread_t readers[READERS];

    (void)state;
    for (size_t i = 0; i < READERS; i++)
        assert_int_equal(pthread_create(&readers[i], NULL, read_lives, NULL), 0);
    for (size_t i = 0; i < LIVES || world.reads < 1000; i++) {
        const size_t slot = i % SLOTS;
        if (i < LIVES) {
            const size_t before = world.newest[slot];
            world.lives[i].object = ALIVE;
            world.newest[slot] = i + 1;
            if (before > 0) {
                struct life *life = &world.lives[before - 1];
                smp_gate_close(&life->gate);
                assert_true(smp_gate_wait(&life->gate, SMP_GATE_MOST_MS * 1000LL));
                life->object = 0;
            }
        } else {
            (void)sched_yield();
        }
    }
    world.over = 1;
    for (size_t i = 0; i < READERS; i++)
        pthread_join(readers[i], NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_readers_are_in_at_once),
        cmocka_unit_test(no_reader_enters_a_closed_gate),
        cmocka_unit_test(evidence_of_life_opens_an_undecided_gate),
        cmocka_unit_test(evidence_of_life_does_not_open_a_closed_gate),
        cmocka_unit_test(the_gate_of_the_process_opens_again),
        cmocka_unit_test(a_reader_learns_that_it_came_too_late),
        cmocka_unit_test(a_thread_ends_after_the_last_reader_has_left),
        cmocka_unit_test(time_in_which_the_process_is_stopped_does_not_count),
        cmocka_unit_test(no_object_is_read_after_its_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

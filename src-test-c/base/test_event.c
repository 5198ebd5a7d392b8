/* SPDX-License-Identifier: Apache-2.0 */
#include "base/event.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include <cmocka.h>

#define MS INT64_C(1000000)

/* A sleep that does not end lets ctest's time limit fail these tests. */
static void a_sleep_ends_without_a_call(void **state)
{
    struct smp_event event = { 0 };

    (void)state;
    smp_event_sleep(&event, smp_event_calls(&event), 20 * MS);
    smp_event_sleep(&event, smp_event_calls(&event), 0);
    smp_event_sleep(&event, smp_event_calls(&event), -5);
    assert_int_equal(smp_event_calls(&event), 0);
}

static void a_call_before_the_sleep_is_not_missed(void **state)
{
    struct smp_event event = { 0 };
    const uint32_t seen = smp_event_calls(&event);

    (void)state;
    smp_event_call(&event);
    smp_event_sleep(&event, seen, 3600 * 1000 * MS);
    assert_int_equal(smp_event_calls(&event), 1);
}

enum { BALLS = 2000 };

struct game {
    pthread_mutex_t mutex;
    struct smp_event players[2];
    unsigned at; /* guarded by mutex */
};

static void play(struct game *game, unsigned player)
{
    for (unsigned ball = player; ball < BALLS; ball += 2) {
        pthread_mutex_lock(&game->mutex);
        while (game->at != ball) {
            const uint32_t seen = smp_event_calls(&game->players[player]);
            pthread_mutex_unlock(&game->mutex);
            smp_event_sleep(&game->players[player], seen, 3600 * 1000 * MS);
            pthread_mutex_lock(&game->mutex);
        }
        game->at++;
        smp_event_call(&game->players[1 - player]);
        pthread_mutex_unlock(&game->mutex);
    }
}

static void *play_second(void *game)
{
    play(game, 1);
    return NULL;
}

/* Each thread waits for the other a thousand times; the timeout is too long to help. */
static void no_call_is_ever_missed(void **state)
{
    struct game game = { .mutex = PTHREAD_MUTEX_INITIALIZER };
    pthread_t second;

    (void)state;
    assert_int_equal(pthread_create(&second, NULL, play_second, &game), 0);
    play(&game, 0);
    pthread_join(second, NULL);
    assert_int_equal(game.at, BALLS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sleep_ends_without_a_call),
        cmocka_unit_test(a_call_before_the_sleep_is_not_missed),
        cmocka_unit_test(no_call_is_ever_missed),
    };
    return cmocka_run_group_tests_name("event", tests, NULL, NULL);
}

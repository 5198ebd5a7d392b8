/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs inside a signal handler, except for the functions of the session at the end. Calls through
 * pointers: AsyncGetCallTrace.
 */
#include "handler/cpu_timer.h"

#include "base/backoff.h"
#include "handler/cookie.h"
#include "handler/guarded_walk.h"

_Static_assert((int)SMP_CPU_FREE == (int)SMP_COOKIE_FREE, "a free timer can be taken");

struct smp_cpu_timer smp_cpu_timers[SMP_CPU_TIMERS];

/* Timers with this number or higher have never been taken. */
static _Atomic uint32_t taken_count;

static uint64_t timer_mark(void)
{
    return smp_cookie_mark(smp_cpu_timers);
}

/* ---------------------------------------------------------------------------------- the handler */

/* A request for a walk has the same code and perhaps the same mark, but a negative id. */
bool smp_cpu_timer_is_for(const siginfo_t *info)
{
    return info->si_code == SI_TIMER && info->si_timerid >= 0 &&
           smp_cookie_has(smp_cookie_of_signal(info), timer_mark(), SMP_CPU_TIMERS);
}

static struct smp_cpu_sample *take_free_sample(struct smp_cpu_pool *pool)
{
    uint64_t free = atomic_load(&pool->free);

    while (free != 0 && !atomic_compare_exchange_weak(&pool->free, &free, free & (free - 1)))
        continue;
    return free != 0 ? &pool->samples[__builtin_ctzll(free)] : NULL;
}

static void drop_expirations(struct smp_cpu_timer *timer, uint64_t weight)
{
    atomic_fetch_add(&timer->carried, weight);
    atomic_fetch_add(&timer->dropped, 1);
}

/* The pool is not freed while the timer is BUSY. */
static void take_cpu_sample(struct smp_cpu_timer *timer, ucontext_t *context, uint64_t weight,
                            bool may_walk)
{
    struct smp_cpu_pool *pool = timer->pool;
    struct smp_cpu_sample *to = may_walk ? take_free_sample(pool) : NULL;

    if (to == NULL) {
        drop_expirations(timer, weight);
        atomic_fetch_add(&pool->dropped, 1);
        return;
    }
    smp_guarded_walk(&timer->target, context, to->frames, to->capacity, &to->answer);
    to->timer = timer;
    to->weight = weight + atomic_exchange(&timer->carried, 0);
    atomic_fetch_or(&pool->done, UINT64_C(1) << (to - pool->samples));
}

bool smp_cpu_timer_sample(const siginfo_t *info, ucontext_t *context, const _Atomic bool *is_open)
{
    const uint64_t cookie = smp_cookie_of_signal(info);
    const uint64_t weight = info->si_overrun > 0 ? (uint64_t)info->si_overrun + 1 : 1;
    struct smp_cpu_timer *timer = &smp_cpu_timers[smp_cookie_index(cookie)];
    uint64_t word = smp_cookie_word(cookie, SMP_CPU_ARMED);

    if (atomic_compare_exchange_strong(&timer->word, &word,
                                       smp_cookie_word(cookie, SMP_CPU_BUSY))) {
        atomic_fetch_add(&timer->signalled, weight);
        take_cpu_sample(timer, context, weight,
                        atomic_load(is_open) && !smp_walk_target_has_ended(&timer->target));
        atomic_store(&timer->word, smp_cookie_word(cookie, SMP_CPU_ARMED));
        return true;
    }
    if (word != smp_cookie_word(cookie, SMP_CPU_SETTING))
        return false;
    atomic_fetch_add(&timer->signalled, weight);
    drop_expirations(timer, weight); /* its weight goes to the next sample */
    return true;
}

/* --------------------------------------------------------------------- functions of the session */

static void count_as_taken(uint32_t index)
{
    uint32_t count = atomic_load(&taken_count);

    while (count <= index && !atomic_compare_exchange_weak(&taken_count, &count, index + 1))
        continue;
}

struct smp_cpu_timer *smp_cpu_timer_take(uint64_t *cookie)
{
    static _Atomic uint32_t next;

    for (uint32_t tries = 0; tries < SMP_CPU_TIMERS; tries++) {
        const uint32_t index = atomic_fetch_add(&next, 1) % SMP_CPU_TIMERS;
        struct smp_cpu_timer *timer = &smp_cpu_timers[index];
        *cookie = smp_cookie_take(&timer->word, timer_mark(), index, SMP_CPU_SETTING);
        if (*cookie == 0)
            continue;
        atomic_store(&timer->carried, 0);
        atomic_store(&timer->dropped, 0);
        atomic_store(&timer->signalled, 0);
        count_as_taken(index);
        return timer;
    }
    return NULL;
}

/* Returns false if the timer is not in the state from. */
static bool change_timer_state(struct smp_cpu_timer *timer, enum smp_cpu_timer_state from,
                               enum smp_cpu_timer_state to)
{
    uint64_t word = atomic_load(&timer->word);

    return smp_cookie_state(word) == from &&
           atomic_compare_exchange_strong(&timer->word, &word, word - from + to);
}

bool smp_cpu_timer_set(struct smp_cpu_timer *timer)
{
    return change_timer_state(timer, SMP_CPU_ARMED, SMP_CPU_SETTING);
}

void smp_cpu_timer_arm(struct smp_cpu_timer *timer)
{
    (void)change_timer_state(timer, SMP_CPU_SETTING, SMP_CPU_ARMED);
}

void smp_cpu_timer_close(struct smp_cpu_timer *timer)
{
    for (unsigned round = 0; !change_timer_state(timer, SMP_CPU_ARMED, SMP_CPU_CLOSING) &&
                             !change_timer_state(timer, SMP_CPU_SETTING, SMP_CPU_CLOSING);
         round++)
        smp_backoff(round);
}

void smp_cpu_timer_free(struct smp_cpu_timer *timer)
{
    (void)change_timer_state(timer, SMP_CPU_CLOSING, SMP_CPU_FREE);
}

bool smp_cpu_timer_is_busy(void)
{
    const uint32_t count = atomic_load(&taken_count);

    for (uint32_t i = 0; i < count; i++) {
        if (smp_cookie_state(atomic_load(&smp_cpu_timers[i].word)) == SMP_CPU_BUSY)
            return true;
    }
    return false;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs inside a signal handler, but for the few operations on timers that mirror it. Calls through
 * pointers: AsyncGetCallTrace.
 */
#include "handler/cpu_timer.h"

#include "base/backoff.h"
#include "handler/cookie_mark.h"
#include "handler/guarded_walk.h"

/* cookie: 16 bits mark, 16 bits timer, 32 bits generation. word: generation above the state. */
enum { MARK_SHIFT = 48, TIMER_SHIFT = 32, TIMER_MASK = 0xffff, STATE_BITS = 8 };

struct smp_cpu_timer smp_cpu_timers[SMP_CPU_TIMERS];

/* Timers from this number on have never been taken. */
static _Atomic uint32_t taken_count;

static uint64_t timer_cookie(const siginfo_t *info)
{
    return (uint64_t)(uintptr_t)info->si_value.sival_ptr;
}

static uint32_t timer_index(uint64_t cookie)
{
    return (uint32_t)(cookie >> TIMER_SHIFT) & TIMER_MASK;
}

static uint64_t timer_mark(void)
{
    return smp_cookie_mark(smp_cpu_timers);
}

static uint64_t timer_word(uint64_t generation, enum smp_cpu_timer_state state)
{
    return ((generation & UINT32_MAX) << STATE_BITS) | state;
}

static enum smp_cpu_timer_state timer_state(uint64_t word)
{
    return (enum smp_cpu_timer_state)(word % (1 << STATE_BITS));
}

/* ---------------------------------------------------------------------------------- the handler */

/* A request has the same code, and may have the same mark, but a negative id. */
bool smp_cpu_timer_is_for(const siginfo_t *info)
{
    const uint64_t cookie = timer_cookie(info);

    return info->si_code == SI_TIMER && info->si_timerid >= 0 &&
           cookie >> MARK_SHIFT == timer_mark() && timer_index(cookie) < SMP_CPU_TIMERS;
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

/* The timer is BUSY, so its pool stays. */
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
    const uint64_t cookie = timer_cookie(info);
    const uint64_t weight = info->si_overrun > 0 ? (uint64_t)info->si_overrun + 1 : 1;
    struct smp_cpu_timer *timer = &smp_cpu_timers[timer_index(cookie)];
    uint64_t word = timer_word(cookie, SMP_CPU_ARMED);

    if (atomic_compare_exchange_strong(&timer->word, &word, timer_word(cookie, SMP_CPU_BUSY))) {
        atomic_fetch_add(&timer->signalled, weight);
        take_cpu_sample(timer, context, weight,
                        atomic_load(is_open) && !smp_walk_target_has_ended(&timer->target));
        atomic_store(&timer->word, timer_word(cookie, SMP_CPU_ARMED));
        return true;
    }
    if (word != timer_word(cookie, SMP_CPU_SETTING))
        return false;
    atomic_fetch_add(&timer->signalled, weight);
    drop_expirations(timer, weight); /* the next sample gets its weight */
    return true;
}

/* -------------------------------------------------------------------------------- the session's */

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
        uint64_t word = atomic_load(&timer->word);
        const uint64_t generation = ((word >> STATE_BITS) + 1) & UINT32_MAX;
        if (timer_state(word) != SMP_CPU_FREE ||
            !atomic_compare_exchange_strong(&timer->word, &word,
                                            timer_word(generation, SMP_CPU_SETTING)))
            continue;
        atomic_store(&timer->carried, 0);
        atomic_store(&timer->dropped, 0);
        atomic_store(&timer->signalled, 0);
        count_as_taken(index);
        *cookie = timer_mark() << MARK_SHIFT | (uint64_t)index << TIMER_SHIFT | generation;
        return timer;
    }
    return NULL;
}

/* False: the timer is not in the state from. */
static bool change_timer_state(struct smp_cpu_timer *timer, enum smp_cpu_timer_state from,
                               enum smp_cpu_timer_state to)
{
    uint64_t word = atomic_load(&timer->word);

    return timer_state(word) == from &&
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
        if (timer_state(atomic_load(&smp_cpu_timers[i].word)) == SMP_CPU_BUSY)
            return true;
    }
    return false;
}

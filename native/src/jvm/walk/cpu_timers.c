/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/walk/cpu_timers.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/syscall_filter.h"
#include "base/thread.h"
#include "handler/cpu_timer.h"
#include "jvm/agent/agent.h"
#include "jvm/threads/threads.h"
#include "jvm/walk/async.h"
#include "jvm/walk/signals.h"
#include "jvm/walk/walk_target.h"

#define NS_PER_SECOND 1000000000LL

struct smp_jvm_cpu_timers {
    struct smp_by_signal *walker;
    int signal;
    struct smp_signal_mailbox *mailbox; /* a thread cannot end while its timer is being armed */
    struct smp_cpu_pool *pool;          /* NULL until the first start */
    uint32_t room;                      /* capacity of new sample buffers */
    uint64_t reported_drops;            /* drops of the pool that are already reported */
    bool are_permitted;                 /* no seccomp filter forbids timers */
};

/* --- POSIX timers --- */

/* Uses the system call, because older C libraries have the function in a separate library. */
static enum smp_status system_create(int number, int32_t tid, uint64_t cookie, int32_t *out)
{
    struct sigevent event;
    int id = 0;

    memset(&event, 0, sizeof(event));
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = number;
    event.sigev_value.sival_ptr = (void *)(uintptr_t)cookie; /* NOLINT(performance-no-int-to-ptr) */
#ifdef sigev_notify_thread_id /* musl has the name, glibc only the field */
    event.sigev_notify_thread_id = tid;
#else
    event._sigev_un._tid = tid;
#endif
    if (syscall(SYS_timer_create, smp_clock_of_thread(tid), &event, &id) == 0) {
        *out = id;
        return SMP_OK;
    }
    if (errno == EAGAIN)
        return SMP_EQUOTA;
    return errno == EINVAL || errno == ESRCH ? SMP_EGONE : SMP_EVM;
}

static enum smp_status system_set(int32_t id, int64_t first_ns, int64_t interval_ns)
{
    const struct itimerspec times = {
        .it_value = { .tv_sec = first_ns / NS_PER_SECOND, .tv_nsec = first_ns % NS_PER_SECOND },
        .it_interval = { .tv_sec = interval_ns / NS_PER_SECOND,
                         .tv_nsec = interval_ns % NS_PER_SECOND },
    };

    return syscall(SYS_timer_settime, id, 0, &times, NULL) == 0 ? SMP_OK : SMP_EGONE;
}

static void system_delete(int32_t id)
{
    (void)syscall(SYS_timer_delete, id);
}

/* Tries a timer of the calling thread that sends no signal. */
static bool use_a_timer(void)
{
    struct sigevent event = { .sigev_notify = SIGEV_NONE };
    int id = 0;
    bool is_set = false;

    if (syscall(SYS_timer_create, CLOCK_THREAD_CPUTIME_ID, &event, &id) != 0)
        return false;
    is_set = system_set(id, NS_PER_SECOND, NS_PER_SECOND) == SMP_OK;
    system_delete(id);
    return is_set;
}

/* --- start, stop --- */

int64_t smp_jvm_cpu_timers_first_ns(int64_t interval_ns, int64_t from_cpu_ns, int64_t cpu_ns,
                                    uint64_t random, uint64_t *missed)
{
    const int64_t phase_ns = (int64_t)(random % (uint64_t)interval_ns) + 1;
    const int64_t used_ns = from_cpu_ns >= 0 ? cpu_ns - from_cpu_ns : 0;

    *missed = used_ns >= phase_ns ? (uint64_t)((used_ns - phase_ns) / interval_ns) + 1 : 0;
    return phase_ns + (int64_t)*missed * interval_ns - used_ns;
}

uint64_t smp_jvm_cpu_timers_due(int64_t first_cpu_ns, int64_t interval_ns, int64_t cpu_ns)
{
    if (first_cpu_ns < 0 || cpu_ns < first_cpu_ns)
        return 0;
    return (uint64_t)((cpu_ns - first_cpu_ns) / interval_ns) + 1;
}

/* Without memory the sample keeps its buffer. */
static bool reserve_sample_frames(struct smp_cpu_sample *sample, uint32_t room)
{
    struct smp_jvm_frame *frames = NULL;

    if (sample->capacity >= room)
        return true;
    frames = smp_alloc(NULL, room * sizeof(*frames));
    if (frames == NULL)
        return false;
    smp_free(NULL, sample->frames);
    sample->frames = frames;
    sample->capacity = room;
    return true;
}

static void free_sample_pool(struct smp_cpu_pool *pool)
{
    for (size_t i = 0; pool != NULL && i < SMP_CPU_SAMPLES; i++)
        smp_free(NULL, pool->samples[i].frames);
    smp_free(NULL, pool);
}

static enum smp_status make_sample_pool(struct smp_jvm_cpu_timers *timers)
{
    struct smp_cpu_pool *pool = NULL;
    enum smp_status status = SMP_ENOMEM;

    if (timers->pool != NULL)
        return SMP_OK;
    pool = smp_alloc(NULL, sizeof(*pool));
    if (pool == NULL)
        goto done;
    for (size_t i = 0; i < SMP_CPU_SAMPLES; i++) {
        if (!reserve_sample_frames(&pool->samples[i], timers->room))
            goto done;
    }
    atomic_store(&pool->free, UINT64_MAX);
    timers->pool = pool;
    pool = NULL;
    status = SMP_OK;
done:
    free_sample_pool(pool);
    return status;
}

/* Starts a timer for a thread that is alive during this call. */
static enum smp_status arm_cpu_timer(struct smp_jvm_cpu_timers *timers, struct smp_cpu_timer *timer,
                                     uint64_t cookie, int64_t interval_ns, int64_t from_cpu_ns,
                                     uint64_t random)
{
    const int32_t tid = timer->thread->os_tid;
    int64_t cpu_ns = 0;
    uint64_t missed = 0;
    enum smp_status status =
        system_create(smp_async_signal(timers->signal), tid, cookie, &timer->system_id);

    if (status != SMP_OK)
        return status;
    if (!smp_clock_thread_cpu_ns(tid, &cpu_ns))
        from_cpu_ns = -1;
    const int64_t first_ns =
        smp_jvm_cpu_timers_first_ns(interval_ns, from_cpu_ns, cpu_ns, random, &missed);
    timer->first_cpu_ns = cpu_ns > 0 ? cpu_ns + first_ns : -1;
    timer->interval_ns = interval_ns;
    atomic_store(&timer->carried, missed);
    smp_cpu_timer_arm(timer);
    status = system_set(timer->system_id, first_ns, interval_ns);
    if (status != SMP_OK)
        system_delete(timer->system_id);
    return status;
}

static enum smp_status arm_while_alive(struct smp_jvm_cpu_timers *timers,
                                       struct smp_cpu_timer *timer, uint64_t cookie,
                                       int64_t interval_ns, int64_t from_cpu_ns, uint64_t random)
{
    enum smp_status status = SMP_EGONE;

    atomic_store(&timers->mailbox->sending_to, timer->thread->os_tid);
    if (timer->thread->ended_ns == 0)
        status = arm_cpu_timer(timers, timer, cookie, interval_ns, from_cpu_ns, random);
    atomic_store(&timers->mailbox->sending_to, 0);
    return status;
}

static enum smp_status prepare_cpu_timers(struct smp_jvm_cpu_timers *timers,
                                          const struct smp_thread *thread)
{
    if (!smp_async_is_usable() || thread->os_tid == 0)
        return SMP_EUNSUPPORTED;
    if (thread->ended_ns != 0)
        return SMP_EGONE;
    if (!timers->are_permitted || smp_signals_is_lost(smp_async_signal(timers->signal)))
        return SMP_EVM;
    if (timers->mailbox == NULL)
        timers->mailbox = smp_signals_take_mailbox();
    return timers->mailbox != NULL ? make_sample_pool(timers) : SMP_EQUOTA;
}

static enum smp_status start_cpu_timer(void *self, struct smp_thread *thread, int64_t interval_ns,
                                       int64_t from_cpu_ns, uint64_t random, uint64_t token,
                                       void **out)
{
    struct smp_jvm_cpu_timers *timers = self;
    struct smp_cpu_timer *timer = NULL;
    JNIEnv *env = smp_agent_env();
    uint64_t cookie = 0;
    enum smp_status status = prepare_cpu_timers(timers, thread);

    if (status != SMP_OK)
        return status;
    if (env == NULL)
        return SMP_EVM;
    timer = smp_cpu_timer_take(&cookie);
    if (timer == NULL)
        return SMP_EQUOTA;
    timer->thread = thread;
    timer->pool = timers->pool;
    timer->token = token;
    timer->target = smp_walk_target_of(thread, smp_async_get(), env);
    status = arm_while_alive(timers, timer, cookie, interval_ns, from_cpu_ns, random);
    if (status == SMP_OK) {
        *out = timer;
        return SMP_OK;
    }
    smp_cpu_timer_close(timer);
    smp_cpu_timer_free(timer);
    return status;
}

/* --- samples --- */

/* Adds the sample's weight to the delivery of by_signal.h. */
struct weighted {
    struct smp_cpu_sampled to;
    uint64_t weight;
};

static void deliver_weighted(void *context, uint64_t token, enum smp_answer answer,
                             const struct smp_sample *sample,
                             const struct smp_mounted_thread *mounted)
{
    const struct weighted *weighted = context;

    weighted->to.sampled(weighted->to.context, token, answer, sample, mounted, weighted->weight);
}

static bool has_target_of(const struct smp_cpu_timer *timer, const struct smp_walk_info *info)
{
    const struct smp_walk_target *target = &timer->target;

    return (uintptr_t)target->root == info->root && target->stack_high == info->stack_high &&
           target->java_thread == info->java_thread && target->own == smp_async_own_walk() &&
           target->was_alive == !smp_gate_is_unsure(&info->gate);
}

/* Updates the timer's target with what has been learnt about the thread. Skipped if nothing is
 * new, because a new target costs calls to the JVM. */
static void renew_timer_target(struct smp_cpu_timer *timer, JNIEnv *env)
{
    const struct smp_walk_info *info = smp_threads_walk_info(timer->thread);
    const bool is_complete = info->stack_high != 0 && info->java_thread != 0;
    struct smp_walk_target target;

    if (env == NULL || timer->thread->ended_ns != 0 || (is_complete && has_target_of(timer, info)))
        return;
    target = smp_walk_target_of(timer->thread, smp_async_get(), env);
    if (has_target_of(timer, info) || !smp_cpu_timer_set(timer))
        return;
    timer->target = target;
    smp_cpu_timer_arm(timer);
}

static void read_cpu_sample(struct smp_jvm_cpu_timers *timers, struct smp_cpu_sample *sample,
                            JNIEnv *env, struct smp_cpu_sampled to)
{
    struct smp_cpu_timer *timer = sample->timer;
    struct weighted weighted = { .to = to, .weight = sample->weight };
    const struct smp_walked walked = { .thread = timer->thread,
                                       .token = timer->token,
                                       .frames = sample->frames,
                                       .capacity = sample->capacity,
                                       .answer = &sample->answer };

    if (!smp_by_signal_deliver(timers->walker, env, &walked,
                               (struct smp_delivery_to){ deliver_weighted, &weighted }) &&
        timers->room == sample->capacity)
        timers->room = smp_by_signal_more_room(timers->walker, timers->room);
    renew_timer_target(timer, env);
    (void)reserve_sample_frames(sample, timers->room);
}

static void report_drops(struct smp_cpu_timer *timer, struct smp_cpu_sampled to)
{
    const struct smp_sample nothing = { 0 };

    for (uint64_t left = atomic_exchange(&timer->dropped, 0); left > 0; left--)
        to.sampled(to.context, timer->token, SMP_ANSWER_DROPPED, &nothing, NULL, 0);
}

/* Reads the samples of one timer, or of all timers if only is NULL. */
static void drain_samples(struct smp_jvm_cpu_timers *timers, const struct smp_cpu_timer *only,
                          struct smp_cpu_sampled to)
{
    struct smp_cpu_pool *pool = timers->pool;
    JNIEnv *env = smp_agent_env();

    for (uint64_t left = pool != NULL ? atomic_load(&pool->done) : 0; left != 0; left &= left - 1) {
        struct smp_cpu_sample *sample = &pool->samples[__builtin_ctzll(left)];
        if (only != NULL && sample->timer != only)
            continue;
        read_cpu_sample(timers, sample, env, to);
        atomic_fetch_and(&pool->done, ~(left & -left));
        atomic_fetch_or(&pool->free, left & -left); /* at once: the next sample may take long */
    }
}

static void drain_cpu_timers(void *self, struct smp_cpu_sampled to)
{
    struct smp_jvm_cpu_timers *timers = self;

    drain_samples(timers, NULL, to);
    if (timers->pool == NULL || atomic_load(&timers->pool->dropped) == timers->reported_drops)
        return;
    timers->reported_drops = atomic_load(&timers->pool->dropped);
    for (size_t i = 0; i < SMP_CPU_TIMERS; i++) {
        if (smp_cpu_timers[i].pool == timers->pool)
            report_drops(&smp_cpu_timers[i], to);
    }
}

/* Returns the expirations without a signal of an ended thread: the kernel expires timers on its
 * clock tick, and the thread may have ended before the next tick. */
static uint64_t expired_at_end(struct smp_cpu_timer *timer)
{
    const uint64_t signalled = atomic_load(&timer->signalled);
    const uint64_t due = smp_jvm_cpu_timers_due(timer->first_cpu_ns, timer->interval_ns,
                                                timer->thread->ended_cpu_ns);

    return due > signalled ? due - signalled : 0;
}

static void stop_cpu_timer(void *self, void *which, struct smp_cpu_sampled to)
{
    struct smp_jvm_cpu_timers *timers = self;
    struct smp_cpu_timer *timer = which;
    const struct smp_sample nothing = { 0 };

    system_delete(timer->system_id);
    smp_cpu_timer_close(timer);
    drain_samples(timers, timer, to);
    report_drops(timer, to);
    const uint64_t left = atomic_load(&timer->carried) + expired_at_end(timer);
    if (left > 0)
        to.sampled(to.context, timer->token, SMP_ANSWER_DROPPED, &nothing, NULL, left);
    timer->pool = NULL;
    timer->thread = NULL;
    smp_cpu_timer_free(timer);
}

/* --- create, destroy --- */

enum smp_status smp_jvm_cpu_timers_create(struct smp_by_signal *walker, int signal,
                                          struct smp_jvm_cpu_timers **out)
{
    struct smp_jvm_cpu_timers *timers = smp_alloc(NULL, sizeof(*timers));

    if (timers == NULL)
        return SMP_ENOMEM;
    timers->walker = walker;
    timers->signal = signal;
    timers->room = SMP_ASYNC_FIRST_FRAMES;
    timers->are_permitted = smp_syscall_filter_permits(use_a_timer);
    *out = timers;
    return SMP_OK;
}

void smp_jvm_cpu_timers_destroy(struct smp_jvm_cpu_timers *timers)
{
    if (timers == NULL)
        return;
    free_sample_pool(timers->pool);
    smp_signals_give_mailbox(timers->mailbox);
    smp_free(NULL, timers);
}

struct smp_cpu_timers smp_jvm_cpu_timers_functions(struct smp_jvm_cpu_timers *timers)
{
    const unsigned cpus = smp_thread_own_cpus();
    struct timespec clock_tick = { 0 };

    (void)syscall(SYS_clock_getres, CLOCK_MONOTONIC_COARSE, &clock_tick);
    return (struct smp_cpu_timers){ .start = start_cpu_timer,
                                    .stop = stop_cpu_timer,
                                    .drain = drain_cpu_timers,
                                    .samples_per_cpu = cpus > 0 ? SMP_CPU_SAMPLES / 2 / cpus : 0,
                                    .least_apart_ns = clock_tick.tv_nsec,
                                    .self = timers };
}

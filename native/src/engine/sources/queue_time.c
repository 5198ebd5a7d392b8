/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/sources/queue_time.h"

#define NS_PER_US INT64_C(1000)
#define NS_PER_MS INT64_C(1000000)
#define BALANCE_NS (SMP_QUEUE_BALANCE_MS * NS_PER_MS)

/* --- CPU time that the process does not get --- */

/* Members that the system does not provide are 0. */
static struct smp_machine_time read_machine(const struct smp_wall *wall)
{
    const struct smp_os_thread_source *os_threads = &wall->walks.jvm->os_threads;
    struct smp_machine_time time = { 0 };

    if (os_threads->machine_time != NULL)
        os_threads->machine_time(os_threads->self, &time);
    return time;
}

static int64_t read_throttled(const struct smp_wall *wall)
{
    const struct smp_os_thread_source *os_threads = &wall->walks.jvm->os_threads;

    return os_threads->throttled_ns == NULL ? 0 : os_threads->throttled_ns(os_threads->self);
}

/* Counts whole milliseconds and returns the remainder. */
static int64_t count_ms(const struct smp_wall *wall, enum smp_counter counter, int64_t ns)
{
    if (ns >= NS_PER_MS)
        smp_interval_count(wall->attribution->interval, counter, (uint64_t)(ns / NS_PER_MS));
    return ns % NS_PER_MS;
}

void smp_cpu_loss_mark(struct smp_wall *wall, int64_t now_ns)
{
    wall->loss = (struct smp_cpu_loss){
        .throttled_ns = read_throttled(wall),
        .read_ns = now_ns,
        .machine = read_machine(wall),
    };
}

void smp_cpu_loss_tick(struct smp_wall *wall, int64_t now_ns)
{
    struct smp_cpu_loss *loss = &wall->loss;
    const struct smp_machine_time before = loss->machine;

    if (now_ns - loss->read_ns < SMP_CPU_LOSS_MS * NS_PER_MS)
        return;
    const struct smp_machine_time now = read_machine(wall);
    const int64_t stolen_ns = now.stolen_ns - before.stolen_ns;
    const int64_t worked_ns = now.worked_ns - before.worked_ns;
    loss->read_ns = now_ns;
    loss->machine = now;
    loss->stolen_share = 0;
    if (stolen_ns <= 0 || worked_ns <= 0 || before.worked_ns == 0)
        return;
    loss->stolen_share = (double)stolen_ns / (double)worked_ns;
    loss->uncounted_ns = count_ms(wall, SMP_COUNTER_STOLEN_MS, loss->uncounted_ns + stolen_ns);
}

void smp_cpu_loss_flush(struct smp_wall *wall)
{
    struct smp_cpu_loss *loss = &wall->loss;
    const int64_t throttled_ns = read_throttled(wall);

    smp_cpu_loss_tick(wall, wall->covered_ns);
    if (throttled_ns == 0)
        return; /* no throttling yet, or the file could not be read */
    if (throttled_ns < loss->throttled_ns)
        loss->throttled_ns = throttled_ns; /* the process has moved to another control group */
    loss->throttled_ns =
        throttled_ns - count_ms(wall, SMP_COUNTER_THROTTLED_MS, throttled_ns - loss->throttled_ns);
}

/* Returns the share in the stolen time of a thread that has used used_ns. */
static int64_t stolen_from(const struct smp_cpu_loss *loss, int64_t used_ns)
{
    return (int64_t)((double)used_ns * loss->stolen_share);
}

/* --- the queue of one thread --- */

static int64_t least_of(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t bounded(int64_t ns, int64_t most)
{
    if (ns < -most)
        return -most;
    return least_of(ns, most);
}

/* Returns how long the thread has waited for a CPU since the last reading. */
static int64_t read_queue(const struct smp_wall *wall, struct smp_wall_thread *thread)
{
    const struct smp_os_thread_source *os_threads = &wall->walks.jvm->os_threads;
    const int32_t tid = smp_thread_record_tid(&thread->record);
    struct smp_queue_time *queue = &thread->queue;
    int64_t now_ns = 0;
    int64_t more_ns = 0;

    if (os_threads->queued_ns == NULL || tid <= 0 ||
        !os_threads->queued_ns(os_threads->self, tid, &now_ns)) {
        smp_interval_count(wall->attribution->interval, SMP_COUNTER_RUNNABLE_UNKNOWN, 1);
        return 0;
    }
    if (queue->is_known && now_ns > queue->read_ns)
        more_ns = now_ns - queue->read_ns;
    queue->is_known = true;
    queue->read_ns = now_ns;
    return more_ns;
}

/* Changes up to ns of the target's time to RUNNABLE. Subtracts it from the balance, and returns
 * it. */
static int64_t make_runnable(const struct smp_wall *wall, int64_t *balance_ns,
                             const struct smp_tree_target *target, int64_t ns, int64_t till_ns)
{
    int64_t done_ns = 0;

    if (ns > 0 && target->state != SMP_STATE_RUNNABLE)
        done_ns = smp_interval_change_state(wall->attribution->interval, target->tree, target->node,
                                            target->state, SMP_STATE_RUNNABLE, ns, till_ns);
    *balance_ns -= done_ns;
    return done_ns;
}

/*
 * Changes running time that is neither CPU time nor a wait for a CPU back to waiting, if the
 * thread is in a method that waits. The sampler also needs a free CPU, and therefore finds such
 * threads leaving their method too often. Returns how much.
 */
static int64_t make_waiting(const struct smp_wall *wall, const struct smp_wall_thread *thread,
                            const struct smp_tree_target *target, int64_t ns)
{
    const struct smp_last_stack *last = &thread->record.last;

    if (ns <= 0 || last->epoch != wall->attribution->stack_epoch || last->node != target->node ||
        last->verdict_leaf != SMP_LEAF_KNOWN)
        return 0;
    return smp_interval_change_state(wall->attribution->interval, target->tree, target->node,
                                     SMP_STATE_RUNNING, (enum smp_thread_state)last->verdict_state,
                                     ns, wall->poll->now_ns);
}

/* Returns the queue's time that belongs to time in which the thread was found waiting. */
static int64_t left_for_waits(const struct smp_queue_time *queue)
{
    return queue->pending_ns - (queue->over_ns > 0 ? queue->over_ns : 0);
}

/* Splits most_ns of running time of the target. Returns how much stays running. */
static int64_t split_running(struct smp_wall *wall, struct smp_queue_time *queue,
                             int64_t *stolen_ns, const struct smp_tree_target *target,
                             int64_t most_ns, int64_t till_ns)
{
    int64_t *const balances[] = { &queue->pending_ns, stolen_ns };

    for (size_t i = 0; i < sizeof(balances) / sizeof(balances[0]); i++) {
        const int64_t ns = least_of(least_of(queue->over_ns, *balances[i]), most_ns);
        const int64_t done_ns = make_runnable(wall, balances[i], target, ns, till_ns);
        queue->over_ns -= done_ns;
        most_ns -= done_ns;
    }
    return most_ns;
}

static bool is_running(const struct smp_tree_target *target)
{
    return target != NULL && target->state == SMP_STATE_RUNNING;
}

/* Returns whether the thread was found running, now and before, and nearly all of that time is CPU
 * time. The rest may be a wait for a CPU, but is not worth a reading: the next one includes it. */
static bool is_covered(const struct smp_queue_time *queue, const struct smp_tree_target *before,
                       const struct smp_tree_target *found, int64_t found_ns, int64_t over_ns)
{
    return queue->is_known && !queue->was_idle && is_running(found) &&
           (before == NULL || is_running(before)) &&
           over_ns < least_of(SMP_QUEUE_SLACK_US * NS_PER_US, found_ns / SMP_QUEUE_SLACK_SHARE);
}

static void keep_balances(struct smp_queue_time *queue, int64_t stolen_ns, int64_t over_ns,
                          int64_t most_over_ns)
{
    queue->stolen_us = (int32_t)(least_of(stolen_ns, BALANCE_NS) / NS_PER_US);
    queue->over_ns = bounded(over_ns, most_over_ns);
}

void smp_queue_time_attribute(struct smp_wall *wall, struct smp_wall_thread *thread,
                              const struct smp_tree_target *before, int64_t before_ns,
                              const struct smp_tree_target *found, int64_t found_ns)
{
    const struct smp_reading *reading = &thread->reading;
    struct smp_queue_time *queue = &thread->queue;
    const int64_t now_ns = wall->poll->now_ns;
    const int64_t before_till_ns = now_ns - found_ns;

    if (reading->activity != SMP_ACTIVITY_RAN && reading->activity != SMP_ACTIVITY_RUNNING)
        return;
    const int64_t used_ns = reading->is_measured ? reading->used_ns : found_ns;
    const int64_t over_ns = queue->over_ns - used_ns + (is_running(before) ? before_ns : 0) +
                            (is_running(found) ? found_ns : 0);
    int64_t stolen_ns = queue->stolen_us * NS_PER_US + stolen_from(&wall->loss, used_ns);
    if (is_covered(queue, before, found, found_ns, over_ns)) {
        keep_balances(queue, stolen_ns, over_ns, BALANCE_NS + used_ns);
        return;
    }
    const int64_t more_ns = read_queue(wall, thread);
    if (!queue->is_known)
        return;
    queue->pending_ns = least_of(queue->pending_ns + more_ns, BALANCE_NS + found_ns + more_ns);
    queue->over_ns = over_ns;
    if (is_running(found)) {
        const int64_t left_ns = split_running(wall, queue, &stolen_ns, found, found_ns, now_ns);
        queue->over_ns -= make_waiting(wall, thread, found, least_of(queue->over_ns, left_ns));
    }
    if (is_running(before) && before_ns > 0)
        (void)split_running(wall, queue, &stolen_ns, before, before_ns, before_till_ns);
    if (queue->was_idle && before != NULL)
        (void)make_runnable(wall, &queue->pending_ns, before,
                            least_of(more_ns, left_for_waits(queue)), before_till_ns);
    if (!is_running(found))
        (void)make_runnable(wall, &queue->pending_ns, found,
                            least_of(left_for_waits(queue), found_ns), now_ns);
    keep_balances(queue, stolen_ns, queue->over_ns, BALANCE_NS + used_ns + more_ns);
}

int64_t smp_queue_time_flush(struct smp_wall_thread *thread, enum smp_thread_state state,
                             int64_t ns, int64_t now_ns)
{
    struct smp_queue_time *queue = &thread->queue;
    const int64_t since_ns = thread->unanswered.since_ns;
    int64_t owed_ns = 0;

    if (since_ns != 0 && queue->is_known && ns > 0)
        owed_ns = least_of(ns, now_ns - since_ns);
    if (state == SMP_STATE_RUNNING)
        queue->over_ns += ns - owed_ns;
    queue->pending_ns = bounded(queue->pending_ns - owed_ns, BALANCE_NS + owed_ns);
    return owed_ns;
}

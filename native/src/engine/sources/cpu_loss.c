/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/sources/cpu_loss.h"

#define NS_PER_MS INT64_C(1000000)

/* All members are 0 if the system does not provide them. */
static struct smp_machine_time read_machine(const struct smp_os_thread_source *os_threads)
{
    struct smp_machine_time time = { 0 };

    if (os_threads->machine_time != NULL)
        os_threads->machine_time(os_threads->self, &time);
    return time;
}

static int64_t read_throttled(const struct smp_os_thread_source *os_threads)
{
    return os_threads->throttled_ns == NULL ? 0 : os_threads->throttled_ns(os_threads->self);
}

/* Counts whole milliseconds, and returns the rest. */
static int64_t count_ms(struct smp_interval *interval, enum smp_counter counter, int64_t ns)
{
    if (ns >= NS_PER_MS)
        smp_interval_count(interval, counter, (uint64_t)(ns / NS_PER_MS));
    return ns % NS_PER_MS;
}

static void update_stolen(struct smp_cpu_loss *loss, const struct smp_os_thread_source *os_threads,
                          struct smp_interval *interval, int64_t now_ns)
{
    const struct smp_machine_time before = loss->machine;
    const struct smp_machine_time now = read_machine(os_threads);
    const int64_t stolen_ns = now.stolen_ns - before.stolen_ns;
    const int64_t worked_ns = now.worked_ns - before.worked_ns;

    loss->read_ns = now_ns;
    loss->machine = now;
    loss->stolen_share = 0;
    if (stolen_ns <= 0 || worked_ns <= 0 || before.worked_ns == 0)
        return;
    loss->stolen_share = (double)stolen_ns / (double)worked_ns;
    loss->uncounted_ns = count_ms(interval, SMP_COUNTER_STOLEN_MS, loss->uncounted_ns + stolen_ns);
}

void smp_cpu_loss_mark(struct smp_cpu_loss *loss, const struct smp_os_thread_source *os_threads,
                       int64_t now_ns)
{
    *loss = (struct smp_cpu_loss){
        .throttled_ns = read_throttled(os_threads),
        .read_ns = now_ns,
        .machine = read_machine(os_threads),
    };
}

void smp_cpu_loss_tick(struct smp_cpu_loss *loss, const struct smp_os_thread_source *os_threads,
                       struct smp_interval *interval, int64_t now_ns)
{
    if (now_ns - loss->read_ns >= SMP_CPU_LOSS_MS * NS_PER_MS)
        update_stolen(loss, os_threads, interval, now_ns);
}

void smp_cpu_loss_flush(struct smp_cpu_loss *loss, const struct smp_os_thread_source *os_threads,
                        struct smp_interval *interval, int64_t now_ns)
{
    const int64_t throttled_ns = read_throttled(os_threads);

    smp_cpu_loss_tick(loss, os_threads, interval, now_ns);
    if (throttled_ns == 0)
        return; /* no throttling yet, or the file could not be read */
    if (throttled_ns < loss->throttled_ns)
        loss->throttled_ns = throttled_ns; /* the process is in another control group now */
    loss->throttled_ns = throttled_ns - count_ms(interval, SMP_COUNTER_THROTTLED_MS,
                                                 throttled_ns - loss->throttled_ns);
}

int64_t smp_cpu_loss_stolen_ns(const struct smp_cpu_loss *loss, int64_t used_ns)
{
    return (int64_t)((double)used_ns * loss->stolen_share);
}

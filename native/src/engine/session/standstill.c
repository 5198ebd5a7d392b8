/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/session/standstill.h"

#include <stdbool.h>

#include "base/clock.h"
#include "base/thread.h"

static int64_t shorter_of(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static void read_process_clock(struct smp_standstill *standstill, int64_t now_ns)
{
    const int64_t start_ns = smp_clock_ns();

    standstill->read_ns = now_ns;
    standstill->cpu_ns = smp_clock_process_cpu_ns();
    standstill->cost_ns = smp_clock_ns() - start_ns;
}

static void note_gap(struct smp_standstill *standstill, int64_t gap_ns)
{
    if (gap_ns > SMP_STANDSTILL_NS)
        standstill->gaps_ns += gap_ns;
}

void smp_standstill_begin(struct smp_standstill *standstill, int64_t now_ns)
{
    *standstill = (struct smp_standstill){ .woke_ns = now_ns, .cpus = smp_thread_own_cpus() };
    read_process_clock(standstill, now_ns);
}

void smp_standstill_worked(struct smp_standstill *standstill, int64_t now_ns)
{
    note_gap(standstill, now_ns - standstill->woke_ns);
    standstill->woke_ns = now_ns;
}

void smp_standstill_slept(struct smp_standstill *standstill, int64_t due_ns, int64_t now_ns)
{
    note_gap(standstill, now_ns - due_ns);
    standstill->woke_ns = now_ns;
}

static bool has_process_run(const struct smp_standstill *standstill, int64_t gap_ns, int64_t now_ns)
{
    const int64_t rest_ns = now_ns - standstill->read_ns - gap_ns;
    const int64_t before_ns = shorter_of(rest_ns * (int64_t)standstill->cpus, gap_ns / 2);
    const int64_t most_ns = before_ns + gap_ns / SMP_STANDSTILL_SHARE;
    const int64_t cpu_ns = smp_clock_process_cpu_ns();

    return standstill->cpu_ns == 0 || cpu_ns - standstill->cpu_ns > most_ns;
}

int64_t smp_standstill_take(struct smp_standstill *standstill, int64_t ticked_ns, int64_t now_ns)
{
    const int64_t gap_ns = shorter_of(standstill->gaps_ns, now_ns - ticked_ns);
    int64_t stopped_ns = 0;

    standstill->gaps_ns = 0;
    if (gap_ns > SMP_STANDSTILL_NS && !has_process_run(standstill, gap_ns, now_ns))
        stopped_ns = gap_ns;
    if (now_ns - standstill->read_ns >=
        shorter_of(SMP_STANDSTILL_COST * standstill->cost_ns, SMP_STANDSTILL_NS))
        read_process_clock(standstill, now_ns);
    return stopped_ns;
}

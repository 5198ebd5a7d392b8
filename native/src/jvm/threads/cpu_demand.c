/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/threads/cpu_demand.h"

#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/decimal.h"
#include "base/task_file.h"
#include "base/thread.h"

#define NS_PER_US INT64_C(1000)
#define NS_PER_MS INT64_C(1000000)

enum { LOADAVG_BYTES = 128, RUNNING_FIELD = 3 /* "0.20 0.18 0.12 1/80 11206": the 1 */ };

void smp_cpu_demand_init(struct smp_cpu_demand *demand)
{
    *demand = (struct smp_cpu_demand){ .fd = open("/proc/loadavg", O_RDONLY | O_CLOEXEC) };
}

void smp_cpu_demand_fini(struct smp_cpu_demand *demand)
{
    if (demand->fd >= 0)
        (void)close(demand->fd);
}

bool smp_cpu_demand_exceeds(const char *text, unsigned cpus)
{
    const char *at = text;
    const char *end = NULL;

    for (int field = 0; field < RUNNING_FIELD && at != NULL; field++) {
        at = strchr(at, ' ');
        at += at != NULL;
    }
    if (at == NULL)
        return true;
    const uint32_t running = smp_decimal_parse(at, &end);

    if (*end != '/' || running == 0 || cpus == 0)
        return true;
    return running - 1 > (cpus - 1) / 2;
}

static bool read_demand(struct smp_cpu_demand *demand, int64_t now_ns)
{
    char text[LOADAVG_BYTES];

    if (smp_open_file_read(demand->fd, text, sizeof(text)) <= 0)
        return true;
    if (demand->cpus == 0 || now_ns - demand->cpus_ns >= SMP_CPU_DEMAND_CPUS_MS * NS_PER_MS) {
        demand->cpus = smp_thread_own_cpus();
        demand->cpus_ns = now_ns;
    }
    return smp_cpu_demand_exceeds(text, demand->cpus);
}

bool smp_cpu_demand_may_wait(struct smp_cpu_demand *demand)
{
    if (demand->fd < 0)
        return true;
    const int64_t now_ns = smp_clock_ns();

    if (!demand->was_read || now_ns - demand->read_ns >= SMP_CPU_DEMAND_US * NS_PER_US) {
        demand->may_wait = read_demand(demand, now_ns);
        demand->read_ns = now_ns;
        demand->was_read = true;
    }
    return demand->may_wait;
}

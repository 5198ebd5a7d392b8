/* SPDX-License-Identifier: Apache-2.0 */
#include "support/fake_clock.h"

#include <stddef.h>

enum { NS_PER_MS = 1000000 };

static int64_t read_ns(void *self)
{
    struct fake_clock *clock = self;
    const int64_t step = atomic_load(&clock->step_ns);

    if (step != 0)
        fake_clock_advance(clock, step);
    return atomic_load(&clock->ns);
}

static int64_t read_wall_ms(void *self)
{
    struct fake_clock *clock = self;

    return atomic_load(&clock->wall_ns) / NS_PER_MS;
}

static int64_t read_own_cpu_ns(void *self)
{
    struct fake_clock *clock = self;

    return atomic_load(&clock->own_cpu_ns);
}

static int64_t read_process_cpu_ns(void *self)
{
    struct fake_clock *clock = self;

    return atomic_load(&clock->is_process_idle) ? FAKE_CLOCK_START_NS : atomic_load(&clock->ns);
}

void fake_clock_install(struct fake_clock *clock)
{
    atomic_init(&clock->ns, FAKE_CLOCK_START_NS);
    atomic_init(&clock->wall_ns, FAKE_CLOCK_START_WALL_MS * NS_PER_MS);
    atomic_init(&clock->own_cpu_ns, 0);
    atomic_init(&clock->step_ns, 0);
    atomic_init(&clock->is_process_idle, false);
    clock->seam = (struct smp_clock_fake){
        .ns = read_ns,
        .wall_ms = read_wall_ms,
        .own_cpu_ns = read_own_cpu_ns,
        .process_cpu_ns = read_process_cpu_ns,
        .self = clock,
    };
    smp_clock_set_fake(&clock->seam);
}

void fake_clock_remove(void)
{
    smp_clock_set_fake(NULL);
}

void fake_clock_advance(struct fake_clock *clock, int64_t ns)
{
    atomic_fetch_add(&clock->ns, ns);
    atomic_fetch_add(&clock->wall_ns, ns);
}

void fake_clock_step_wall(struct fake_clock *clock, int64_t ms)
{
    atomic_fetch_add(&clock->wall_ns, ms * NS_PER_MS);
}

void fake_clock_spend_cpu(struct fake_clock *clock, int64_t ns)
{
    atomic_fetch_add(&clock->own_cpu_ns, ns);
}

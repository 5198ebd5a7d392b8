/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"

#include <stdatomic.h>
#include <stddef.h>

#include "base/decimal.h"
#include "base/task_file.h"

enum {
    NS_PER_SECOND = 1000000000,
    MS_PER_SECOND = 1000,
    NS_PER_MS = 1000000,
    LINE_BYTES = 80 /* three numbers */
};

/* Acquire and release: a thread that sees the pointer sees what it points to. */
static _Atomic(const struct smp_clock_fake *) seam;

static const struct smp_clock_fake *current_fake(void)
{
    return atomic_load_explicit(&seam, memory_order_acquire);
}

static struct timespec read_system_clock(clockid_t id)
{
    struct timespec now = { 0 };

    if (clock_gettime(id, &now) != 0)
        return (struct timespec){ 0 };
    return now;
}

static int64_t read_ns(clockid_t id)
{
    const struct timespec now = read_system_clock(id);

    return (int64_t)now.tv_sec * NS_PER_SECOND + (int64_t)now.tv_nsec;
}

int64_t smp_clock_ns(void)
{
    const struct smp_clock_fake *fake = current_fake();

    if (fake != NULL && fake->ns != NULL)
        return fake->ns(fake->self);
    return read_ns(CLOCK_MONOTONIC);
}

int64_t smp_clock_boot_ns(void)
{
    const struct smp_clock_fake *fake = current_fake();

    if (fake != NULL && fake->boot_ns != NULL)
        return fake->boot_ns(fake->self);
    return read_ns(CLOCK_BOOTTIME);
}

int64_t smp_clock_wall_ms(void)
{
    const struct smp_clock_fake *fake = current_fake();

    if (fake != NULL && fake->wall_ms != NULL)
        return fake->wall_ms(fake->self);

    const struct timespec now = read_system_clock(CLOCK_REALTIME);
    return (int64_t)now.tv_sec * MS_PER_SECOND + (int64_t)now.tv_nsec / NS_PER_MS;
}

int64_t smp_clock_own_cpu_ns(void)
{
    const struct smp_clock_fake *fake = current_fake();

    if (fake != NULL && fake->own_cpu_ns != NULL)
        return fake->own_cpu_ns(fake->self);
    return read_ns(CLOCK_THREAD_CPUTIME_ID);
}

int64_t smp_clock_process_cpu_ns(void)
{
    const struct smp_clock_fake *fake = current_fake();

    if (fake != NULL && fake->process_cpu_ns != NULL)
        return fake->process_cpu_ns(fake->self);
    return read_ns(CLOCK_PROCESS_CPUTIME_ID);
}

bool smp_clock_thread_cpu_ns(int32_t tid, int64_t *out)
{
    const struct smp_clock_fake *fake = current_fake();
    struct timespec now;

    if (fake != NULL && fake->thread_cpu_ns != NULL)
        return fake->thread_cpu_ns(fake->self, tid, out);
    if (tid <= 0 || clock_gettime(smp_clock_of_thread(tid), &now) != 0)
        return false;
    *out = (int64_t)now.tv_sec * NS_PER_SECOND + (int64_t)now.tv_nsec;
    return true;
}

static bool find_runs(const char *text, uint64_t *out)
{
    uint32_t number = 0;
    const char *end = text;

    for (int i = 0; i < 3; i++) {
        const char *const start = end + (*end == ' ');
        number = smp_decimal_parse(start, &end);
        if (end == start)
            return false;
    }
    *out = number;
    return number != 0; /* 0: the kernel does not count runs */
}

/* Reads the last of three numbers: CPU time, time in the run queue, runs. */
bool smp_clock_thread_runs(int32_t tid, uint64_t *out)
{
    const struct smp_clock_fake *fake = current_fake();
    char text[LINE_BYTES];

    if (fake != NULL && fake->thread_runs != NULL)
        return fake->thread_runs(fake->self, tid, out);
    return smp_task_file_read(tid, "schedstat", text, sizeof(text)) && find_runs(text, out);
}

void smp_clock_set_fake(const struct smp_clock_fake *fake)
{
    atomic_store_explicit(&seam, fake, memory_order_release);
}

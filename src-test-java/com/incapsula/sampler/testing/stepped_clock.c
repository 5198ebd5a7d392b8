/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stepped_clock.c - preloaded into a JVM, makes the wall clock jump: two readings in a row are
 * hours apart. All other clocks are as they are.
 */
#include <stddef.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { STEP_SECONDS = 7200, STEPS = 5 };

static time_t step(void)
{
    static unsigned readings;

    return (time_t)(__atomic_fetch_add(&readings, 1, __ATOMIC_RELAXED) % STEPS) * STEP_SECONDS;
}

int clock_gettime(clockid_t id, struct timespec *out)
{
    const long failed = syscall(SYS_clock_gettime, id, out);

    if (failed == 0 && id == CLOCK_REALTIME)
        out->tv_sec += step();
    return (int)failed;
}

int gettimeofday(struct timeval *restrict out, void *restrict zone)
{
    struct timespec now = { 0 };
    const int failed = clock_gettime(CLOCK_REALTIME, &now);

    (void)zone;
    out->tv_sec = now.tv_sec;
    out->tv_usec = now.tv_nsec / 1000;
    return failed;
}

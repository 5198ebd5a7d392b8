/* SPDX-License-Identifier: Apache-2.0 */
#include "counting/call_clock.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#define CLOCK_SOURCES "/sys/devices/system/clocksource/clocksource0/available_clocksource"

enum { CLOCK_TRIES = 5 };

bool smp_call_clock_is_counter;
static bool without_counter;

#if defined(__x86_64__)
enum { POWER_LEAF = 0x80000007, INVARIANT_BIT = 1 << 8, SOURCES_BYTES = 256 };

static bool is_invariant(void)
{
    unsigned a = 0;
    unsigned b = 0;
    unsigned c = 0;
    unsigned d = 0;

    return __get_cpuid((unsigned)POWER_LEAF, &a, &b, &c, &d) != 0 && (d & INVARIANT_BIT) != 0;
}

/* The kernel takes the counter off this list when processors disagree. */
static bool is_stable(void)
{
    char sources[SOURCES_BYTES] = { 0 };
    FILE *file = fopen(CLOCK_SOURCES, "re");

    if (file == NULL)
        return false;
    const size_t length = fread(sources, 1, sizeof(sources) - 1, file);
    (void)fclose(file);
    return length > 0 && strstr(sources, "tsc") != NULL;
}

static bool has_counter(void)
{
    return is_invariant() && is_stable();
}
#else
static bool has_counter(void)
{
#if defined(__aarch64__)
    return true;
#else
    return false;
#endif
}
#endif

/* Both clocks at one moment: of several tries the one that took the shortest time. */
static struct smp_call_clock read_both(void)
{
    struct smp_call_clock best = { 0 };
    int64_t least = INT64_MAX;

    for (int i = 0; i < CLOCK_TRIES; i++) {
        const int64_t before = smp_call_clock_ticks();
        const int64_t ns = smp_clock_ns();
        const int64_t took = smp_call_clock_ticks() - before;
        if (took < least) {
            least = took;
            best = (struct smp_call_clock){ .start_ticks = before + took / 2, .start_ns = ns };
        }
    }
    return best;
}

void smp_call_clock_start(struct smp_call_clock *clock)
{
    const bool is_counter = !without_counter && has_counter();

    if (is_counter != smp_call_clock_is_counter) /* threads of an earlier start may read it */
        smp_call_clock_is_counter = is_counter;
    *clock = read_both();
}

double smp_call_clock_tick_ns(const struct smp_call_clock *clock)
{
    if (!smp_call_clock_is_counter)
        return 1;

    const struct smp_call_clock now = read_both();
    const int64_t ns = now.start_ns - clock->start_ns;
    const int64_t ticks = now.start_ticks - clock->start_ticks;
    return ticks > 0 && ns > 0 ? (double)ns / (double)ticks : 1;
}

void smp_call_clock_without_counter(bool without)
{
    without_counter = without;
}

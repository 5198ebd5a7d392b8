/* SPDX-License-Identifier: Apache-2.0 */
#include "counting/call_clock.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#define CLOCK_SOURCES "/sys/devices/system/clocksource/clocksource0/available_clocksource"

#define COUNTER_NAME "tsc"
#define SEPARATORS " \n"

enum {
    CLOCK_TRIES = 5,
    LEAST_NS = 10000000, /* between two reads, so that their error is below 0.001 % */
    SUSPENDED_NS = 1000000,
    PERCENT = 100
};

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

/* The kernel removes the counter from this list when processors disagree. */
static bool is_stable(void)
{
    char sources[SOURCES_BYTES] = { 0 };
    FILE *file = fopen(CLOCK_SOURCES, "re");

    if (file == NULL)
        return false;
    const size_t length = fread(sources, 1, sizeof(sources) - 1, file);
    (void)fclose(file);
    return length > 0 && smp_call_clock_is_listed(sources);
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

/* "tsc-early" does not match, because the kernel has not watched that counter for long enough. */
bool smp_call_clock_is_listed(const char *sources)
{
    const char *word = sources + strspn(sources, SEPARATORS);

    while (*word != '\0') {
        const size_t length = strcspn(word, SEPARATORS);
        if (length == strlen(COUNTER_NAME) && memcmp(word, COUNTER_NAME, length) == 0)
            return true;
        word += length;
        word += strspn(word, SEPARATORS);
    }
    return false;
}

/* Returns the fastest of several tries. If the counter went back in each of them, the moment is
 * 0. */
static struct smp_call_moment read_clocks(void)
{
    struct smp_call_moment best = { 0 };
    int64_t least = INT64_MAX;

    for (int i = 0; i < CLOCK_TRIES; i++) {
        const int64_t before = smp_call_clock_ticks();
        const int64_t ns = smp_clock_ns();
        const int64_t boot_ns = smp_clock_boot_ns();
        const int64_t took = smp_call_clock_ticks() - before;
        if (took >= 0 && took < least) {
            least = took;
            best = (struct smp_call_moment){ before + took / 2, ns, boot_ns };
        }
    }
    return best;
}

void smp_call_clock_start(struct smp_call_clock *clock)
{
    const bool is_counter = !without_counter && has_counter();

    if (is_counter != smp_call_clock_is_counter) /* threads of an earlier start may read it */
        smp_call_clock_is_counter = is_counter;
    *clock = (struct smp_call_clock){ .last = read_clocks() };
}

static bool is_near(double tick_ns, double other_ns)
{
    const double most = other_ns / PERCENT;

    return tick_ns > other_ns - most && tick_ns < other_ns + most;
}

/* Since the first read may be wrong, two later reads in a row that agree replace it. */
static void take(struct smp_call_clock *clock, double tick_ns)
{
    if (clock->tick_ns == 0 || is_near(tick_ns, clock->tick_ns) ||
        is_near(tick_ns, clock->dropped_ns)) {
        clock->tick_ns = tick_ns;
        clock->dropped_ns = 0;
    } else {
        clock->dropped_ns = tick_ns;
    }
}

double smp_call_clock_advance(struct smp_call_clock *clock, struct smp_call_moment now)
{
    const int64_t ticks = now.ticks - clock->last.ticks;
    const int64_t ns = now.ns - clock->last.ns;
    const int64_t boot_ns = now.boot_ns - clock->last.boot_ns;
    const bool is_forward = now.ticks > clock->last.ticks && ns > 0;

    if (is_forward && ns < LEAST_NS)
        return clock->tick_ns > 0 ? clock->tick_ns : (double)ns / (double)ticks;
    clock->last = now;
    if (is_forward && boot_ns - ns < SUSPENDED_NS)
        take(clock, (double)ns / (double)ticks);
    if (clock->tick_ns > 0)
        return clock->tick_ns;
    return is_forward && boot_ns > 0 ? (double)boot_ns / (double)ticks : 1;
}

double smp_call_clock_tick_ns(struct smp_call_clock *clock)
{
    return smp_call_clock_is_counter ? smp_call_clock_advance(clock, read_clocks()) : 1;
}

int64_t smp_call_clock_to_ns(int64_t ticks, double tick_ns)
{
    const double ns = (double)ticks * tick_ns;

    if (ticks <= 0)
        return 0;
    return ns < (double)INT64_MAX ? (int64_t)(ns + 0.5) : INT64_MAX;
}

void smp_call_clock_without_counter(bool without)
{
    without_counter = without;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_tick.c - the cost of a tick if no thread runs: the sampler's CPU time per second of
 * sampling at 20 ms, for 1,000 and 10,000 idle threads, with clocks that cost nothing (only the
 * schedule) and with the real clocks of as many parked threads.
 *
 * Time is simulated, so that a minute of sampling takes as long as its work; the work is real. The
 * cost of walks and of reading names in a JVM is not included. The program fails if a limit is
 * exceeded: 3 ms per second for 1,000 threads, 25 ms for 10,000, with real clocks, from the first
 * tick on.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "engine/session/sampler.h"
#include "support/must.h"
#include "support/option_text.h"
#include "support/tree_amounts.h"

enum {
    DEPTH = 50,
    START_S = 10, /* the seconds that count as "from the start" */
    REST_S = 50,
    MIN_STACK_BYTES = 64 * 1024
};

#define MS INT64_C(1000000)
#define INTERVAL_NS (20 * MS)
#define SECOND_NS (1000 * MS)

/* --- parked threads --- */

static struct {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    bool is_over;
    size_t parked;
} park = { .mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER };

static void *stay(void *tid)
{
    *(int32_t *)tid = gettid();
    pthread_mutex_lock(&park.mutex);
    park.parked++;
    while (!park.is_over)
        pthread_cond_wait(&park.changed, &park.mutex);
    pthread_mutex_unlock(&park.mutex);
    return NULL;
}

/* Returns how many threads could be started. */
static size_t start_parked(pthread_t *threads, int32_t *tids, size_t count)
{
    pthread_attr_t attributes;
    size_t started = 0;

    must(pthread_attr_init(&attributes) == 0, "attributes");
    (void)pthread_attr_setstacksize(&attributes, MIN_STACK_BYTES);
    park.is_over = false;
    park.parked = 0;
    while (started < count &&
           pthread_create(&threads[started], &attributes, stay, &tids[started]) == 0)
        started++;
    (void)pthread_attr_destroy(&attributes);
    for (bool all = false; !all; usleep(1000)) {
        pthread_mutex_lock(&park.mutex);
        all = park.parked == started;
        pthread_mutex_unlock(&park.mutex);
    }
    return started;
}

static void end_parked(pthread_t *threads, size_t count)
{
    pthread_mutex_lock(&park.mutex);
    park.is_over = true;
    pthread_cond_broadcast(&park.changed);
    pthread_mutex_unlock(&park.mutex);
    for (size_t i = 0; i < count; i++)
        (void)pthread_join(threads[i], NULL);
}

/* --- a JVM with threads only --- */

struct world {
    int64_t now_ns;
    struct smp_thread *threads;
    size_t count;
    unsigned long walks;
};

static int64_t read_ns(void *self)
{
    return ((struct world *)self)->now_ns;
}

static bool read_nothing(void *self, int32_t tid, int64_t *out)
{
    (void)self;
    (void)tid;
    *out = 1;
    return true;
}

static enum smp_status poll(void *self, uint64_t *cursor, uint64_t *unseen,
                            bool (*started)(void *context, struct smp_thread *thread),
                            void *context)
{
    struct world *world = self;

    (void)unseen;
    while (*cursor < world->count && started(context, &world->threads[*cursor]))
        (*cursor)++;
    return SMP_OK;
}

static void drop(void *self, struct smp_thread *thread)
{
    (void)self;
    (void)thread;
}

static enum smp_status name(void *self, struct smp_thread *thread, void **seen, char *out,
                            size_t size, bool *changed)
{
    (void)self;
    *changed = *seen == NULL;
    *seen = thread;
    if (*changed)
        (void)snprintf(out, size, "http-nio-8080-exec-%" PRIu64, thread->serial);
    return SMP_OK;
}

static void forget(void *self, void *seen)
{
    (void)self;
    (void)seen;
}

static enum smp_status walk(void *self, struct smp_thread *thread, struct smp_sample *sample)
{
    struct world *world = self;

    world->walks++;
    for (size_t i = 0; i < DEPTH; i++)
        sample->frames[i] =
            (struct smp_frame){ .method = 1 + i + (i == 0 ? thread->serial % 7 : 7) };
    sample->count = sample->leaf_count = DEPTH;
    return SMP_OK;
}

static enum smp_status resolve(void *self, uint64_t method, struct smp_method_info *info)
{
    static char text[32];

    (void)self;
    (void)snprintf(text, sizeof(text), "m%" PRIu64, method);
    *info = (struct smp_method_info){ .class_name = "app.Service", .method_name = text };
    return SMP_OK;
}

static void release(void *self, struct smp_method_info *info)
{
    (void)self;
    (void)info;
}

static struct smp_jvm functions(struct world *world)
{
    return (struct smp_jvm){
        .threads = { .poll = poll, .drop = drop, .name = name, .forget = forget, .self = world },
        .walker = { .walk = walk, .self = world },
        .names = { .resolve = resolve, .release = release, .self = world },
    };
}

/* --- measuring --- */

/* Returns the CPU time per second of sampling, in ms. */
static double sample_for(struct world *world, struct smp_sampler *sampler, int64_t seconds)
{
    const int64_t before_ns = smp_clock_own_cpu_ns();

    for (int64_t passed_ns = 0; passed_ns < seconds * SECOND_NS; passed_ns += INTERVAL_NS) {
        world->now_ns += INTERVAL_NS;
        smp_sampler_tick(sampler, world->now_ns, false);
    }
    return (double)(smp_clock_own_cpu_ns() - before_ns) / (double)seconds / (double)MS;
}

struct cost {
    double start_ms; /* CPU time per second, in the first seconds */
    double rest_ms;
};

static struct cost measure(const int32_t *tids, size_t count, bool has_clocks)
{
    struct world world = { .now_ns = SECOND_NS, .count = count };
    const struct smp_clock_fake fake = {
        .ns = read_ns,
        .thread_cpu_ns = has_clocks ? NULL : read_nothing,
        .self = &world,
    };
    struct smp_quota quota;
    struct smp_options options;
    struct smp_log *log = NULL;
    struct smp_sampler *sampler = NULL;
    struct smp_profile *profile = NULL;
    struct cost cost;

    world.threads = calloc(count, sizeof(*world.threads));
    must(world.threads != NULL, "out of memory");
    for (size_t i = 0; i < count; i++) {
        world.threads[i].serial = i + 1;
        atomic_store(&world.threads[i].os_tid, tids[i]);
    }
    smp_clock_set_fake(&fake);
    smp_quota_init(&quota, (size_t)64 << 20);
    option_text_read(&quota, "samplingFrequencyMillis=20", &options);
    must(smp_log_create(&quota, &log) == SMP_OK, "log");
    const struct smp_jvm vm = functions(&world);
    must(smp_sampler_create(&quota, log, &vm, &options, &sampler) == SMP_OK, "sampler");
    smp_sampler_mark(sampler, world.now_ns, 0);
    smp_sampler_tick(sampler, world.now_ns, false);
    cost.start_ms = sample_for(&world, sampler, START_S);
    cost.rest_ms = sample_for(&world, sampler, REST_S);
    must(smp_sampler_finish_interval(sampler, world.now_ns, 0, &profile) == SMP_OK, "finish");
    must(smp_profile_total(profile, SMP_MEASURE_WALL) ==
             (int64_t)count * (START_S + REST_S) * SECOND_NS,
         "not all time was credited");
    must(world.walks < 2 * count, "parked threads were walked again");
    smp_profile_release(profile);
    smp_sampler_destroy(sampler);
    smp_log_destroy(log);
    smp_options_fini(&options);
    smp_clock_set_fake(NULL);
    free(world.threads);
    return cost;
}

static bool show(const char *what, size_t count, struct cost cost, double bar_ms)
{
    const bool is_met = bar_ms <= 0 || (cost.start_ms <= bar_ms && cost.rest_ms <= bar_ms);

    printf("%6zu idle threads, %-14s %7.3f ms/s in the first %d s, %7.3f ms/s after%s\n", count,
           what, cost.start_ms, START_S, cost.rest_ms, is_met ? "" : "   MISSED");
    return is_met;
}

static bool bench(size_t count, double bar_ms)
{
    pthread_t *threads = calloc(count, sizeof(*threads));
    int32_t *tids = calloc(count, sizeof(*tids));
    bool is_met = true;

    must(threads != NULL && tids != NULL, "out of memory");
    for (size_t i = 0; i < count; i++)
        tids[i] = (int32_t)i + 1;
    (void)show("no clocks:", count, measure(tids, count, false), 0);
    const size_t started = start_parked(threads, tids, count);
    if (started < count)
        printf("only %zu of %zu threads could be started\n", started, count);
    is_met = show("real clocks:", started, measure(tids, started, true), bar_ms);
    end_parked(threads, started);
    free(threads);
    free(tids);
    return is_met;
}

int main(void)
{
    const bool thousand = bench(1000, 3);
    const bool ten_thousand = bench(10000, 25);

    return thousand && ten_thousand ? 0 : 1;
}

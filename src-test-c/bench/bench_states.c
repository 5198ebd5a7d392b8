/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_states.c - the cost that states add to a poll: CPU time with and without states, measured
 * in turn; the smallest of many rounds counts.
 *
 *   a thread that has run     its schedstat is read (of real threads), and its time is credited to
 *                             a tree that holds states
 *   a thread that has not     nothing
 *
 * The JVM's words about a waiting thread (wait_word.h) are not in it. The program fails if a poll
 * of a thread that has run takes 0.7 us more, or if a poll of an idle thread reads a file.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "engine/session/sampler.h"
#include "jvm/threads/run_queue.h"
#include "support/must.h"
#include "support/option_text.h"

enum { THREADS = 100, DEPTH = 50, TICKS = 100, ROUNDS = 60, NODES = 1000, CREDITS = 100000 };

#define MS INT64_C(1000000)
#define TICK_NS (20 * MS)
#define MOST_NS 700

/* --- threads whose kernel files are read --- */

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;

static void *wait_at_gate(void *tid)
{
    __atomic_store_n((int32_t *)tid, (int32_t)gettid(), __ATOMIC_RELEASE);
    pthread_mutex_lock(&gate);
    pthread_mutex_unlock(&gate);
    return NULL;
}

static void start_threads(pthread_t threads[THREADS], int32_t tids[THREADS])
{
    pthread_mutex_lock(&gate);
    for (int i = 0; i < THREADS; i++) {
        must(pthread_create(&threads[i], NULL, wait_at_gate, &tids[i]) == 0, "thread");
        while (__atomic_load_n(&tids[i], __ATOMIC_ACQUIRE) == 0)
            usleep(100);
    }
}

static void end_threads(const pthread_t threads[THREADS])
{
    pthread_mutex_unlock(&gate);
    for (int i = 0; i < THREADS; i++)
        (void)pthread_join(threads[i], NULL);
}

/* --- a JVM with threads only --- */

struct world {
    int64_t now_ns;
    bool runs; /* all threads run */
    struct smp_thread threads[THREADS];
    struct smp_run_queue queue;
    unsigned long reads;
};

static int64_t read_ns(void *self)
{
    return ((struct world *)self)->now_ns;
}

static bool read_cpu_ns(void *self, int32_t tid, int64_t *out)
{
    const struct world *world = self;

    (void)tid;
    *out = world->runs ? world->now_ns : 1;
    return true;
}

static bool read_queue(void *self, int32_t tid, int64_t *ns)
{
    struct world *world = self;

    world->reads++;
    return smp_run_queue_read(&world->queue, tid, ns);
}

static enum smp_status poll(void *self, uint64_t *cursor, uint64_t *unseen,
                            bool (*started)(void *context, struct smp_thread *thread),
                            void *context)
{
    struct world *world = self;

    (void)unseen;
    while (*cursor < THREADS && started(context, &world->threads[*cursor]))
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
        (void)snprintf(out, size, "worker");
    return SMP_OK;
}

static void forget(void *self, void *seen)
{
    (void)self;
    (void)seen;
}

static enum smp_status walk(void *self, struct smp_thread *thread, struct smp_sample *sample)
{
    (void)self;
    for (size_t i = 0; i < DEPTH; i++)
        sample->frames[i] = (struct smp_frame){ .method = 1 + i + thread->serial % 7 };
    sample->count = sample->leaf_count = DEPTH;
    return SMP_OK;
}

static enum smp_status resolve(void *self, uint64_t method, struct smp_method_info *info)
{
    static char text[32];

    (void)self;
    (void)snprintf(text, sizeof(text), "m%u", (unsigned)method);
    *info = (struct smp_method_info){ .class_name = "app.Service", .method_name = text };
    return SMP_OK;
}

static void release(void *self, struct smp_method_info *info)
{
    (void)self;
    (void)info;
}

/* --- polls --- */

static double poll_ns(struct smp_sampler *sampler, struct world *world)
{
    const int64_t before_ns = smp_clock_own_cpu_ns();

    for (int i = 0; i < TICKS; i++) {
        world->now_ns += TICK_NS;
        smp_sampler_tick(sampler, world->now_ns, false);
    }
    return (double)(smp_clock_own_cpu_ns() - before_ns) / TICKS / THREADS;
}

static struct smp_sampler *begin(struct world *world, struct smp_quota *quota, struct smp_log *log,
                                 const struct smp_options *options, bool reads_queue)
{
    const struct smp_jvm vm = {
        .threads = { .poll = poll, .drop = drop, .name = name, .forget = forget, .self = world },
        .walker = { .walk = walk, .self = world },
        .names = { .resolve = resolve, .release = release, .self = world },
        .os_threads = { .queued_ns = reads_queue ? read_queue : NULL, .self = world },
    };
    struct smp_sampler *sampler = NULL;

    must(smp_sampler_create(quota, log, &vm, options, &sampler) == SMP_OK, "sampler");
    smp_sampler_mark(sampler, world->now_ns, 0);
    (void)poll_ns(sampler, world);
    return sampler;
}

/* Returns the time that reading the run queue adds to a poll. */
static double compare_polls(struct world *world, bool runs)
{
    const struct smp_clock_fake fake = { .ns = read_ns,
                                         .thread_cpu_ns = read_cpu_ns,
                                         .self = world };
    struct smp_sampler *samplers[2];
    double best_ns[2] = { 1e9, 1e9 };
    struct smp_options options;
    struct smp_log *log = NULL;
    struct smp_quota quota;

    world->runs = runs;
    smp_clock_set_fake(&fake);
    smp_quota_init(&quota, (size_t)64 << 20);
    option_text_read(&quota, "samplingFrequencyMillis=20\noverheadLimitPerMille=1000\n", &options);
    must(smp_log_create(&quota, &log) == SMP_OK, "log");
    for (int with = 0; with < 2; with++)
        samplers[with] = begin(world, &quota, log, &options, with == 1);
    for (int round = 0; round < 2 * ROUNDS; round++) {
        const double ns = poll_ns(samplers[round % 2], world);
        if (ns < best_ns[round % 2])
            best_ns[round % 2] = ns;
    }
    printf("poll of a thread that %s: %.0f ns, with its run queue %.0f ns\n",
           runs ? "has run" : "is idle", best_ns[0], best_ns[1]);
    for (int with = 0; with < 2; with++)
        smp_sampler_destroy(samplers[with]);
    smp_log_destroy(log);
    smp_options_fini(&options);
    smp_clock_set_fake(NULL);
    return best_ns[1] - best_ns[0];
}

/* --- credits --- */

static double credit_ns(struct smp_tree *tree)
{
    const int64_t before_ns = smp_clock_own_cpu_ns();

    for (uint32_t i = 0; i < CREDITS; i++) {
        const uint32_t node = 1 + i * 7919 % NODES;
        smp_tree_credit_wall(tree, node, (enum smp_thread_state)(i % 3), 10);
        smp_tree_credit(tree, node, SMP_MEASURE_SAMPLES, 1);
    }
    return (double)(smp_clock_own_cpu_ns() - before_ns) / CREDITS;
}

/* Half of the nodes have time in three states. */
static double compare_credits(void)
{
    static const uint32_t measures[] = { SMP_SAMPLED_MEASURES,
                                         SMP_SAMPLED_MEASURES | SMP_STATE_MEASURES };
    double best_ns[2] = { 1e9, 1e9 };
    struct smp_tree *trees[2] = { NULL, NULL };

    for (int with = 0; with < 2; with++) {
        must(smp_tree_create(NULL, measures[with], (size_t)1 << 24, &trees[with]) == SMP_OK,
             "tree");
        for (uint32_t i = 0, root = 0, leaf = 0; i < NODES; i++) {
            must(smp_tree_root(trees[with], 0, &root) == SMP_OK, "root");
            must(smp_tree_add(trees[with], root, &(uint32_t){ 1 + i }, 1, &leaf) == SMP_OK, "leaf");
        }
    }
    for (int round = 0; round < 2 * ROUNDS; round++) {
        const double ns = credit_ns(trees[round % 2]);
        if (ns < best_ns[round % 2])
            best_ns[round % 2] = ns;
    }
    printf("credit of time: %.1f ns, with its state %.1f ns\n", best_ns[0], best_ns[1]);
    for (int with = 0; with < 2; with++)
        smp_tree_destroy(trees[with]);
    return best_ns[1] - best_ns[0];
}

int main(void)
{
    static struct world world = { .now_ns = 1000 * MS };
    static int32_t tids[THREADS];
    pthread_t threads[THREADS];
    double more_ns;

    start_threads(threads, tids);
    for (int i = 0; i < THREADS; i++) {
        world.threads[i].serial = (uint64_t)i + 1;
        atomic_store(&world.threads[i].os_tid, tids[i]);
    }
    smp_run_queue_init(&world.queue);
    must(world.queue.is_known, "this kernel has no schedstat");
    more_ns = compare_polls(&world, true) + compare_credits();
    printf("a poll of a thread that has run takes %.0f ns more, at most %d\n", more_ns, MOST_NS);
    world.reads = 0;
    (void)compare_polls(&world, false);
    must(world.reads <= 2 * THREADS, "the run queue of an idle thread was read");
    end_threads(threads);
    smp_run_queue_fini(&world.queue);
    return more_ns <= MOST_NS ? 0 : 1;
}
